"""A raw survey file goes to codes and back under a reviewed schema."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from understudy.data import header, read, write
from understudy.domain import Integer, Number, Schema
from understudy.transforms import Encoder, missing_text, reading_types

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data" / "acs2019" / "national2019.csv"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the acs2019 data set is not beside the checkout")


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ROOT / "tests" / "data" / "acs2019.toml")


@pytest.fixture(scope="module")
def texts() -> pa.Table:
    """Every cell of the file as the text it is."""
    return read(DATA, types=dict.fromkeys(header(DATA).names, pa.string()))


@pytest.fixture(scope="module")
def typed(schema: Schema) -> pa.Table:
    """The file as a run reads it."""
    return read(DATA, types=reading_types(schema))


def test_cells_parsed_by_arrow_and_cells_read_as_text_get_the_same_codes(
    schema: Schema, typed: pa.Table, texts: pa.Table
) -> None:
    encoder = Encoder(schema)
    one, other = encoder.forward(typed), encoder.forward(texts)
    assert all((one[name] == other[name]).all() for name in encoder.domain)


@pytest.mark.parametrize("within", ["uniform", "midpoint"])
def test_missing_cells_and_types_of_every_column_come_back_as_they_were(
    schema: Schema, typed: pa.Table, texts: pa.Table, within: str, tmp_path: Path
) -> None:
    encoder = Encoder(schema)
    codes = encoder.forward(typed)
    back = encoder.reverse(codes, np.random.default_rng(0), within=within)
    assert back.column_names == texts.column_names
    assert back.num_rows == texts.num_rows
    written = {name: missing_text(schema)[name] for name in schema.columns}
    for name, column in schema.columns.items():
        missing = pc.equal(texts[name], written[name] or "\0")
        assert back[name].is_null().equals(missing), name
        numeric = isinstance(column, Integer | Number) or name in ("INDP", "DENSITY")
        assert pa.types.is_string(back[name].type) is not numeric, name
        assert pa.types.is_integer(back[name].type) is (numeric and name not in ("PINCP", "DENSITY")), name
    # Written with the schema's own texts and read again, the same cells are missing and the codes are the same.
    write(back, tmp_path / "back.csv", missing=written)
    again = read(tmp_path / "back.csv", types=reading_types(schema))
    assert header(tmp_path / "back.csv") == header(DATA)
    recoded = encoder.forward(again)
    assert all((recoded[name] == codes[name]).all() for name in encoder.domain)


def test_a_value_that_has_a_code_of_its_own_comes_back_exactly(schema: Schema, texts: pa.Table) -> None:
    encoder = Encoder(schema)
    back = encoder.reverse(encoder.forward(texts))
    for name in ("PUMA", "AGEP", "SEX", "MSP", "INDP", "EDU", "POVPIP"):
        before = texts[name].to_pylist()
        after = [missing_text(schema)[name] if v is None else str(v) for v in back[name].to_pylist()]
        assert before == after, name
    zero = pc.equal(texts["PINCP"], "0.0")
    assert pc.equal(back["PINCP"], 0.0).filter(zero).to_pylist() == [True] * pc.sum(zero).as_py()

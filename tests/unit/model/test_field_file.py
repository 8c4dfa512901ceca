"""A field survives its file; a damaged or hostile file is refused and runs nothing."""

import json
import pickle
import zipfile

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.errors import FileError, ReleaseError
from understudy.marginals import Measurement
from understudy.model import Field, build_tree, estimate
from understudy.model.fit_report import FitReport


@pytest.fixture
def field():
    domain = Domain({"a": 2, "ünï": 3, "c": 2})
    tree = build_tree(domain, [("a", "ünï")])
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(domain.size(c))).reshape(domain.shape(c)) for c in tree.cliques]
    report = FitReport(1.5, float("inf"), 3, 0.1, False, 6, 0.01)
    return Field(tree, tables, 12.5, report)


def test_a_saved_field_comes_back_the_same_and_answers_the_same(field, tmp_path):
    field.save(tmp_path / "x.field")
    back = Field.load(tmp_path / "x.field")
    assert np.array_equal(back.marginal(("c", "a")).counts, field.marginal(("c", "a")).counts)
    assert (back.tree, back.total, back.fit) == (field.tree, field.total, field.fit)
    assert (back.sample(20, seed=1)["ünï"] == field.sample(20, seed=1)["ünï"]).all()
    assert [p.name for p in tmp_path.iterdir()] == ["x.field"]


def test_arrays_can_travel_inside_another_file(field):
    header, arrays = field.to_arrays()
    back = Field.from_arrays(json.loads(json.dumps(header)), arrays)
    assert back.tree == field.tree
    assert all(np.array_equal(a, b) for a, b in zip(back.tables, field.tables, strict=True))


def rewrite(path, change=None, **members):
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    if change is not None:
        header = json.loads(held["field.json"])
        change(header)
        held["field.json"] = json.dumps(header).encode()
    held |= members
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, packed in held.items():
            if packed is not None:
                archive.writestr(name, packed)


def set_(key, value):
    return lambda header: header.__setitem__(key, value)


@pytest.mark.parametrize(
    "change",
    [
        set_("format", "other"),
        set_("version", 99),
        set_("domain", [["a", 2], ["a", 3]]),
        set_("domain", [["a", -2], ["ünï", 3], ["c", 2]]),
        set_("domain", [["a", 10**9], ["ünï", 10**9], ["c", 2]]),
        set_("domain", "nonsense"),
        set_("domain", None),
        set_("cliques", [["a", "ünï"], ["ünï", "c"]]),
        set_("cliques", [["z"]]),
        set_("cliques", []),
        set_("parent", [0, 0]),
        set_("parent", [-1, 1.5]),
        set_("parent", [-1]),
        set_("order", ["a"]),
        set_("total", -3),
        set_("total", "many"),
        set_("total", None),
        set_("fit", {"loss": [1]}),
        set_("fit", {"loss": 1}),
        set_("fit", 7),
        lambda header: header.pop("parent"),
        lambda header: header.clear(),
    ],
)
def test_a_file_with_a_changed_header_is_refused(field, tmp_path, change):
    path = tmp_path / "x.field"
    field.save(path)
    rewrite(path, change)
    with pytest.raises(ReleaseError):
        Field.load(path)


@pytest.mark.parametrize(
    "member",
    [None, b"", b"\0" * 8, b"\xff" * 48, b"\0" * 10_000_000, np.array([-1.0, *[1.0] * 5]).tobytes()],
)
def test_a_file_with_a_changed_table_is_refused(field, tmp_path, member):
    path = tmp_path / "x.field"
    field.save(path)
    largest = max(range(len(field.tables)), key=lambda i: field.tables[i].size)
    rewrite(path, **{f"clique_{largest}": member})
    with pytest.raises(ReleaseError):
        Field.load(path)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04junk", pickle.dumps(Bomb()), b"[" * 100_000])
def test_a_file_that_is_no_field_is_refused(tmp_path, content):
    path = tmp_path / "x.field"
    path.write_bytes(content)
    with pytest.raises(ReleaseError):
        Field.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("field.json", content)
    with pytest.raises(ReleaseError):
        Field.load(path)


def test_a_flipped_byte_anywhere_never_crashes_the_reader(field, tmp_path):
    path = tmp_path / "x.field"
    field.save(path)
    original = path.read_bytes()
    for at in range(0, len(original), 3):
        path.write_bytes(original[:at] + bytes([original[at] ^ 0x55]) + original[at + 1 :])
        try:
            Field.load(path)
        except ReleaseError:
            continue


def test_files_that_cannot_be_opened_are_the_operators_business(field, tmp_path):
    with pytest.raises(FileError):
        Field.load(tmp_path / "absent.field")
    with pytest.raises(FileError):
        field.save(tmp_path / "no such folder" / "x.field")
    with pytest.raises(FileError):
        Field.load(tmp_path)


def test_a_field_that_was_fitted_in_another_order_of_columns_survives_its_file_to_the_last_bit(tmp_path):
    domain = Domain({"large": 7, "small": 2, "middle": 4})
    random = np.random.default_rng(1)
    measured = [Measurement(tuple(domain), random.dirichlet(np.ones(56)) * 1_000, 3.0)]
    field = estimate(domain, measured)
    assert all(table.flags.c_contiguous for table in field.tables)
    field.save(tmp_path / "field")
    loaded = Field.load(tmp_path / "field")
    for clique in (("large",), ("small", "middle"), ("middle", "large")):
        np.testing.assert_array_equal(field.marginal(clique).counts, loaded.marginal(clique).counts)

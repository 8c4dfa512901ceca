"""The bugs that reading records could have, planted one by one; each is caught."""

from __future__ import annotations

import codecs

import ingestion_checks as checks
import numpy as np
import pandas
import pyarrow as pa
import pytest
from planting import Suite, run

from understudy.data import Table, count_values
from understudy.data.counting import kept_records, units
from understudy.data.counting.kept_records import KeptRecords
from understudy.data.engines import table
from understudy.data.files import frame_columns, frames, raw_file
from understudy.data.files.text import header_line, seen_dialect
from understudy.domain.cell_text import text_of
from understudy.domain.columns.differences import difference_codec
from understudy.pipeline import synthesizer
from understudy.pipeline.sources import in_memory, streamed
from understudy.pipeline.sources.in_memory import InMemory
from understudy.transforms.encode import Encoder

SUITE = Suite(checks)
caught_by = SUITE.caught_by


@pytest.mark.parametrize("check", SUITE.checks, ids=lambda check: check.__name__)
def test_the_product_passes(check, tmp_path):
    run(check, tmp_path)


# -- units -----------------------------------------------------------------------------------------------


@caught_by(checks.check_discovery_is_bounded_by_unit)
def discovery_in_memory_not_bounded_by_unit(patch):
    patch.setattr(InMemory, "count_values", lambda self, column, schema: count_values(self.table[column]))


@caught_by(checks.check_discovery_is_bounded_by_unit)
def streamed_discovery_not_bounded_by_unit(patch):
    patch.setattr(streamed, "KeptRecords", lambda most, memory, **more: KeptRecords(10**6, memory, **more))


@caught_by(checks.check_one_unit_moves_counts_by_no_more_than_it_may)
def records_coded_without_a_bound(patch):
    def unbounded(self, schema):
        encoder = Encoder(schema)
        return Table(encoder.domain, encoder.forward(self.table.select(list(encoder.domain))))

    patch.setattr(InMemory, "encode", unbounded)


@caught_by(checks.check_one_unit_moves_counts_by_no_more_than_it_may)
def one_record_too_many_of_every_unit(patch):
    bound = table.bound_records
    patch.setattr(table, "bound_records", lambda units, contents, most: bound(units, contents, most + 1))


@caught_by(checks.check_the_order_of_reading_decides_nothing)
def the_first_records_of_a_unit_kept(patch):
    def first(units, contents, most):
        seen = {}
        numbers = [seen.update({unit: seen.get(unit, 0) + 1}) or seen[unit] for unit in units.to_pylist()]
        return np.array(numbers) <= most

    patch.setattr(table, "bound_records", first)


@caught_by(checks.check_the_order_of_reading_decides_nothing)
def records_of_a_unit_numbered_by_arrival_alone(patch):
    patch.setattr(units.unit_order, "number", lambda starts, rows, *rest: np.argsort(rows) + 1)


@caught_by(checks.check_the_order_of_reading_decides_nothing)
def streamed_records_of_a_unit_kept_as_they_arrive(patch):
    patch.setattr(
        kept_records,
        "least",
        lambda owners, numbers, contents, first, times, most: (
            np.unique(numbers, return_index=True)[1],
            np.ones(len(np.unique(numbers)), np.int64),
        ),
    )


# -- one record, anywhere --------------------------------------------------------------------------------


@caught_by(checks.check_an_odd_record_moves_one_cell_and_nothing_else)
def odd_records_named_in_the_certificate(patch):
    open_ = synthesizer.open_records
    warn = synthesizer.warnings
    seen = []

    def opened(data, reading):
        found = open_(data, reading)
        seen.append(found.table["b"].null_count)
        return found

    patch.setattr(synthesizer, "open_records", opened)
    patch.setattr(
        synthesizer, "warnings", lambda *given, **more: warn(*given, **more) + ["misfits"] * seen[-1]
    )


@caught_by(checks.check_an_odd_record_moves_one_cell_and_nothing_else)
def codes_ranked_by_what_was_seen(patch):
    """A column's codes counted from its smallest value: one record moves all others."""
    forward = Encoder.forward

    def ranked(self, table):
        return {
            name: np.unique(codes, return_inverse=True)[1].astype(codes.dtype)
            for name, codes in forward(self, table).items()
        }

    patch.setattr(Encoder, "forward", ranked)


@caught_by(checks.check_an_odd_cell_of_a_frame_recodes_no_other)
def objects_read_by_column(patch):
    """As it was: what Arrow refuses for one cell is text for all."""

    def by_column(series):
        try:
            return pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            texts = [None if pandas.isna(value) is True else str(value) for value in series]
            return pa.array(texts, pa.string())

    patch.setattr(frames, "of_series", by_column)


@caught_by(checks.check_an_odd_cell_of_a_frame_recodes_no_other)
def objects_read_by_their_common_type(patch):
    def common(cells):
        listed = list(cells)
        kinds = {type(cell) for cell in listed}
        return pa.array(
            [str(cell) if len(kinds) > 1 else text_of(cell) for cell in listed], pa.large_string()
        )

    patch.setattr(frame_columns, "of_cells", common)


@caught_by(checks.check_an_odd_cell_of_a_file_recodes_no_other)
def transforms_without_reading_types(patch):
    """As it was: a transform reads columns that the schema does not describe, so types are told from all cells."""
    types = in_memory.reading_types

    def untyped(schema, transforms=()):
        return {} if transforms else types(schema)

    def read(data, *, types=None, rest=None, dialect=None, names=None, needed=None):
        return read_file(data, types=types or None, rest=rest if types else None, dialect=dialect)

    read_file = in_memory.read
    patch.setattr(in_memory, "reading_types", untyped)
    patch.setattr(in_memory, "read", read)


@caught_by(checks.check_an_odd_cell_of_a_file_recodes_no_other)
def types_told_from_the_cells(patch):
    read_file = in_memory.read

    def read(data, *, types=None, rest=None, dialect=None, names=None, needed=None):
        return read_file(data, dialect=dialect)

    patch.setattr(in_memory, "read", read)


@caught_by(checks.check_no_record_changes_how_a_text_file_is_read)
def the_delimiter_told_from_records(patch):
    """As it was: the delimiter that splits the first fifty lines alike."""
    patch.setattr(
        header_line, "_delimiter", lambda raw, text, whole, known: seen_dialect._delimiter(text, raw, known)
    )


@caught_by(checks.check_no_byte_of_a_cell_stops_a_run_under_a_declared_encoding)
def bytes_decoded_strictly(patch):
    strict = codecs.getincrementaldecoder
    patch.setattr(
        raw_file.codecs, "getincrementaldecoder", lambda name: lambda errors="strict": strict(name)("strict")
    )


@caught_by(checks.check_a_difference_is_that_of_one_record)
def differences_from_the_least_start_of_all_records(patch):
    read = difference_codec._numbers

    def shifted(column, array):
        numbers, missing, promised = read(column, array)
        least = numbers[~missing].min() - column.extent[0]
        return numbers - least if column.every else numbers, missing, promised

    patch.setattr(difference_codec, "_numbers", shifted)


@caught_by(checks.check_a_difference_is_that_of_one_record)
def steps_that_reach_as_far_as_records_do(patch):
    units = difference_codec.DifferenceCodec._units

    def stretched(self, start, value):
        found = units(self, start, value)
        return found * self.column.most // max(1, found.max())

    patch.setattr(difference_codec.DifferenceCodec, "_units", stretched)


@caught_by(checks.check_discovery_raises_for_no_value)
def values_counted_as_python_objects(patch):
    """As it was: Arrow's values as Python's, which has no date beyond the year 9999."""

    def counted(values):
        found = values.value_counts()
        pairs = zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
        return {value: count for value, count in pairs if value is not None}

    patch.setattr(in_memory, "count_values", counted)


@pytest.mark.parametrize("name", SUITE.bugs)
def test_a_planted_bug_is_caught(name, tmp_path, monkeypatch):
    SUITE.check_caught(name, tmp_path, monkeypatch)


def test_bugs_are_planted_and_no_check_is_idle():
    assert len(SUITE.bugs) >= 12
    assert not SUITE.idle()

"""One column in several files: the type it has in all of them, decided by the files' types and never by a value.

A cast that fails for one value must not be tried: what then came of the others would depend on that value. So
values are cast only where no value can fail, and else come as text, each by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from understudy.data.counting.open_values import text_column
from understudy.domain.arrow_values import is_text, plain

_VIEWS = {pa.string_view(): pa.large_string()}


def declared(name: str, kinds: Sequence[pa.DataType]) -> pa.DataType:
    """What the column is taken for: the type of all files, a wider number, or else text."""
    distinct = list(dict.fromkeys(kinds))
    if len(distinct) == 1:
        return distinct[0]
    distinct = list(dict.fromkeys(_stored(kind) for kind in distinct))
    try:
        schemas = [pa.schema([(name, kind)]) for kind in distinct]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return pa.string()


def carried(name: str, kinds: Sequence[pa.DataType]) -> pa.DataType:
    """In which type its values come: the declared one where every value of every file has it, or else text."""
    wanted = declared(name, kinds)
    return wanted if all(always_fits(kind, wanted) for kind in kinds) else pa.string()


def as_type(array: pa.Array, wanted: pa.DataType | None) -> pa.Array:
    """The values in a type that `carried` chose, texts in whatever layout they have."""
    kind = _stored(array.type)
    if array.type in _VIEWS:
        array = array.cast(kind)
    if wanted is None or kind == _stored(wanted) or (is_text(kind) and is_text(_stored(wanted))):
        return array
    return text_column(array) if is_text(_stored(wanted)) else plain(array).cast(wanted)


def _stored(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return _VIEWS.get(kind, kind)


def always_fits(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a cast between these types keeps every value there is."""
    kind, wanted = _stored(kind), _stored(wanted)
    if kind == wanted or pa.types.is_null(kind) or (is_text(kind) and is_text(wanted)):
        return True
    if pa.types.is_integer(kind) and pa.types.is_integer(wanted):
        negative, widest = pa.types.is_signed_integer(kind), pa.types.is_signed_integer(wanted)
        room = wanted.bit_width - (0 if negative == widest else 1)
        return room >= kind.bit_width and (widest or not negative)
    if pa.types.is_integer(kind) and wanted == pa.float64():
        return bool(kind.bit_width <= 32)
    return bool(
        pa.types.is_floating(kind) and pa.types.is_floating(wanted) and kind.bit_width <= wanted.bit_width
    )

"""The release file: a JSON header and plain arrays, and nothing that can run.

    UNDERSTUDY RELEASE 1\\n
    8 bytes    length of the header, little endian
    header     JSON: {"sections": {...}, "arrays": [{"name", "dtype", "shape"}, ...]}
    arrays     raw little-endian numbers, one after the other, in the header's order
    32 bytes   SHA-256 of all that stands before

The last array of a signed release is its signature: 64 bytes, of the SHA-256 of all that stands before them.

Nothing is compressed and every size is checked against the file's own, so a hostile file cannot ask for more
memory than it has bytes. Every number of the header is finite, and every whole one fits in 64 bits.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from understudy.data.files.atomic import whole_file
from understudy.errors import FileError, ReleaseError, SignatureError
from understudy.pipeline import signature

MAGIC = b"UNDERSTUDY RELEASE 1\n"
DIGEST = 32
SIGNATURE = "signature"
MOST_HEADER = 1 << 26
DTYPES = ("<f8", "<i8", "<u8", "<i4", "<u4", "<u2", "|u1", "|b1")

Array = npt.NDArray[Any]


class Content(NamedTuple):
    """What a file holds: sections of JSON, and arrays by name."""

    sections: Mapping[str, Any]
    arrays: Mapping[str, Array]
    signed: bool = False


def write(
    path: str | os.PathLike[str], content: Content, *, key: str | os.PathLike[str] | None = None
) -> None:
    """Write the file whole or not at all: a reader never sees half of it. With a private `key`, it is signed."""
    arrays = {name: _plain(name, array) for name, array in content.arrays.items()}
    placed = dict(arrays)
    if key is not None:
        signature.check_key(key)
        placed[SIGNATURE] = np.zeros(signature.BYTES, np.uint8)
    header = json.dumps(
        {
            "sections": content.sections,
            "arrays": [{"name": n, "dtype": a.dtype.str, "shape": list(a.shape)} for n, a in placed.items()],
        },
        allow_nan=False,
    ).encode()
    digest = hashlib.sha256()
    with whole_file(path) as file:
        for part in (MAGIC, len(header).to_bytes(8, "little"), header, *map(_bytes, arrays.values())):
            digest.update(part)
            file.write(part)
        if key is not None:
            signed = signature.sign(digest.digest(), key)
            digest.update(signed)
            file.write(signed)
        file.write(digest.digest())


def read(path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> Content:
    """The file's content, once its every size and its digest have been checked; and with a `key`, its signature."""
    target = Path(path)
    try:
        data = target.read_bytes()
    except OSError as error:
        raise FileError(
            f"cannot read the release {str(target)!r}: {error.strerror}.", hint="check the path."
        ) from None
    start = len(MAGIC) + 8
    if not data.startswith(MAGIC) or len(data) < start + DIGEST:
        raise _refuse(target, "it is not a release")
    if hashlib.sha256(data[:-DIGEST]).digest() != data[-DIGEST:]:
        raise _refuse(target, "its digest does not match: it was cut short or changed")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > min(MOST_HEADER, len(data) - start - DIGEST):
        raise _refuse(target, "its header is longer than the file")
    try:
        header = json.loads(
            data[start : start + length], parse_constant=_none, parse_float=_finite, parse_int=_bounded
        )
        arrays, end = _arrays(header["arrays"], data, start + length)
        sections = header["sections"]
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, AttributeError):
        raise _refuse(target, "its header is damaged") from None
    if end != len(data) - DIGEST or not isinstance(sections, dict):
        raise _refuse(target, "its arrays do not fill the file")
    signed = _signature(arrays)
    if key is not None:
        if signed is None:
            raise SignatureError(
                f"{str(target)!r} is not signed.", hint="ask who made it to sign it: understudy sign"
            )
        # What the signature stands for is all that stands before it, and it stands last.
        signature.check(hashlib.sha256(data[: -DIGEST - len(signed)]).digest(), signed, key)
    return Content(sections, {n: a for n, a in arrays.items() if n != SIGNATURE}, signed is not None)


def _signature(arrays: Mapping[str, Array]) -> bytes | None:
    """The signature, where the last array is one."""
    found = arrays.get(SIGNATURE)
    if found is None or list(arrays)[-1] != SIGNATURE:
        return None
    return bytes(found.tobytes()) if found.dtype == np.uint8 and found.shape == (signature.BYTES,) else None


def _arrays(described: list[dict[str, Any]], data: bytes, offset: int) -> tuple[dict[str, Array], int]:
    arrays: dict[str, Array] = {}
    for entry in described:
        name, dtype, shape = entry["name"], entry["dtype"], entry["shape"]
        if dtype not in DTYPES or not isinstance(name, str) or name in arrays:
            raise ValueError
        if any(not isinstance(side, int) or isinstance(side, bool) or side < 0 for side in shape):
            raise ValueError
        if len(shape) > 32:
            raise ValueError
        count = math.prod(shape)
        end = offset + count * np.dtype(dtype).itemsize
        if end > len(data) - DIGEST:
            raise ValueError
        arrays[name] = np.frombuffer(data, dtype=dtype, count=count, offset=offset).reshape(shape)
        offset = end
    return arrays, offset


def _none(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _none(text)


def _bounded(text: str) -> int:
    number = int(text) if len(text) <= 20 else 2**63
    if not -(2**63) <= number < 2**63:
        raise ValueError("a whole number has more than 64 bits")
    return number


def _plain(name: str, array: Array) -> Array:
    little = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if little.dtype.str not in DTYPES:
        raise TypeError(f"array {name!r} of type {array.dtype} has no place in a release")
    return little


def _bytes(array: Array) -> bytes:
    return array.tobytes()


def _refuse(path: Path, why: str) -> ReleaseError:
    return ReleaseError(
        f"{str(path)!r} is refused: {why}.", hint="ask for the release anew from who made it."
    )

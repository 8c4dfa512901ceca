"""How a text file is written: what separates its fields, its encoding, its quotes and the ends of its lines.

It is public: a person says it in the schema, or it stands in the header line and the byte order mark.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from understudy.errors import SchemaError

QUOTING = ("needed", "texts", "all", "none")
MOST_SKIPPED = 1_000  # lines before the header
LINE_ENDS = ("\n", "\r\n", "\r")
_WIDE = ("utf-16", "utf-32")  # whose characters are not told by a byte each where they are ASCII
# All of ASCII, and what shifts the encodings that have states: text whose other cells one cell could change.
_PROBE = bytes(range(128)) + b"+AGE- ~{VPND~} \x1b$B0l\x1b(B \\u0041 xn--a-ecp"


@dataclass(frozen=True)
class Dialect:
    """How a text file is written; None where nothing is said.

    delimiter   what separates the fields: one character
    encoding    a name that Python knows: "latin-1", "cp1252"; "utf-8-sig" is UTF-8 after a byte order mark
    quoting     which cells are in quotes: "needed" (those that must be), "texts" (all but numbers), "all", or
                "none" (a quote is a character like any other)
    line_end    what ends a line
    quote       what stands around a cell in quotes; doubled, it stands for itself
    escape      what stands before a character that is meant as such, as in \\"; usually nothing does
    skip        how many lines stand before the header line, and belong to no record
    """

    delimiter: str | None = None
    encoding: str | None = None
    quoting: str | None = None
    line_end: str | None = None
    quote: str | None = None
    escape: str | None = None
    skip: int | None = None

    def __post_init__(self) -> None:
        for name, usual in (
            ("delimiter", '",", ";", "|" or a tab'),
            ("quote", "\" or '"),
            ("escape", '"\\\\"'),
        ):
            sign = getattr(self, name)
            if sign is not None and not _is_sign(sign):
                raise SchemaError(f"{name} {sign!r} is not one plain character.", hint=f"write {usual}.")
        signs = [self.delimiter or ",", self.quote or '"', self.escape or ""]
        if len(set(signs)) < len(signs):
            raise SchemaError(
                "delimiter, quote and escape are not three different characters.", hint="say each of them."
            )
        if self.quoting is not None and self.quoting not in QUOTING:
            raise SchemaError(
                f"quoting {self.quoting!r} is not known.", hint=f"write one of {', '.join(QUOTING)}."
            )
        if self.line_end is not None and self.line_end not in LINE_ENDS:
            raise SchemaError(f"line_end {self.line_end!r} is not known.", hint=r'write "\n" or "\r\n".')
        if self.skip is not None and (type(self.skip) is not int or not 1 <= self.skip <= MOST_SKIPPED):
            raise SchemaError(
                f"skip {self.skip!r} is no number of lines.", hint=f"write one from 1 to {MOST_SKIPPED:,}."
            )
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _known_encoding(self.encoding))

    def over(self, other: Dialect) -> Dialect:
        """This dialect, and where it says nothing the other."""
        return Dialect(**(other.to_dict() | self.to_dict()))

    def but_for(self, usual: Dialect) -> Dialect:
        """What this dialect says that is not usual."""
        known = usual.to_dict()
        return Dialect(**{name: said for name, said in self.to_dict().items() if known.get(name) != said})

    def to_dict(self) -> dict[str, Any]:
        """What is said, by name."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value is not None}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Dialect:
        """The dialect that `to_dict` told of."""
        return cls(**{field.name: said.get(field.name) for field in fields(cls)})


def _is_sign(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\r\n\0"


def _known_encoding(name: object) -> str:
    """The encoding, once it is one in which a cell reads the same whatever the others hold."""
    if not isinstance(name, str) or not _keeps_cells_apart(name):
        raise SchemaError(
            f"encoding {name!r} is not known.",
            hint='write "utf-8", "latin-1", "cp1252", "utf-16" or another name that Python knows.',
        )
    return name


@cache
def _keeps_cells_apart(name: str) -> bool:
    """Whether no byte of a cell, however wrong, changes what is read after the cell's end."""
    try:
        if codecs.lookup(name).name.startswith(_WIDE):
            return True
        ends = (bytes((byte, end)) + b"aa" for byte in range(128, 256) for end in b',;\t"\r\n')
        alone = all(text.decode(name, "replace").endswith(text[1:].decode()) for text in ends)
        return alone and _PROBE.decode(name) == _PROBE.decode("ascii")
    except (LookupError, ValueError):
        return False


USUAL = Dialect(",", "utf-8", "needed", "\n", '"')

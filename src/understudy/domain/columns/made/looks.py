"""What a draft takes for a column that is better made up than learned, and why it says so.

It looks at the records, as drafts do, and copies none of them: of a pattern only the letters and signs that every
single cell has in that place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from understudy.domain.columns.made.key_pattern import KeyPattern
from understudy.domain.columns.parts.sight import ALL_UNLIKE, AMOUNT, MOMENT, SAYS_IDENTIFIER, Sight
from understudy.domain.formats.number_format import NumberFormat

FEW_RECORDS = 20  # of which nothing is said
MOST_ALIKE = 0.95  # of the cells must be different to look like keys
ROOM = 2  # keys for each record that a pattern should have, as the noisy number of records is not known
TEXT_LENGTH = 30  # characters on average, and
TEXT_WORDS = 4  # words: sentences
_LONG_NUMBER = 6  # digits, the same number in every cell: a key rather than an amount

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# What a text of such a form is, and what it is called.
_FORMED = {
    "email": ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
    "url": ("web addresses", re.compile(r"(?:https?|ftp)://\S+", re.IGNORECASE)),
    "ip": ("addresses of machines", re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}", re.ASCII)),
}
_POSTCODES = {
    "en_GB": re.compile(r"[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}", re.IGNORECASE),
    "en_CA": re.compile(r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]", re.IGNORECASE),
    "nl_NL": re.compile(r"[0-9]{4} ?[A-Z]{2}", re.IGNORECASE),
}
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_WIDE = re.compile(r"[0-9]{19,}")  # digits of a name, too many for a number
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Where something is: as many different numbers as records, and all of one length, yet no keys.
_COORDINATE = re.compile(
    r"\b(lat|latitude|lon|lng|long|longitude|easting|northing|[xy]? ?coord(inate)?s?|[xy] pos(ition)?)\b"
)
_PEOPLE = "(full|patient|customer|client|person|employee|contact|student|member|guest|owner)"
# The words of a column's name, joined by spaces -> what it holds.
_NAMED = {
    "email": r"(.* )?(e ?mail|mail|courriel|correo|correo electronico)( address| addr| adresse)?",
    "ssn": r"(.* )?(ssn|social security( number| no)?)",
    "phone": r"(.* )?(phone|telephone|tel|mobile|cell|fax|telefon|telefono|telefone|handy|mobil|movil|celular"
    r"|cellulare|rufnummer|telefonnummer|mobilnummer|telefoon)( no| nr| number| nummer)?",
    "first_name": r"(.* )?(first ?name|forename|given ?name|fname|vorname|prenom|voornaam)",
    "last_name": r"(.* )?(last ?name|surname|family ?name|lname|nachname|familienname|apellidos?|cognome|achternaam"
    r"|nom de famille)",
    "name": rf"({_PEOPLE} )?name",
    "address": r"(?!.*\b(ip|mac|web)\b)(.* )?(address|addr|street|adresse|anschrift|strasse|rue|direccion"
    r"|indirizzo|endereco)( line)?( [0-9])?",
    "postcode": r"(.* )?(post ?code|postal ?code|zip|zip ?code|postleitzahl|plz|code postal|codigo postal|cap|cep)",
}

KEYS = (
    "{}, so fresh keys are made up, and no cell is read. If it says whose record it is, write"
    ' unit = "{}" in [table] too; if its values have a meaning, describe them instead.'
)
FAKES = "{}, so plausible ones are made up, and no cell is read. Needs understudy[fake]; or drop the column."


@dataclass(frozen=True)
class Seen:
    """The fields that describe a made-up column, and the remark for the person who reviews them."""

    fields: dict[str, Any]
    comment: str


def key_of(sight: Sight) -> Seen | None:
    """What fresh keys would look like this column, where it looks like keys: enough of them for every record."""
    if not _is_text(sight) and not pa.types.is_integer(sight.kind):
        return None
    if sight.numbers and not sight.identifying_name and _COORDINATE.search(_words(sight)):
        return None
    filled = sight.rows - sight.nulls
    alike = filled < FEW_RECORDS or len(sight.texts) <= MOST_ALIKE * filled
    if alike and not sight.identifying:
        return None
    found = _key_of(sight, alike)
    pattern = None if found is None else found.fields.get("pattern")
    if found is None or pattern is None or KeyPattern.read(pattern).size >= ROOM * sight.rows:
        return found
    if alike:
        return None  # codes that many records share, whatever the name says
    return replace(found, fields={"pattern": _roomy(pattern, sight.rows)})


def _key_of(sight: Sight, alike: bool) -> Seen | None:

    def seen(why: str, **fields: Any) -> Seen:
        return Seen(fields, KEYS.format(why, sight.name))

    nearly_all = ALL_UNLIKE if not alike else SAYS_IDENTIFIER
    if all(_UUID.fullmatch(text) for text in sight.texts):
        return seen("The values are UUIDs", kind="uuid")
    if not sight.identifying_name and sight.mostly(lambda text: MOMENT.fullmatch(text) is not None):
        return None
    if all(_WHOLE.fullmatch(text) for text in sight.texts):
        return _numbered(sight, nearly_all, seen)
    wide = all(_WIDE.fullmatch(text) for text in sight.texts)
    if sight.two_numbers or (not wide and sight.mostly(lambda text: AMOUNT.fullmatch(text) is not None)):
        return None
    number = sight.form("number")
    if (sight.numbers and not wide) or (number is not None and NumberFormat(number.spec).decimals):
        return None  # 2.846E-05, 51.512957N
    pattern = shape(sight.texts)
    return None if pattern is None else seen(f"{nearly_all}, and all have one form", pattern=pattern)


def _roomy(pattern: str, records: int) -> str:
    """The pattern with as many digits more as a sample of so many records needs not to run out of keys."""
    while KeyPattern.read(pattern).size < ROOM * records and (last := pattern.rfind(r"\d")) >= 0:
        count = re.match(r"\{(\d+)\}", pattern[last + 2 :])
        rest = pattern[last + 2 + (count.end() if count else 0) :]
        pattern = rf"{pattern[:last]}\d{{{int(count[1]) + 1 if count else 2}}}{rest}"
    return pattern


def _numbered(sight: Sight, why: str, seen: Callable[..., Seen]) -> Seen | None:
    """Keys that are whole numbers, of as many digits where all have as many; amounts are left alone."""
    width = len(sight.texts[0])
    even = all(len(text) == width and text[0] != "-" for text in sight.texts)
    if any(text[0] == "0" and len(text) > 1 for text in sight.texts):  # a text: a number would lose the zeros
        long = width >= _LONG_NUMBER or (sight.identifying_name and width >= 3)
        return seen(why, pattern=rf"\d{{{width}}}") if even and long else None
    if even and width > 3 and _is_text(sight) and named(sight) == "phone":
        return seen(why, pattern=rf"[1-9]\d{{{width - 1}}}")
    numbers = sorted(map(int, sight.texts))
    counted = numbers[0] in (0, 1) and numbers[-1] < 2 * len(numbers)
    if not (sight.identifying_name or counted or (even and width >= _LONG_NUMBER)):
        return None
    return seen(why, **({"start": 10 ** (width - 1)} if even and width >= 4 else {}))


def shape(texts: list[str]) -> str | None:
    """The pattern of texts that all have one length and, place by place, one sort of character; else None."""
    width = len(texts[0])
    if not 3 <= width <= 64 or any(len(text) != width for text in texts):
        return None
    parts = [_sort({text[place] for text in texts}) for place in range(width)]
    if None in parts or sum((part is not None and len(part) > 2) or part == r"\d" for part in parts) < 3:
        return None
    found, run = "", 1
    for place, part in enumerate(parts):
        if place + 1 < width and parts[place + 1] == part:
            run += 1
            continue
        found += f"{part}{{{run}}}" if run > 1 else str(part)
        run = 1
    return found


def _sort(characters: set[str]) -> str | None:
    """How a pattern writes the characters of one place: digits always as such, a letter only if all share it."""
    joined = "".join(sorted(characters))
    if not joined.isascii():
        return None
    if joined.isdigit():
        return r"\d"
    if len(joined) == 1:
        return joined if joined.isalnum() or joined in " -_/:" else "\\" + joined
    for found, allowed in (
        ("[A-Z]", r"[A-Z]+"),
        ("[a-z]", r"[a-z]+"),
        ("[0-9a-f]", r"[0-9a-f]+"),
        ("[0-9A-Z]", r"[0-9A-Z]+"),
        ("[0-9a-z]", r"[0-9a-z]+"),
        ("[0-9A-Za-z]", r"[0-9A-Za-z]+"),
    ):
        if re.fullmatch(allowed, joined):
            return found
    return None


def fake_of(sight: Sight) -> Seen | None:
    """Which plausible texts would look like this column, where it holds what people are known by."""
    if not _is_text(sight) or sight.few or sight.rows - sight.nulls < FEW_RECORDS:
        return None
    for formed, (called, form) in _FORMED.items():
        if sight.mostly(lambda text: form.fullmatch(text) is not None):  # noqa: B023 - called at once
            return Seen({"kind": formed}, FAKES.format(f"The values are {called}"))
    kind = named(sight)
    if sight.form("date") or sight.form("time"):
        return None
    if kind == "postcode":
        return _postcodes(sight)
    if kind is not None and (kind in ("phone", "ssn") or not sight.numbers):
        return Seen({"kind": kind}, FAKES.format("The name says that it tells people apart"))
    length = sum(map(len, sight.texts)) / len(sight.texts)
    spaces = sum(text.count(" ") for text in sight.texts) / len(sight.texts)
    if (
        len(sight.texts) > (sight.rows - sight.nulls) / 2
        and length > TEXT_LENGTH
        and spaces + 1 >= TEXT_WORDS
    ):
        return Seen({"kind": "text"}, FAKES.format("The values are sentences"))
    return None


def _postcodes(sight: Sight) -> Seen | None:
    """Postal codes with letters in them, too many to be learned, by the country that writes them so."""
    for locale, form in _POSTCODES.items():
        if sight.mostly_rare and sight.mostly(lambda text: form.fullmatch(text.strip()) is not None):  # noqa: B023
            return Seen(
                {"kind": "postcode", "locale": locale}, FAKES.format("They are too many to be learned")
            )
    return None


def named(sight: Sight) -> str | None:
    """What the column's name says that it holds."""
    words = _words(sight)
    return next((kind for kind, pattern in _NAMED.items() if re.fullmatch(pattern, words)), None)


def _words(sight: Sight) -> str:
    """The words of the column's name, without accents."""
    plain = unicodedata.normalize("NFKD", sight.name.replace("ß", "ss"))
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return " ".join(_WORDS.findall(bare)).lower()


def _is_text(sight: Sight) -> bool:
    return bool(pa.types.is_string(sight.kind) or pa.types.is_large_string(sight.kind))

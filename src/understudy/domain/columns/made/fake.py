"""Plausible texts by Faker: names, addresses, telephone numbers that no record had a part in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from understudy.domain.columns.made.looks import fake_of
from understudy.domain.columns.made.made import Made, Place
from understudy.domain.columns.parts.fields import refuse, text
from understudy.domain.columns.parts.sight import Sight
from understudy.errors import OperatorError, SchemaError

# What a person asks for -> what Faker calls it. E-mail addresses are of domains that nobody can own.
KINDS = {
    "name": "name",
    "first_name": "first_name",
    "last_name": "last_name",
    "email": "ascii_safe_email",
    "user_name": "user_name",
    "phone": "phone_number",
    "address": "address",
    "street": "street_address",
    "city": "city",
    "postcode": "postcode",
    "country": "country",
    "company": "company",
    "job": "job",
    "ssn": "ssn",
    "iban": "iban",
    "license_plate": "license_plate",
    "url": "url",
    "ip": "ipv4",
    "text": "sentence",
}
_LOCALE = re.compile(r"[A-Za-z]{2,3}(_[A-Za-z0-9]{2,8}){0,2}")
MOST_DIFFERENT = 10_000  # texts that are made for one stretch of a sample; then they repeat, as names do


@dataclass(frozen=True)
class Fake(Made):
    """Texts that look real, and may repeat: no cell of the column is ever read. Needs `pip install understudy[fake]`.

    More parameters: those of every `Column`.

    Parameters:
        kind: what they are, such as "name", "email" or "city"; must be given.
        locale: their language, such as "de_DE"; "en_US" by default.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type = "fake"

    kind: str = ""  # must be given
    locale: str = "en_US"

    def _check(self) -> None:
        super()._check()
        if not _LOCALE.fullmatch(text("locale", self.locale)):
            refuse("locale", self.locale, "is no locale.", 'write one such as "en_US" or "de_DE".')
        if self.kind not in KINDS:
            rule = "is not known." if self.kind else "is left out."
            refuse("kind", self.kind, rule, f"write one of {', '.join(KINDS)}.")

    def ready(self) -> None:
        self._faker()

    def _faker(self) -> Any:
        try:
            from faker import Faker
        except ImportError:
            raise OperatorError(
                f"a column of type 'fake' (kind {self.kind!r}) needs the package Faker.",
                hint='pip install "understudy[fake]", or make the column type = "id", or drop it.',
            ) from None
        try:
            made = Faker(self.locale)
            getattr(made, KINDS[self.kind])
        except AttributeError:
            raise SchemaError(
                f"locale {self.locale!r} is not known to Faker, or has no {self.kind!r}.",
                hint='write one such as "en_US", "de_DE" or "pt_BR".',
            ) from None
        return made

    def generated(self, rows: int, place: Place) -> pa.Array:
        random = place.random()
        faker = self._faker()
        faker.seed_instance(int(random.integers(2**63)))
        make = getattr(faker, KINDS[self.kind])
        made = pa.array([make().replace("\n", ", ") for _ in range(min(rows, MOST_DIFFERENT))], pa.string())
        return made if len(made) == rows else made.take(pa.array(random.integers(len(made), size=rows)))

    @classmethod
    def drafted(cls, sight: Sight) -> Fake | None:
        seen = fake_of(sight)
        return None if seen is None else cls(**seen.fields, comment=seen.comment)

"""What a report shows of a release: all of it is in the release's own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from understudy.domain import Clique, Domain, Schema
from understudy.marginals import Marginal, Measurement
from understudy.transforms.compress import Compression


class Released(Protocol):
    """A release, as its report sees it."""

    @property
    def schema(self) -> Schema: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def certificate(self) -> Mapping[str, Any]: ...
    @property
    def field(self) -> Any: ...
    @property
    def compression(self) -> Compression: ...
    @property
    def measurements(self) -> Sequence[Measurement]: ...
    @property
    def cliques(self) -> Sequence[Clique]: ...
    @property
    def rows(self) -> int: ...
    @property
    def private(self) -> bool: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def spent(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def fit_claim(self) -> str: ...
    @property
    def errors(self) -> Any: ...

    def verify(self) -> Any: ...
    def expected_error(self) -> Any: ...
    def marginal(self, columns: Sequence[str] | str) -> Marginal: ...


def warnings_by_column(release: Released) -> tuple[dict[str, list[str]], list[str]]:
    """What was said of each column, and what of the whole table."""
    by_column: dict[str, list[str]] = {}
    rest = []
    for text in map(str, release.certificate.get("warnings", [])):
        name = next((n for n in release.schema.columns if text.startswith(f"column {n!r}: ")), None)
        if name is None:
            rest.append(text)
        else:
            by_column.setdefault(name, []).append(text.removeprefix(f"column {name!r}: "))
    return by_column, rest

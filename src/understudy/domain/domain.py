"""How many codes each column has, and the algebra of cliques (sets of columns)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from understudy.errors import DomainError

Clique = tuple[str, ...]


class CodeLayout(NamedTuple):
    """What a column's codes stand for, as far as counts alone need to know: public, like their number.

    ordered  how many of the first codes follow each other as their values do; 0 where there is no order
    slots    how many of the last codes are slots: for values outside, and for missing ones
    starts   where each of the ordered codes begins, if they stand for numbers
    open_end whether nobody said how far the ordered codes reach, so that the last of them may well be empty
    """

    ordered: int = 0
    slots: int = 0
    starts: tuple[float, ...] = ()
    open_end: bool = False


class Domain(Mapping[str, int]):
    """The columns of a coded table, in order, with the number of codes of each.

    Sizes are Python integers, so the size of a whole table (10^208 cells, say) is exact.
    A clique is a tuple of column names. Its order fixes the axes of arrays indexed by it; where two
    cliques are compared as sets, order does not matter.

    Parameters:
        sizes: a column -> how many codes it has, at least 1.
        layouts: of some columns, how their codes lie; of none by default.

    Raises:
        DomainError: a name is empty or there twice, or a size no whole number above 0.
    """

    __slots__ = ("_layouts", "_places", "_sizes")

    def __init__(
        self,
        sizes: Mapping[str, int] | Iterable[tuple[str, int]],
        layouts: Mapping[str, CodeLayout] | None = None,
    ) -> None:
        pairs = list(sizes.items()) if isinstance(sizes, Mapping) else list(sizes)
        checked: dict[str, int] = {}
        for name, size in pairs:
            if not isinstance(name, str) or not name:
                raise DomainError(f"column name {name!r} is not a non-empty string.")
            if name in checked:
                raise DomainError(f"column {name!r} appears twice.", hint="give every column its own name.")
            try:
                whole = int(size)
            except (TypeError, ValueError, OverflowError):
                whole = 0
            if isinstance(size, bool) or whole != size or whole < 1:
                raise DomainError(f"column {name!r}: size {size!r} is not a whole number of at least 1.")
            checked[name] = whole
        self._sizes = checked
        self._places: dict[str, int] = {}  # of columns, once somebody asks for an order
        self._layouts = {name: layout for name, layout in (layouts or {}).items() if name in checked}
        for name, layout in self._layouts.items():
            ordered, slots = layout[:2]
            if not (min(ordered, slots) >= 0 and ordered + slots <= checked[name] and slots < checked[name]):
                raise DomainError(f"column {name!r}: {layout} does not fit its {checked[name]} codes.")

    def __getitem__(self, name: str) -> int:
        try:
            return self._sizes[name]
        except KeyError:
            shown = ", ".join(map(repr, list(self._sizes)[:10])) + (", ..." if len(self._sizes) > 10 else "")
            raise DomainError(
                f"column {name!r} is not in the domain.", hint=f"its columns are {shown}."
            ) from None

    def get(self, name: str, default: Any = None) -> Any:
        """The size of a column, or `default` when there is none of that name."""
        return self._sizes.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._sizes

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __eq__(self, other: object) -> bool:
        """Equal when the names, their order and their sizes are."""
        if not isinstance(other, Domain):
            return NotImplemented
        return list(self._sizes.items()) == list(other._sizes.items())

    def __hash__(self) -> int:
        return hash(tuple(self._sizes.items()))

    def __repr__(self) -> str:
        return f"Domain({self._sizes!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Domain, (self._sizes, self._layouts)

    @property
    def names(self) -> Clique:
        """The columns, in order."""
        return tuple(self._sizes)

    def layout(self, name: str) -> CodeLayout:
        """How a column's codes lie; without order and slots where nobody said so."""
        return self._layouts.get(name, CodeLayout())

    def clique(self, names: Iterable[str] | str) -> Clique:
        """`names` as a tuple, once every one is known and none stands twice."""
        clique = tuple(_listed(names))
        for name in clique:
            self[name]
        if len(set(clique)) != len(clique):
            raise DomainError(f"clique {clique!r} names a column twice.")
        return clique

    def order(self, names: Iterable[str]) -> Clique:
        """The same clique in the domain's own order: the form to compare and to sort by."""
        if not self._places:
            self._places = {name: place for place, name in enumerate(self._sizes)}
        return tuple(sorted(self.clique(names), key=self._places.__getitem__))

    def shape(self, names: Iterable[str] | None = None) -> tuple[int, ...]:
        """The sizes of `names` (all columns when left out), in the order given."""
        sizes = self._sizes
        listed = sizes if names is None else _listed(names)
        try:
            return tuple([sizes[name] for name in listed])  # a list is made in less time than a generator
        except KeyError as unknown:
            self[unknown.args[0]]  # raises, and says so
            raise

    def size(self, names: Iterable[str] | None = None) -> int:
        """The exact number of cells of a marginal over `names` (of the whole table when left out)."""
        return math.prod(self.shape(names))

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of `names` alone, in the order given."""
        return Domain({name: self[name] for name in self.clique(names)}, self._layouts)

    def resize(self, sizes: Mapping[str, int]) -> Domain:
        """The same columns in the same order, some with another number of codes, and no layout."""
        for name in sizes:
            self[name]
        same = {name: layout for name, layout in self._layouts.items() if name not in sizes}
        return Domain({name: sizes.get(name, size) for name, size in self._sizes.items()}, same)


def _listed(names: Iterable[str]) -> Iterable[str]:
    """Names to go through: a single text is one name, not its letters."""
    return (names,) if isinstance(names, str) else names

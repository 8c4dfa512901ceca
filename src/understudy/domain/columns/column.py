"""What every column type says of itself: the one place where the house asks what a column is.

A column is described by a person (fields, checked), coded (`codec`), shown to people (`labels`), learned privately
where something is left out (`steps` and what follows it), completed from records where nothing is protected
(`completed`), and drafted (`of_arrow`, `drafted`). A type that leaves out a part it needs is refused when it is
registered: see `registry.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, Literal, NoReturn, Self, get_args

import numpy.typing as npt
import pyarrow as pa

from understudy.domain.columns.parts.codec import Codec
from understudy.domain.columns.parts.density import Smooth
from understudy.domain.columns.parts.fields import flag, missing_rule, refuse, text
from understudy.domain.columns.parts.noisy_counts import NoisyCounts
from understudy.domain.columns.parts.sight import Sight
from understudy.domain.domain import CodeLayout
from understudy.domain.schema_toml import clean_comment
from understudy.errors import SizeError

# A marginal over one column is an array this long at most: eight megabytes of counts.
MOST_CODES = 1_000_000

Outside = Literal["clip", "other", "missing"]
Step = Literal["types", "values", "bounds", "bins"]  # of learning, in their order

# What a type must have of its own to take part in a step.
NEEDED: dict[Step, tuple[str, ...]] = {
    "types": ("decided",),
    "values": ("with_values",),
    "bounds": ("grid", "with_bounds"),
    "bins": ("fine", "with_bins"),
}


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """One column as a person describes it: what every type of column has. Use one of the types, such as `Integer`.

    Codes are laid out as: the values in order, then the other slot, then the missing slot.
    A cell that breaks a promise never raises: see `null_code`.

    Parameters:
        ordered: whether codes have an order; yes by default, for all types but Category.
        missing: the texts that mean missing, or True (empty cells do), or False (a promise that none occurs). Left
            out, there is a slot for missing values all the same: whether any occur must not be looked up.
        outside: what becomes of a value that the schema does not allow: the nearest bound ("clip"), one slot for all
            of them ("other"), or the slot of missing values ("missing"). Left out: "clip" where values have bounds,
            or where missing values are ruled out; else "missing".
        description: a text for readers, which goes with a release.
        comment: what stands above the column in the schema file.

    Raises:
        SchemaError: a field cannot be used; the message says which, and what would do.
    """

    type: ClassVar[str]
    bounded: ClassVar[bool] = True  # whether "the nearest value" has a meaning
    modelled: ClassVar[bool] = True  # whether it has codes; else it is made up (see `made/made.py`)
    learns: ClassVar[tuple[Step, ...]] = ()  # the steps that a column of this type may take part in
    unread: ClassVar[str] = (
        "Its cells may be written in another form than the schema says."  # see `misfit_cause`
    )

    ordered: bool = True
    missing: bool | tuple[str, ...] | None = None
    outside: Outside | None = None
    description: str = ""
    comment: str = ""

    def __post_init__(self) -> None:
        flag("ordered", self.ordered)
        text("description", self.description)
        self._set("comment", clean_comment(text("comment", self.comment)))
        self._set("missing", missing_rule(self.missing))
        if self.outside is not None and self.outside not in get_args(Outside):
            refuse("outside", self.outside, "is not a rule.", 'write "clip", "other" or "missing".')
        if self.outside == "clip" and not self.bounded:
            refuse(
                "outside", "clip", f"needs bounds, and a {self.type} has none.", 'write "other" or "missing".'
            )
        if self.outside == "missing" and self.missing is False:
            refuse("outside", "missing", "has no slot when missing = false.", "drop one of the two.")
        self._check()
        if not self.unlearned and self.count > MOST_CODES:
            raise SizeError(
                f"{self.type}: {self.count} codes; a column may have {MOST_CODES} at most.",
                hint="ask for fewer: coarser bins, a coarser `every`, or a shorter list.",
            )

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _but(self, **changed: Any) -> Self:
        return replace(self, **changed)

    def _check(self) -> None:  # noqa: B027 - a type whose fields cannot contradict each other has nothing to check
        """Refuse fields that contradict each other; put the rest in their plain form."""

    @property
    def unlearned(self) -> tuple[str, ...]:
        """The fields that were left out and would have to be learned, privately, from the records."""
        return ()

    @property
    @abstractmethod
    def count(self) -> int:
        """How many codes stand for values; only once nothing is `unlearned`."""

    @property
    def rule(self) -> Outside:
        """What becomes of values outside: `outside`, or its default."""
        if self.outside is not None:
            return self.outside
        return "clip" if self.bounded or self.missing is False else "missing"

    @property
    def other_code(self) -> int | None:
        """The slot of values outside, if the column has one."""
        return self.count if self.rule == "other" else None

    @property
    def missing_code(self) -> int | None:
        """The slot of missing values, if the column has one."""
        return None if self.missing is False else self.count + (self.rule == "other")

    @property
    def size(self) -> int:
        """How many codes the column has, slots included."""
        return self.count + (self.rule == "other") + (self.missing is not False)

    @property
    def null_code(self) -> int:
        """Where a missing or unreadable value goes: the missing slot, or the other, or the first value.

        The last is for a cell that breaks the promise of a column without slots. To leave its record out instead
        would change every other column, and by who broke the promise; to raise would tell that someone did.
        """
        for code in (self.missing_code, self.other_code):
            if code is not None:
                return code
        return 0

    @property
    def outside_code(self) -> int | None:
        """Where a value outside goes; None when it is clipped instead, or goes where a missing one does."""
        return {"clip": None, "other": self.other_code, "missing": self.missing_code}[self.rule]

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """The texts that mean missing."""
        return self.missing if isinstance(self.missing, tuple) else ()

    def fields(self) -> dict[str, Any]:
        """What a schema file says of this column: its type, then whatever is not the default."""
        said: dict[str, Any] = {"type": self.type}
        inherited = [field.name for field in fields(Column)]
        for field in sorted(fields(self), key=lambda field: field.name in inherited):
            value = getattr(self, field.name)
            if (
                field.init
                and field.name != "comment"
                and field.default is not MISSING
                and value != field.default
            ):
                said[field.name] = list(value) if isinstance(value, tuple) else value
        return said

    # --- codes, and what they mean to people ---------------------------------------------------------------

    @abstractmethod
    def codec(self) -> Codec[Any]:
        """Values to codes and back; only once nothing is `unlearned`."""

    @abstractmethod
    def value_labels(self) -> list[str]:
        """A short text for each code that stands for values, in order."""

    def labels(self) -> list[str]:
        """A short text for each code: values, then special values, then the slots for other and missing."""
        slots = {"(other)": self.other_code, "(missing)": self.missing_code}
        return self.value_labels() + [text for text, code in slots.items() if code is not None]

    @property
    def ranges(self) -> int:
        """How many of the first codes stand for values in their order: no special values and no slots."""
        return self.count

    @property
    def layout(self) -> CodeLayout:
        """How the codes lie: the ordered ones first, the slots last."""
        slots = self.size - self.count
        return CodeLayout(self.ranges, slots, self._starts()) if self.ordered else CodeLayout(0, slots)

    def _starts(self) -> tuple[float, ...]:
        """Where each of `ranges` begins, if they stand for numbers."""
        return ()

    # --- how values are compared, in conditions and constraints ----------------------------------------------

    @property
    def compared_as(self) -> str:
        """What its values are to a comparison: "number", "moment", "time", "boolean" or "text"."""
        return "text"

    def plain_values(self, array: pa.Array) -> pa.Array:
        """The values of a whole column in the plain grammar (see `domain.grammar`), whatever form its cells have."""
        return array

    def written(self, values: pa.Array) -> pa.Array:
        """Values of the plain grammar in the form that the column's cells have."""
        return values

    def plain_text(self, text: str) -> str:
        """A text of the form that the column's cells have, as the plain grammar has it; any other as it is."""
        return text

    @property
    def words(self) -> tuple[str, ...] | None:
        """For each code that stands for a value, its text, where values are compared as texts and all are listed."""
        return None

    @property
    def decimals(self) -> int | None:
        """How many decimals its numbers have at most; None where that is not known, or they are no numbers."""
        return None

    def spans(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        """For each code that stands for values, the least and the greatest, as numbers; None where nobody can tell.

        Moments are in microseconds since 1970, or since midnight.
        """
        return None

    @property
    def misfit_cause(self) -> str:
        """The likely cause where most cells do not fit, and the way out: by the description alone, for a warning."""
        return self.unread

    # --- what is left out, learned privately ---------------------------------------------------------------

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of learning that will complete this column."""
        return self.learns if self.unlearned else ()

    def with_values(self, found: tuple[Any, ...]) -> Column:
        """The column with the values that were found often enough to be named."""
        self._lacks("with_values")

    def grid(self, *, instants: bool = False) -> Self:
        """The column on a public grid that is coarse and reaches far, to find its bounds on.

        `instants` is whether moments are known to have a time zone. Bounds between which nothing can lie are refused.
        """
        self._lacks("grid")

    def with_bounds(self, grid: Self, counts: NoisyCounts) -> Self:
        """The column with bounds around what was found on its `grid`."""
        self._lacks("with_bounds")

    def fine(self, coarse: tuple[Self, NoisyCounts] | None) -> Self:
        """The column cut into many cells; `coarse` is its grid and what was found there, where it was asked for."""
        self._lacks("fine")

    def with_bins(self, counts: NoisyCounts) -> Self:
        """The `fine` column with cells joined until each holds enough of what was found."""
        self._lacks("with_bins")

    def with_density(self, fine: Self, counts: NoisyCounts, smooth: Smooth) -> Self:
        """The column with what its `fine` cells likely hold, where it can make use of it."""
        return self

    def _lacks(self, part: str) -> NoReturn:
        raise NotImplementedError(f"columns of type {self.type!r} have no {part!r}")

    # --- read from records, where nothing is protected -----------------------------------------------------

    def completed(self, array: pa.Array) -> Column:
        """The column with nothing left out, by the values of one plain array (see `domain.arrow_values`)."""
        self._lacks("completed")

    @classmethod
    def of_arrow(cls, kind: pa.DataType) -> Column | None:
        """The column that values of this Arrow type are by their type alone, with all else to be learned."""
        return None

    @classmethod
    def drafted(cls, sight: Sight) -> Column | None:
        """The column as its records suggest it to a person, or None where they look like another type's."""
        return None

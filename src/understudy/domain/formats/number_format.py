"""Numbers by example: "1,234.50", "1.234,5 €", "(1,234)", "12.5%", "00000", "12,34,567", "1.50E-05"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.domain.formats.cell_format import CellFormat, joined
from understudy.errors import SchemaError

MOST_DECIMALS = 15
BLANKS = " \u00a0\u202f\u2009"  # a plain blank, and those that typesetters put between thousands
GROUPS = ",.'\u2019_" + BLANKS  # what may stand between thousands
PAIRS = ",,"  # stands for commas that separate digits by twos before the last three, as in India
_BODY = re.compile(r"[0-9].*[0-9#]|[0-9]", re.DOTALL)
_EXPONENT = re.compile(r"(?<=\d)(?P<letter>[eE])(?P<sign>[+-]?)(?P<digits>\d{1,3})(?!\d)", re.ASCII)
_MINUS = "\u2212-"  # a real minus, then the hyphen, which must stand last between square brackets


class NumberFormat(CellFormat):
    """Numbers in the form of one example.

    The example says what stands between thousands, the decimal mark and how many decimals are written (`#`: only
    where it is not zero), what stands before and after the digits, where the minus goes (or that negative numbers are
    in parentheses, or others have a plus), and, by leading zeros, how many digits there are at least. A number is
    read with or without separators and signs of currency; a comma or a point that stands in the wrong place makes
    it no number. Pairs of digits before the last three (12,34,567) are separated as in India; with an exponent
    (1.50E-05) the decimals are those before it, and numbers have no smallest step.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec
        body = _BODY.search(spec)
        if body is None or "\n" in spec or "\r" in spec:
            raise self._refused("is no example of a number.", 'write one, such as "1,234.50" or "00000".')
        self.exponent = _EXPONENT.search(body.group())
        digits = body.group()[: self.exponent.start()] if self.exponent else body.group()
        before, after = spec[: body.start()], spec[body.end() :]
        self.pairs = False  # whether digits before the last three are separated by twos
        self.positive = ""  # what stands before a number that is not negative: a plus, or nothing
        self.negative, self.before, self.after = self._signs(before, after)
        self.group, mark, self.fixed, self.optional, self.width = self._digits(digits)
        self.mark = mark or (
            "," if self.group == "." else "."
        )  # also for a number that needs decimals all the same
        if self.decimals > MOST_DECIMALS:
            raise self._refused("has too many decimals.", f"write {MOST_DECIMALS} at most.")
        if self.exponent and (
            self.group or self.optional or self.width or self.exponent.end() < len(body.group())
        ):
            raise self._refused("has an exponent and more.", 'write it as "1.50E-05".')

    def _refused(self, rule: str, way_out: str) -> SchemaError:
        return SchemaError(f"format {self.spec!r} {rule}", hint=way_out)

    @property
    def decimals(self) -> int:
        """The most decimals that are written."""
        return self.fixed + self.optional

    @property
    def whole(self) -> bool:
        """Whether it writes whole numbers alone."""
        return self.decimals == 0 and self.exponent is None

    @property
    def step(self) -> float | None:
        """The least that two numbers differ by as they are written; None where that depends on their size."""
        return None if self.exponent else 10.0**-self.decimals

    # --- the example ---------------------------------------------------------------------------------------

    def _signs(self, before: str, after: str) -> tuple[str, str, str]:
        """How a negative number is written ("()", or "-" and its place), and what stands around any number."""
        if before.startswith("(") and after.endswith(")"):
            negative, before, after = "()", before[1:], after[:-1]
        elif before[:1] in (*_MINUS, "+"):
            self.positive = "+" if before[0] == "+" else ""
            negative, before = f"{before[0].replace('+', '-')} first", before[1:]
        elif before[-1:] in (*_MINUS,) and not before[-2:-1].isalnum():
            negative, before = f"{before[-1]} inside", before[:-1]
        elif after[-1:] in (*_MINUS,):
            negative, after = f"{after[-1]} last", after[:-1]
        else:
            negative = "- first"
        if set("()+") & {*before, *after}:
            raise self._refused(
                "has a parenthesis or a plus that says nothing.",
                'write negative numbers as "(1,234)" or "-1,234", and a plus before positive ones first.',
            )
        return negative, before, after

    def _digits(self, body: str) -> tuple[str, str, int, int, int]:
        """What separates thousands, the decimal mark, the decimals written always and sometimes, and the width."""
        plain = body.rstrip("#")
        optional = len(body) - len(plain)
        marks = [char for char in plain if not "0" <= char <= "9"]
        if any(char not in GROUPS for char in marks):
            raise self._refused(
                "has something else between its digits.",
                "separate thousands by a comma, point, blank or apostrophe.",
            )
        mark = self._mark(plain, marks, optional)
        whole, _, fraction = plain.rpartition(mark) if mark else (plain, "", "")
        groups = {*marks} - {mark}
        if (mark and mark in whole) or len(groups) > 1 or (optional and not mark):
            raise self._refused("has separators that contradict each other.", 'write it as "1,234.50".')
        group = groups.pop() if groups else ""
        parts = whole.split(group) if group else [whole]
        self.pairs = len(parts) > 2 and len(parts[-1]) == 3 and {len(part) for part in parts[1:-1]} == {2}
        thousands = 1 <= len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
        if group and not thousands and not (self.pairs and 1 <= len(parts[0]) <= 2):
            raise self._refused("does not separate thousands.", "put three digits after each separator.")
        width = len(whole) if not group and len(whole) > 1 and whole[0] == "0" else 0
        return group, mark, len(fraction), optional, width

    def _mark(self, plain: str, marks: list[str], optional: int) -> str:
        """The decimal mark, if there is one."""
        if not marks or (last := marks[-1]) not in ".,":
            return ""
        whole, _, fraction = plain.rpartition(last)
        if len({*marks}) > 1:
            return last if marks.count(last) == 1 else ""
        if len(marks) > 1:
            return ""
        if self.exponent or optional or len(fraction) != 3 or len(whole) > 3 or whole[0] == "0":
            return last
        if last == ".":
            raise self._refused(
                "may mean thousands or three decimals.",
                'write "1.234.567" for thousands, "0.000" for decimals.',
            )
        return ""

    # --- texts to numbers ----------------------------------------------------------------------------------

    @property
    def pattern(self) -> str:
        """The regular expression of its texts."""
        blank = f"[{BLANKS}\t]*"
        sign = f"[+{_MINUS}]?"
        alike = next(
            (marks for marks in (BLANKS, "'\u2019") if self.group and self.group in marks), self.group
        )
        group = f"[{re.escape(alike)}]" if alike else ""
        whole = rf"\d{{1,3}}(?:{group}\d{{3}})+|\d+" if self.group else r"\d+"
        if self.pairs:
            whole = rf"\d{{1,2}}(?:{group}\d{{2}})*{group}\d{{3}}|\d+"
        mark = re.escape(self.mark)
        digits = rf"(?:(?P<whole>{whole})(?:{mark}(?P<fraction>\d*))?|{mark}(?P<alone>\d+))"
        digits += r"(?P<power>(?:[eE][+-]?\d{1,3})?)" if self.exponent else ""
        before = _affix(self.before)
        after = _affix(self.after)
        return (
            rf"^(?P<open>\(?){blank}(?P<first>{sign}){blank}{before}{blank}(?P<inside>{sign}){blank}"
            rf"{digits}{blank}{after}{blank}(?P<last>{sign}){blank}(?P<close>\)?)$"
        )

    def reads_type(self, kind: pa.DataType) -> bool:
        return bool(
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_boolean(kind)
        )

    def read(self, texts: pa.Array) -> pa.Array:
        """The plain text of each number, with a point and without separators."""
        found = pc.extract_regex(texts, pattern=self.pattern)
        part = {field.name: pc.struct_field(found, field.name) for field in found.type}
        whole = pc.replace_substring_regex(part["whole"], r"[^0-9]", "")
        fraction = joined(part["fraction"], part["alone"])
        digits = pc.if_else(pc.equal(whole, ""), "0", whole)
        digits = pc.if_else(pc.equal(fraction, ""), digits, joined(digits, fraction, between="."))
        signs = joined(part["open"], part["first"], part["inside"], part["last"])
        negative = pc.match_substring_regex(signs, rf"[({_MINUS}]")
        once = pc.less_equal(pc.utf8_length(signs), 1)
        closed = pc.equal(pc.equal(part["open"], "("), pc.equal(part["close"], ")"))
        signed = joined(pc.if_else(negative, "-", ""), digits, part.get("power", ""))
        return pc.if_else(pc.and_(once, closed), signed, None)

    # --- numbers to texts ----------------------------------------------------------------------------------

    def write(self, values: pa.Array) -> pa.Array:
        missing = values.is_null()
        numbers: np.ndarray[Any, Any] = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
        texts = pa.array(self._plain(numbers), pa.string())
        if self.pairs:
            texts = _in_pairs(texts)
        if self.optional:
            texts = self._without_zeros(texts)
        if (self.group or ",", self.mark) != (",", "."):
            for mark, other in ((",", "\x00"), (".", self.mark), ("\x00", self.group)):
                texts = pc.replace_substring(texts, mark, other)
        texts = self._around(texts, numbers < 0)
        return pc.if_else(missing, None, texts)

    def _plain(self, numbers: np.ndarray[Any, Any]) -> Iterable[str]:
        """The digits of each number, with commas between thousands and a point: more decimals where it needs them."""
        comma = "," if self.group else ""
        if self.exponent:
            return [_powered(number, self.decimals, self.exponent) for number in np.abs(numbers).tolist()]
        if numbers.dtype.kind != "f":
            zeros = "." + "0" * self.decimals if self.decimals else ""
            form = f"{{:0{self.width}d}}{zeros}" if self.width else f"{{:{comma}d}}{zeros}"
            return [form.format(number) for number in np.abs(numbers).tolist()]
        width = self.width + (self.decimals + 1 if self.decimals else 0) if self.width else ""
        form = f"{{:{'0' if self.width else ''}{width}{comma}.{self.decimals}f}}"
        sizes = np.abs(numbers)
        found = [form.format(number) for number in sizes.tolist()]
        finer = np.flatnonzero(np.round(sizes, self.decimals) != sizes)
        for place in finer.tolist():
            found[place] = f"{Decimal(repr(float(sizes[place]))):{comma}f}"
        return found

    def _without_zeros(self, texts: pa.Array) -> pa.Array:
        """The texts without the decimals that are zero and need not be written, and without a mark that ends them."""
        for _ in range(self.optional):
            texts = pc.replace_substring_regex(texts, rf"(\.\d{{{self.fixed}}}\d*)0$", r"\1")
        return pc.replace_substring_regex(texts, r"\.$", "")

    def _around(self, texts: pa.Array, negative: np.ndarray[Any, Any]) -> pa.Array:
        """The texts with what stands before and after them, and their signs."""
        minus = pa.array(negative)
        if self.negative == "()":
            pieces = [pc.if_else(minus, "(", ""), self.before, texts, self.after, pc.if_else(minus, ")", "")]
        else:
            sign, place = pc.if_else(minus, self.negative[0], self.positive), self.negative[2:]
            pieces = {
                "first": [sign, self.before, texts, self.after],
                "inside": [self.before, sign, texts, self.after],
                "last": [self.before, texts, self.after, sign],
            }[place]
        return joined(*pieces).cast(pa.string())


def _in_pairs(texts: pa.Array) -> pa.Array:
    """The texts with their digits before the last three separated by twos."""
    found = []
    for text in texts.to_pylist():
        whole, mark, fraction = text.partition(".")
        digits = whole.replace(",", "")
        head, tail = digits[:-3], digits[-3:]
        pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
        found.append(",".join([*pairs, tail]) + mark + fraction)
    return pa.array(found, pa.string())


def _powered(number: float, decimals: int, like: re.Match[str]) -> str:
    """A number with an exponent that is written as in an example."""
    mantissa, _, power = f"{number:.{decimals}e}".partition("e")
    size = str(abs(int(power))).zfill(len(like["digits"]))
    sign = "-" if int(power) < 0 else "+" if like["sign"] else ""
    return f"{mantissa}{like['letter']}{sign}{size}"


def _affix(text: str) -> str:
    """What may stand before or after a number, with or without blanks."""
    bare = text.strip(BLANKS + "\t")
    return f"(?:{re.escape(bare)})?" if bare else ""

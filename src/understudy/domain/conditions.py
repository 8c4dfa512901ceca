"""Conditions in values, as a person writes them: `sex = 'F' and age >= 65`, read into a small tree.

    condition   comparison, or conditions with not, and, or, in this order, and parentheses
    comparison  age < 15      admitted <= discharged      city in ('Boston', 'Salem')
                15 <= age < 65      age between 15 and 64      city not in ('Boston')
                income is missing      income is not missing
    operators   =  !=  <  <=  >  >=                     (also == and <>)
    a column    its name; in double quotes where that is no single word: "first name"
    a value     a number, true, false, a text in single quotes ('it''s'); dates and times with or without quotes

What a condition means on records and on codes is in `condition_truth.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn

from understudy.errors import ParameterError

Value = str | int | float | bool
Operator = Literal["=", "!=", "<", "<=", ">", ">="]
MOST_DIGITS = 400  # of a number: more than any float has
MOST_DEPTH = 50  # of parentheses and nots inside each other

_WORDS = ("and", "or", "not", "in", "is", "missing", "null", "between", "true", "false")
_SPELLINGS: dict[str, Operator] = {"==": "=", "<>": "!="}
_FLIPPED: dict[Operator, Operator] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TOKEN = re.compile(  # "++": else every character of a text is remembered, two hundred bytes each
    r"""\s*(?:
    (?P<moment>\d{4}-\d\d-\d\d(?:[T\ ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
        |\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)
  | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | '(?P<text>(?:[^']++|'')*)'
  | "(?P<quoted>(?:[^"]++|"")*)"
  | (?P<mark><=|>=|<>|!=|==|[=<>(),])
  | (?P<word>[^\W\d][\w.]*)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Reference:
    """Another column, where a comparison might have a value."""

    column: str

    def __str__(self) -> str:
        return column_text(self.column)


@dataclass(frozen=True)
class Compares:
    """A column beside a value, or beside another column."""

    column: str
    operator: Operator
    value: Value | Reference

    def __str__(self) -> str:
        return f"{column_text(self.column)} {self.operator} {value_text(self.value)}"


@dataclass(frozen=True)
class Membership:
    """A column whose value is one of a list."""

    column: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{column_text(self.column)} in ({', '.join(map(value_text, self.values))})"


@dataclass(frozen=True)
class IsMissing:
    """A column that holds no value."""

    column: str

    def __str__(self) -> str:
        return f"{column_text(self.column)} is missing"


@dataclass(frozen=True)
class Not:
    """What a condition rules out."""

    part: Condition

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True)
class And:
    """All of some conditions."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, And | Or) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Or:
    """One of some conditions at least."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


Leaf = Compares | Membership | IsMissing
Condition = Leaf | Not | And | Or


def parse(text: str) -> Condition:
    """The condition that a text says; its `str` says the same again.

    Raises:
        ParameterError: the text cannot be read; the message says where.
    """
    if not isinstance(text, str):
        raise ParameterError(f"condition {text!r} is not text.", hint='write it in quotes: "age < 15".')
    return _Parser(text).condition()


def leaves(condition: Condition) -> Iterator[Leaf]:
    """Every comparison of a condition, from left to right."""
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from leaves(part)
    elif isinstance(condition, Not):
        yield from leaves(condition.part)
    else:
        yield condition


def columns_of(condition: Condition) -> tuple[str, ...]:
    """The columns that a condition looks at, each once, in the order in which it names them."""
    found: dict[str, None] = {}
    for leaf in leaves(condition):
        found[leaf.column] = None
        if isinstance(leaf, Compares) and isinstance(leaf.value, Reference):
            found[leaf.value.column] = None
    return tuple(found)


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """Conditions that must all be true for the whole to be: one where it is no `and`."""
    if isinstance(condition, And):
        return tuple(piece for part in condition.parts for piece in conjuncts(part))
    return (condition,)


def column_text(name: str) -> str:
    """A column's name as a condition writes it."""
    plain = re.fullmatch(r"[^\W\d][\w.]*", name) and name.lower() not in _WORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def value_text(value: Value | Reference) -> str:
    """A value as a condition writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


class _Token(NamedTuple):
    kind: str  # "column", "value", "mark", "word" (one of the grammar's own) or "end"
    value: Any
    place: int


def _tokens(text: str) -> Iterator[_Token]:
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            at = place + len(text[place:]) - len(text[place:].lstrip())
            raise ParameterError(
                f"condition {_shown(text)}: cannot be read at character {at + 1}.",
                hint="texts stand in 'single quotes', names of columns bare or in \"double quotes\".",
            )
        kind, said = str(found.lastgroup), found[str(found.lastgroup)]
        yield _token(kind, said, found.start(kind))
        place = found.end()
    yield _Token("end", None, end)


def _token(kind: str, said: str, place: int) -> _Token:
    if kind == "number":
        if len(said) > MOST_DIGITS:
            raise ParameterError(
                f"a condition has a number of {len(said):,} characters.", hint="use a shorter one."
            )
        whole = re.fullmatch(r"[+-]?\d+", said)
        return _Token("value", int(said) if whole else float(said), place)
    if kind in ("text", "moment"):
        return _Token("value", said.replace("''", "'"), place)
    if kind == "quoted":
        return _Token("column", said.replace('""', '"'), place)
    if kind == "mark":
        return _Token("mark", _SPELLINGS.get(said, said), place)
    word = said.lower()
    if word in ("true", "false"):
        return _Token("value", word == "true", place)
    return _Token("word", word, place) if word in _WORDS else _Token("column", said, place)


class _Parser:
    """Reads a condition by recursive descent."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.next = 0
        self.depth = 0

    def condition(self) -> Condition:
        whole = self._any()
        if self._here.kind != "end":
            self._refuse("and, or, or the end")
        return whole

    def _any(self) -> Condition:
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self) -> Condition:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self) -> Condition:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise ParameterError(
                f"condition {_shown(self.text)} is nested more than {MOST_DEPTH} deep.",
                hint="write it more simply.",
            )
        found: Condition
        if self._take("not"):
            found = Not(self._one())
        elif self._take("("):
            found = self._any()
            self._need(")")
        else:
            found = self._comparison()
        self.depth -= 1
        return found

    def _comparison(self) -> Condition:
        left = self._operand()
        if not isinstance(left, Reference):
            return self._chain(left)
        name = left.column
        if self._take("is"):
            ruled_out = self._take("not")
            if not self._take("missing") and not self._take("null"):
                self._refuse("missing")
            return Not(IsMissing(name)) if ruled_out else IsMissing(name)
        ruled_out = self._take("not")
        if self._take("in"):
            self._need("(")
            values = [self._value()]
            while self._take(","):
                values.append(self._value())
            self._need(")")
            found: Condition = Membership(name, tuple(values))
        elif self._take("between"):
            low = self._value()
            self._need("and")
            found = And((Compares(name, ">=", low), Compares(name, "<=", self._value())))
        elif ruled_out:
            self._refuse("in or between")
        else:
            return self._chain(left)
        return Not(found) if ruled_out else found

    def _chain(self, left: Value | Reference) -> Condition:
        """One comparison, or several in a row: 0 <= age < 15."""
        parts: list[Condition] = []
        while not parts or (self._here.kind == "mark" and self._here.value in _FLIPPED):
            operator = self._operator()
            right = self._operand()
            if isinstance(left, Reference):
                parts.append(Compares(left.column, operator, right))
            elif isinstance(right, Reference):
                parts.append(Compares(right.column, _FLIPPED[operator], left))
            else:
                self._refuse("the name of a column on one side", back=1)
            left = right
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _operator(self) -> Operator:
        if self._here.kind != "mark" or self._here.value not in _FLIPPED:
            self._refuse("one of = != < <= > >=, in, between, is")
        operator: Operator = self._here.value
        self.next += 1
        return operator

    def _operand(self) -> Value | Reference:
        token = self._here
        if token.kind not in ("column", "value"):
            self._refuse("a column or a value")
        self.next += 1
        return Reference(token.value) if token.kind == "column" else token.value

    def _value(self) -> Value:
        value = self._operand()
        if isinstance(value, Reference):
            self._refuse("a value; texts stand in 'single quotes'", back=1)
        return value

    @property
    def _here(self) -> _Token:
        return self.tokens[self.next]

    def _take(self, said: str) -> bool:
        """Whether the next token is this word or mark; then it is passed."""
        if self._here.kind in ("word", "mark") and self._here.value == said:
            self.next += 1
            return True
        return False

    def _need(self, said: str) -> None:
        if not self._take(said):
            self._refuse(said)

    def _refuse(self, expected: str, back: int = 0) -> NoReturn:
        token = self.tokens[self.next - back]
        place = token.place + 1
        example = "for example: sex = 'F' and age >= 65."
        quoted = f"a column of the name {token.value} stands in double quotes."
        raise ParameterError(
            f"condition {_shown(self.text)}: at character {place}, {expected} is expected.",
            hint=quoted if token.kind == "word" else example,
        )


def _shown(text: str) -> str:
    return repr(text if len(text) < 100 else text[:97] + "...")

"""Mechanisms by name: the one list that the command line, plans, certificates and releases read.

A new mechanism is one file and one line of `BUILT_IN`. Another package adds its own by an entry point:

    [project.entry-points."understudy.mechanisms"]
    mine = "my_package.mechanism:KIND"        # a MechanismKind, or several

A mechanism whose model is no field also names who reads it out of a release, under "understudy.generators".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from understudy.errors import ParameterError, ReleaseError
from understudy.plugins import loaded, offered

if TYPE_CHECKING:  # the list is read by `understudy fit --help`, which should not load what it lists
    from understudy.mechanisms.generator import Arrays, Generator
    from understudy.mechanisms.mechanism import Mechanism

MECHANISMS, GENERATORS = "understudy.mechanisms", "understudy.generators"  # groups of entry points

SettingKind = Literal["cliques", "workload", "table", "column", "text", "integer", "number", "flag"]


@dataclass(frozen=True)
class Setting:
    """Something that a person may tell a mechanism: an option of the command line, a parameter of its recipe.

    Parameters:
        option: the option's name, without dashes: "clique" is `--clique`.
        parameter: the recipe's parameter that it becomes.
        kind: what a value is: "cliques" (repeatable sets of columns), "workload" (such sets with weights, a file of
            them, or 3-way), "table" (a public table), "column" (the name of one), or a plain value: "text",
            "integer", "number" or "flag".
        help: what it means to this mechanism, in a few words.
        required: why the mechanism cannot do without it; None, the default, where it can.
    """

    option: str
    parameter: str
    kind: SettingKind
    help: str
    required: str | None = None


@dataclass(frozen=True)
class MechanismKind:
    """All that the house needs to know of a mechanism before it is made: what an entry point names.

    Parameters:
        name: the word for it on the command line and in certificates.
        recipe: the class (or function) that makes one, or where it is: "package.module:Class".
        summary: what it does, in a few words.
        settings: what a person may tell it; nothing by default.
    """

    name: str
    recipe: str | Callable[..., Mechanism]
    summary: str
    settings: tuple[Setting, ...] = ()

    def make(self, **given: Any) -> Mechanism:
        """The mechanism, from values by option name; those left out keep the recipe's defaults."""
        recipe: Callable[..., Mechanism] = loaded(self.recipe)
        parameters = {setting.option: setting.parameter for setting in self.settings}
        return recipe(**{parameters[option]: value for option, value in self.check(given).items()})

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What was given, without what was left out, once it is what this mechanism takes."""
        told = {option: value for option, value in given.items() if value not in (None, (), [])}
        for option in told:
            if option not in (setting.option for setting in self.settings):
                others = [name for name, _ in settings().get(option, ())]
                raise ParameterError(
                    f"--{option} was given to {self.name!r}, which takes none.",
                    hint=f"use {' or '.join(others)}." if others else "leave it out.",
                )
        for setting in self.settings:
            if setting.required is not None and setting.option not in told:
                raise ParameterError(f"mechanism {self.name!r} {setting.required}", hint=_hint(setting))
        return told


@dataclass(frozen=True)
class GeneratorKind:
    """A generator in place of a field: the `format` of its header, and a `reader` with `from_arrays`."""

    format: str
    reader: str | type[Any]


def _forced(option_help: str = "forced ones") -> Setting:
    return Setting("clique", "forced", "cliques", option_help)


_WORKLOAD = Setting("workload", "workload", "workload", "what is measured, and how much each set matters")
_PUBLIC = Setting("public", "public", "table", "to begin at, where it is of use")
_TARGET = Setting("target", "target", "column", "a column that matters most")

# A line a mechanism: nothing else in the house lists them.
BUILT_IN = (
    MechanismKind(
        "adaptive",
        "understudy.mechanisms.adaptive.adaptive:Adaptive",
        "pairs and triples, as many as budget and data are worth",
        (_WORKLOAD, _TARGET, _PUBLIC),
    ),
    MechanismKind(
        "aim",
        "understudy.mechanisms.aim.aim:AIM",
        "one set of columns a round, the one that is explained worst",
        (_WORKLOAD, _TARGET, _PUBLIC),
    ),
    MechanismKind(
        "mst",
        "understudy.mechanisms.mst:MST",
        "pairs of columns that join them all, chosen privately",
        (_forced(), _PUBLIC),
    ),
    MechanismKind(
        "nist-mst",
        "understudy.mechanisms.nist_mst:NIST_MST",
        "pairs and triples, selected on a public table",
        (
            _forced(),
            Setting(
                "public", "public", "table", "to select on", "selects on a public table, and none was given."
            ),
        ),
    ),
    MechanismKind(
        "independent",
        "understudy.mechanisms.independent:Independent",
        "every column on its own",
        (_PUBLIC,),
    ),
    MechanismKind(
        "fixed",
        "understudy.mechanisms.fixed:Fixed",
        "the cliques that are named",
        (Setting("clique", "cliques", "cliques", "all of them", "needs cliques to measure."), _PUBLIC),
    ),
)
DEFAULT = "adaptive"


@cache
def kinds() -> tuple[MechanismKind, ...]:
    """Every mechanism there is, those of the house first, then those of other packages by name."""
    found = {kind.name: kind for kind in BUILT_IN}
    for package, kind in offered(MECHANISMS, MechanismKind):
        if found.setdefault(kind.name, kind) is not kind:
            raise ParameterError(
                f"two packages offer a mechanism {kind.name!r}.", hint=f"uninstall one: {package}."
            )
    return tuple(found.values())


def mechanism_kind(name: str) -> MechanismKind:
    """The mechanism of that name."""
    found = next((kind for kind in kinds() if kind.name == name), None)
    if found is None:
        raise ParameterError(
            f"mechanism {name!r} is not known.",
            hint=f"choose one of {', '.join(kind.name for kind in kinds())}.",
        )
    return found


def as_mechanism(given: Mechanism | str) -> Mechanism:
    """The mechanism itself, or the one of that name with its usual settings."""
    if not isinstance(given, str) and hasattr(given, "plan"):
        return given
    if not isinstance(given, str):
        raise ParameterError(
            f"mechanism is a {type(given).__name__}.", hint='give its name, "mst", or itself, us.MST().'
        )
    kind = mechanism_kind(given)
    for setting in kind.settings:
        if setting.required is not None:
            raise ParameterError(
                f"mechanism {given!r} {setting.required}",
                hint=f"in place of its name, give the mechanism itself, made with its {setting.parameter}.",
            )
    return kind.make()


def settings() -> dict[str, list[tuple[str, Setting]]]:
    """Every option that some mechanism takes: the names of those that do, each with its setting."""
    found: dict[str, list[tuple[str, Setting]]] = {}
    for kind in kinds():
        for setting in kind.settings:
            taken = found.setdefault(setting.option, [])
            if taken and taken[0][1].kind != setting.kind:
                raise ParameterError(
                    f"mechanisms {taken[0][0]!r} and {kind.name!r} disagree on what --{setting.option} is.",
                    hint="one of them has to name its option otherwise.",
                )
            taken.append((kind.name, setting))
    return found


def generator_from(header: Mapping[str, Any], arrays: Arrays) -> Generator:
    """The generator of a header and arrays from its `to_arrays`; anything else is refused."""
    from understudy.model import MarkovField, field_file

    form = header.get("format") if isinstance(header, Mapping) else None
    kinds = [GeneratorKind(field_file.FORMAT, MarkovField)]
    if form != field_file.FORMAT:
        kinds = [kind for _, kind in offered(GENERATORS, GeneratorKind)]
    reader = next((kind.reader for kind in kinds if kind.format == form), None)
    if reader is None:
        raise ReleaseError(
            f"a generator of kind {form!r} is not known.",
            hint="install the package that the release was made with.",
        )
    try:
        made: Generator = loaded(reader).from_arrays(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise ReleaseError("the generator is damaged.", hint="use an undamaged copy.") from None
    return made


def describe(mechanism: Mechanism) -> dict[str, Any]:
    """The mechanism's name and settings as plain JSON values; a public table is left out."""
    said: dict[str, Any] = {"name": mechanism.name}
    if is_dataclass(mechanism):
        for field in fields(mechanism):
            if field.name != "public":
                said[field.name] = _plain(getattr(mechanism, field.name))
    return said


def _hint(setting: Setting) -> str:
    shape = {"cliques": " A,B", "workload": " A,B", "table": " FILE", "column": " A", "flag": ""}.get(
        setting.kind, " VALUE"
    )
    return f"give it: --{setting.option}{shape}."


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        said = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {name: item for name, item in said.items() if item not in (None, [])}
    return value if isinstance(value, str | int | float | bool | None) else repr(value)

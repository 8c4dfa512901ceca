"""One tree of errors, shown whole, each with the way out."""

import inspect

import pytest

from understudy import errors
from understudy.errors import FileError, ParameterError, SizeError, UnderstudyError

TREE = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", TREE)
def test_the_docstring_shows_every_error_under_its_parent(kind: type[Exception]) -> None:
    lines = (errors.__doc__ or "").splitlines()
    depth = {
        line.split("── ")[-1].split()[0]: line.find(kind.__name__) for line in lines if kind.__name__ in line
    }
    assert kind.__name__ in depth
    parents = [base.__name__ for base in kind.__mro__[1:] if base in TREE]
    if parents:
        above = lines[: next(i for i, line in enumerate(lines) if f" {kind.__name__} " in line)]
        shown = [line.split("── ")[-1].split()[0] for line in above if line.strip()]
        assert parents[0] in shown


def test_a_message_ends_with_the_way_out() -> None:
    error = ParameterError("column 'age': min 90 is not below max 20.", hint="swap them.")
    assert str(error) == "column 'age': min 90 is not below max 20. Hint: swap them."
    assert error.hint == "swap them."
    assert str(FileError("gone.")) == "gone."


def test_the_command_line_leaves_with_two_for_parameters_and_one_for_surroundings() -> None:
    assert {kind.exit_code for kind in TREE if issubclass(kind, ParameterError)} == {2}
    assert {kind.exit_code for kind in TREE if not issubclass(kind, ParameterError)} == {1}
    assert issubclass(SizeError, ValueError)
    assert all(issubclass(kind, UnderstudyError) for kind in TREE)

"""Every exception that Understudy raises on purpose.

    UnderstudyError
    ├── ParameterError        a parameter was refused before any data was opened; nothing was charged
    │   ├── DomainError       a column or clique the domain does not have
    │   ├── SchemaError       a schema that cannot describe a table
    │   │   └── UnknownTypeError  a column type that no installed package offers
    │   ├── BudgetError       an impossible budget, or more than is left
    │   └── SizeError         a request that would not fit in memory
    └── OperatorError         the surroundings are at fault: a file, a disk, a ledger
        ├── FileError         a file that is missing, damaged or of the wrong shape
        ├── LedgerError       a ledger that is missing, damaged, rolled back or in use
        └── ReleaseError      a release file that is damaged or hostile
            └── SignatureError  a release that is not signed, or not by the key that was given

A message names the thing, the value of a parameter (never of a record), the rule, and the way out:

    column 'age': min 90 is not below max 20. Hint: swap them.

The command line leaves with `exit_code`.
"""


class UnderstudyError(Exception):
    """Anything that Understudy refuses or cannot do, with a hint at the way out.

    Parameters:
        message: names the thing, the value of a parameter (never of a record), and the rule.
        hint: the way out; none by default.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(f"{message} Hint: {hint}" if hint else message)


class ParameterError(UnderstudyError, ValueError):
    """A parameter was refused before any data was opened; nothing was charged."""

    exit_code = 2


class DomainError(ParameterError):
    """A column or clique that the domain does not have."""


class SchemaError(ParameterError):
    """A schema that cannot describe a table."""


class UnknownTypeError(SchemaError):
    """A column type that no installed package offers."""


class BudgetError(ParameterError):
    """An impossible budget, or one larger than what is left."""


class SizeError(ParameterError):
    """A request that would not fit in memory."""


class OperatorError(UnderstudyError):
    """The surroundings are at fault: a file, a disk, a ledger."""


class FileError(OperatorError):
    """A file that is missing, damaged or of the wrong shape."""


class LedgerError(OperatorError):
    """A ledger that is missing, damaged, rolled back or in use."""


class ReleaseError(OperatorError):
    """A release file that is damaged or hostile."""


class SignatureError(ReleaseError):
    """A release that is not signed, or not by the key that was given."""

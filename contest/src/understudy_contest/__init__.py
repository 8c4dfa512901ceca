"""What reproduces the paper's contest: its rivals as plug-in mechanisms, a simulated census, a GAN.

Understudy never imports this package. Installed beside it, the rivals are mechanisms like any other:
`understudy fit people.csv --mechanism privsyn ...`.
"""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy_contest.field_groups import FieldGroups
    from understudy_contest.privbayes import PrivBayes
    from understudy_contest.privsyn import PrivSyn

__all__ = ["FieldGroups", "PrivBayes", "PrivSyn"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)

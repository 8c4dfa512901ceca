"""What every synthetic record must hold, as a schema declares it: public rules between the columns of one record.

    Order             admitted <= seen <= discharged
    Derived           total = net + tax; age = years(born, 2026-01-01): worked out, and never learned
    Determines        a city has one state: by a public list, or as the model finds it
    Implies, Never    if age < 15 then marital = 'single'; never age < 15 and income > 0
    MissingTogether   two cells are both there or both missing

A rule with a condition holds of a record unless the condition is false: where a cell that it needs is missing, it
holds. A derived cell is missing where one that it is worked out from is.
"""

from understudy.domain.constraints.assigned_columns import Derived, Determines
from understudy.domain.constraints.conditional_rules import Implies, MissingTogether, Never, Order
from understudy.domain.constraints.constraint import Constraint
from understudy.domain.constraints.rules import Rules

__all__ = ["Constraint", "Derived", "Determines", "Implies", "MissingTogether", "Never", "Order", "Rules"]

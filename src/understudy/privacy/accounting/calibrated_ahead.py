"""Plans that are calibrated while something else is done: their table is read, say, which leaves a core free.

What is found is what `calibrate` finds: it is a function of a budget, a plan and who is protected, which are public.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from threading import Thread

from understudy.privacy.accounting.budget import Budget, Neighbours
from understudy.privacy.accounting.calibration import Calibration, Group, calibrate, checked_groups

Plan = tuple[Budget, tuple[Group, ...], Neighbours]

_MOST = 4  # plans at a time: one that nobody asks for is forgotten in the end
_begun: dict[Plan, Future[Calibration]] = {}


def calibrate_ahead(budget: Budget, groups: Iterable[Group], neighbours: Neighbours) -> None:
    """Begin to calibrate a plan, and return at once; whoever asks for it by `calibrated` gets what is found."""
    plan: Plan = (budget, checked_groups(groups), neighbours)
    found: Future[Calibration] = Future()

    def work() -> None:
        try:
            found.set_result(calibrate(*plan))
        except BaseException as error:  # told to whoever asks
            found.set_exception(error)

    while len(_begun) >= _MOST:
        _begun.pop(next(iter(_begun)), None)
    _begun[plan] = found
    Thread(target=work, name="calibrating").start()


def calibrated(budget: Budget, groups: Iterable[Group], neighbours: Neighbours) -> Calibration:
    """What `calibrate` finds, which was perhaps begun before."""
    plan: Plan = (budget, checked_groups(groups), neighbours)
    begun = _begun.pop(plan, None)
    return calibrate(*plan) if begun is None else begun.result()

"""What a run is doing, in a few words, as it goes: from the questions that a curator is asked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from understudy.display import counted
from understudy.marginals.interactions import Interactions
from understudy.privacy import Gaussian, Group, Loss, Role
from understudy.privacy.curator.noisy_distances import QUESTION as DISTANCE
from understudy.privacy.curator.unit_sizes import QUESTION as UNIT_SIZES

LEAST = 0.005  # of the budget for measuring: less is nothing left


class Progress:
    """Tells `stage` what every question is about. It hears the words of a question, never its answer."""

    def __init__(
        self,
        stage: Callable[[str], None],
        plan: Sequence[Group],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stage, self._clock = stage, clock
        self._own = [
            group.name
            for group in plan
            if group.kind == "measure" and group.role not in (Role.LEARNING, Role.PRIOR, Role.CHECK)
        ]
        self._whole = self._spent = 0.0  # of the budget for measuring, in precision: 1 / scale^2
        self._farther = (
            1.0  # how far a unit moves interactions against a marginal, where a record moves both by one
        )
        self._first: tuple[float, float] | None = None  # when columns were measured, and what that had spent
        self._measured: set[tuple[str, ...]] = set()
        learning = [group.name for group in plan if group.role is Role.LEARNING]
        self._learning = [name for name in learning if name != "values"]  # those are not measured in a batch
        self._noun = "pair" if any(group.role is Role.PAIRS for group in plan) else "marginal"
        self._choices = sum(group.count for group in plan if group.kind == "choose")
        self._chosen = 0

    def allotted(self, losses: Mapping[str, Loss]) -> Mapping[str, Loss]:
        """The same losses, once it is heard what measurements may spend together: so it can tell what is left."""
        taken = [losses[name] for name in self._own if name in losses]
        gaussian = [loss for loss in taken if isinstance(loss, Gaussian)]
        self._whole = math.fsum(1 / (loss.sigma * loss.neighbours.l2) ** 2 for loss in gaussian)
        self._farther = max((loss.neighbours.l1 / loss.neighbours.l2 for loss in gaussian), default=1.0)
        return losses

    def learns(self, asked: Mapping[str, int]) -> None:
        """Hear which steps there are still to be, once types are known: a step may have no column."""
        self._learning = [name for name in ("bounds", "bins") if asked.get(name)]

    def __call__(self, words: Mapping[str, Any], answered: bool) -> None:
        question = str(words["question"])
        if answered:
            if question == "measure" and not self._learning:
                self._stage(self._fitting(words))
            elif question == "measure":
                del self._learning[0]
        elif question == "measure":
            self._stage(self._measuring(words["cliques"]))
        elif question == UNIT_SIZES:
            self._stage("learning how many records units have")
        elif question == DISTANCE:
            self._stage(f"asking how far off {counted(sum(words['summed']), 'set')} of columns would be")
        elif question == "discover":
            self._stage(f"learning the values of {words['column']!r}")
        elif question.startswith("choose"):
            self._chosen += 1
            of = f" of {self._choices:,}" if self._chosen <= self._choices else ""
            self._stage(f"choosing {self._noun} {self._chosen:,}{of}")
        else:
            self._stage("counting")

    def _fitting(self, words: Mapping[str, Any]) -> str:
        """That the model is fitted; in rounds also to how many marginals, and how much budget and time is left."""
        self._measured |= {tuple(clique) for clique in words["cliques"] if len(clique) > 1}
        self._spent += math.fsum(self._precisions(words))
        now = self._clock()
        left = 1 - self._spent / self._whole if self._whole else 0.0
        if left < LEAST:
            return "fitting the model"
        if self._first is None or not self._measured:
            self._first = now, self._spent
            return "fitting the model"
        begun, before = self._first
        seconds = (now - begun) * (self._whole - self._spent) / (self._spent - before)
        return (
            f"fitting the model to {counted(len(self._measured), 'marginal')}; {left:.0%} of the budget for "
            f"measuring is left, about {seconds:.0f} s"
        )

    def _precisions(self, words: Mapping[str, Any]) -> Iterator[float]:
        """Of each marginal; of interactions as if a unit moved them as far as a marginal."""
        asked = words.get("interactions") or [None] * len(words["scales"])
        for scale, query in zip(words["scales"], asked, strict=True):
            moved = 1.0
            if query is not None:
                squared = Interactions(query["shape"], query["left out"]).squared_move
                moved = self._farther * math.sqrt(squared)
            yield (moved / scale) ** 2

    def _measuring(self, cliques: Sequence[Sequence[str]]) -> str:
        if self._learning:
            return f"learning the {self._learning[0]} of {counted(len(cliques), 'column')}"
        orders = {len(clique) for clique in cliques}
        noun = {1: "one-way marginal", 2: "pair"}.get(min(orders) if len(orders) == 1 else 0, "marginal")
        return f"measuring {counted(len(cliques), noun)}"

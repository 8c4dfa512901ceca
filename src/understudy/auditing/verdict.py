"""What an audit found, as frozen values, in words and for machines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from understudy.display import html_table


@dataclass(frozen=True)
class Finding:
    """One pair of neighbouring tables, told apart by their noisy logs.

    `moved`: the furthest that any marginal of the two tables is apart, in records; `declared`: the furthest it may
    be. `proved`: the epsilon that the attacker proved, if the noise has the law it claims, at whatever scale;
    `outright`: the same from the definition alone. Both hold with the audit's confidence. `reach`: what `proved` is
    likely to be of so many runs where nothing is wrong; `ceiling`: of ever more runs. `seen`, `unseen`: the kinds of
    questions that the attack looks at, and those it does not. `noise`: what is wrong with the noise of
    the runs of `fit` themselves, in words.
    """

    way: str
    target: str
    through: str
    runs: int
    moved: int
    declared: int
    proved: float
    outright: float
    reach: float
    ceiling: float
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    noise: str = ""

    def why(self, claim: float) -> str:
        """What is wrong, in words; empty where nothing is wrong."""
        where = f"{self.way}, {self.target}"
        if not self.moved <= self.declared:
            moved = f"one unit moves a marginal by {self.moved:,} records"
            return f"{where}: {moved}, and the noise is made for {self.declared:,}."
        if self.noise:
            return f"{where}: {self.noise}."
        if not max(self.proved, self.outright) <= claim:
            return f"{where}: the runs prove epsilon {max(self.proved, self.outright):.3f}; {claim:g} is claimed."
        return ""


@dataclass(frozen=True)
class Audit:
    """What an attacker proved of a mechanism, beside its claim and beside the most that he could have proved.

    Attributes:
        mechanism: its name.
        epsilon: what it claims.
        delta: the same.
        confidence: how sure what was proved is, 0 to 1.
        neighbours: the relation and the number of records by which two tables differ.
        findings: one for each way in and each target: the runs, and the epsilon that they prove.
    """

    mechanism: str
    epsilon: float
    delta: float
    confidence: float
    neighbours: dict[str, Any]
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "BROKEN"
        return (
            f"<Audit of {self.mechanism!r}: epsilon {self.proved:.3f} proved, {self.ceiling:.3f} the ceiling, "
            f"{self.epsilon:g} claimed; {verdict}>"
        )

    def _repr_html_(self) -> str:
        """Every pair of tables, for a notebook."""
        return html_table(
            f"Audit of {self.mechanism}: epsilon {self.epsilon:g}, delta {self.delta:g} claimed",
            ["way in", "target", "runs", "proved", "ceiling"],
            [
                [f.way, f.target, f"{f.runs:,}", f"{max(f.proved, f.outright):.3f}", f"{f.ceiling:.3f}"]
                for f in self.findings
            ],
            ["Nothing was found that contradicts the claim."] if self.holds else [],
            warning=" ".join(self.faults),
        )

    @property
    def proved(self) -> float:
        """The largest epsilon proved, over all ways in and all targets."""
        return max(max(finding.proved, finding.outright) for finding in self.findings)

    @property
    def ceiling(self) -> float:
        """The most that the attack could prove with ever more runs where nothing is wrong."""
        return max(finding.ceiling for finding in self.findings)

    @property
    def reach(self) -> float:
        """What it is likely to prove with these runs where nothing is wrong."""
        return max(finding.reach for finding in self.findings)

    @property
    def faults(self) -> list[str]:
        """What is wrong, in words."""
        return [why for finding in self.findings if (why := finding.why(self.epsilon))]

    @property
    def holds(self) -> bool:
        """Whether nothing was found that contradicts the claim. It proves nothing more than that."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain JSON values."""
        computed = ("proved", "reach", "ceiling", "holds", "faults")
        return {
            **asdict(self),
            **{name: getattr(self, name) for name in computed},
            "findings": [asdict(finding) for finding in self.findings],
        }

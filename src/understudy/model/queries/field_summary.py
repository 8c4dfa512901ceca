"""What a field is made of: its cliques, its size, its treewidth, and the certificate of its fit."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.domain import Clique
from understudy.model.fit_report import FitReport

SHOWN = 12


@dataclass(frozen=True)
class FieldSummary:
    """The field in numbers; prints as a page for people."""

    columns: int
    total: float
    cliques: tuple[Clique, ...]
    sizes: tuple[int, ...]
    treewidth: int
    components: int
    cells: int
    structural_zeros: int
    entropy: float
    fit: FitReport | None
    beside: int = 0

    def __str__(self) -> str:
        lines = [
            f"Field over {self.columns} columns, {self.total:,.1f} records",
            f"  cliques     {len(self.cliques)}, in {self.components} component(s)",
            f"  treewidth   {self.treewidth}",
            f"  cells       {self.cells:,} ({self.structural_zeros:,} of them exactly zero)",
            *([f"  beside it   {self.beside} pairs that it has no room for"] if self.beside else []),
            f"  entropy     {self.entropy:.4f} nats",
            f"  certificate {self.fit if self.fit is not None else 'none: not fitted to measurements'}",
            "  largest cliques:",
        ]
        ranked = sorted(zip(self.sizes, self.cliques, strict=True), key=lambda pair: -pair[0])
        lines += [f"    {size:>12,}  {', '.join(clique)}" for size, clique in ranked[:SHOWN]]
        if len(ranked) > SHOWN:
            lines.append(f"    {'...':>12}  and {len(ranked) - SHOWN} more")
        return "\n".join(lines)

"""What questions cost: losses as values, how they add up, and the budget that they are paid from.

`budget` and `losses` are the values. `composition` says what losses cost together in (epsilon, delta): by `zcdp`, or
by the privacy curve itself (`curves`, with `gaussian`, `discretisation`, `discrete_gaussian_curve`, `pure_dp`,
`bounded_range` and `curve_grid`). `calibration` finds the noise that a budget buys, `filters` bound questions whose
costs depend on answers, and `spending` keeps what is left of one budget. Nothing here reads records or draws noise.
Proofs: docs/privacy.md, "Neighbours, units and losses" and "Accounting".
"""

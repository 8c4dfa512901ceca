"""The only room that sees private counts: the `curator`, its questions, and the certificate of what it did.

A `question` is a frozen value: `noisy_marginals`, `private_choice` and `pooled_choice` (by `misfit` or
`dependence`), `discovery`, `thresholded_histogram`. `question_checks` finds faults of what is handed in,
`exact_counts` is what a question draws from behind the door, and `curator_session` is the door. `certification` says
what was done, `verification` recomputes it. Proofs: docs/privacy.md, "The curator".
"""

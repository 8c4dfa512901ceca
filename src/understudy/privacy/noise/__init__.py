"""Exact random draws: integer noise and the exponential mechanism, from the operating system's random words.

`discrete_noise` draws noise by `cumulative_table`s (searched by `table_lookup`), `exponential_mechanism` chooses,
both by the bounds of `exp_bounds`; `randomness` says where words come from. Nothing here knows what the noise is for.
Proofs: docs/privacy.md, "Noise" and "Choice".
"""

"""What measuring a marginal costs in error, before it is measured: noise, as far as shrinkage leaves it.

A table that was measured with noise of scale s is pulled towards what the model says of it. A cell that the model
gives mu records then errs by about the noise, .8 s in the mean, or by a part of what it holds, whichever is less: a
cell of which noise hides everything is left as the model has it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.float64]

OF_CELL = 0.35  # of what a cell holds: the error that is left where noise hides it
OF_NOISE = 0.8  # of the noise's scale: about sqrt(2 / pi), the mean distance of normal noise from zero


def noise_price(expected: Cells, scale: Cells | float, times: Cells | float = 1.0) -> float:
    """The L1 error, in records, that a marginal of these expected counts is left with once measured and shrunk.

    `times` says how many cells there are of each expected count; the scale is one, or each cell's.
    """
    return float((np.minimum(OF_CELL * np.maximum(expected, 0.0), OF_NOISE * scale) * times).sum())


def cells_above_noise(expected: Cells, scale: float) -> float:
    """How many cells of a marginal noise of this scale really reaches, at least one."""
    return max(1.0, noise_price(expected, scale) / (OF_NOISE * scale))

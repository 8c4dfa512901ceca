"""The whole table as one vector: what an estimate must agree with on domains small enough to write out."""

import numpy as np
from scipy.optimize import nnls


def design(domain, measurements):
    """The matrix from the cells of the whole table to all answers in units of noise, and the measured ones."""
    codes = np.indices(domain.shape()).reshape(len(domain), -1)
    cells = domain.size()
    rows, values = [], []
    for measurement in measurements:
        where = np.zeros(cells, int)
        for name in measurement.clique:
            where = where * domain[name] + codes[domain.names.index(name)]
        onto = np.zeros((domain.size(measurement.clique), cells))
        onto[where, np.arange(cells)] = 1
        asked = np.stack([measurement.answers(onto[:, cell]) for cell in range(cells)], axis=1)
        scale = np.broadcast_to(measurement.stddev, measurement.values.shape)
        rows.append(asked / scale[:, None])
        values.append(measurement.values / scale)
    return np.concatenate(rows), np.concatenate(values)


def optimum(domain, measurements, total, possible=None):
    """The least loss of any non-negative table with this total, by an active-set solver on the whole table."""
    matrix, values = design(domain, measurements)
    kept = np.ones(domain.size(), bool) if possible is None else possible.reshape(-1)
    heavy = 1e5 * max(np.abs(matrix).max(), 1e-12)
    stacked = np.concatenate([matrix, np.full((1, matrix.shape[1]), heavy)])[:, kept]
    table = np.zeros(domain.size())
    table[kept] = nnls(stacked, np.append(values, heavy * total), maxiter=100_000)[0]
    table *= total / table.sum()
    return 0.5 * float(np.sum((matrix @ table - values) ** 2)), table

"""Small models are solved whatever is asked of them: scales far apart, contradictions, negative counts."""

import numpy as np
import pytest
from brute_force import design, optimum

from understudy.domain import Domain
from understudy.marginals import Measurement
from understudy.marginals.interactions import Interactions
from understudy.marginals.query import Binned
from understudy.model import estimate


def shapes(random, names):
    """Cliques that make a tree, a loop, nested ones, several components, or whatever comes."""
    count = len(names)
    kinds = [
        [(names[i], names[random.integers(i)]) for i in range(1, count)],
        [(names[i], names[(i + 1) % count]) for i in range(count)] if count > 2 else [tuple(names)],
        [tuple(names[:k]) for k in range(1, min(count, 3) + 1)],
        [(names[i], names[i + 1]) for i in range(0, count - 1, 2)],
        [tuple(random.permutation(names)[: random.integers(1, 4)].tolist()) for _ in range(5)],
    ]
    alone = [(name,) for name in names if random.random() < 0.5]
    return kinds[random.integers(len(kinds))] + alone or [(names[0],)]


def hard_model(seed, *, binned=False, interactions=False):
    """A random model with measurements that hardly fit together, and its total (None: to be estimated)."""
    random = np.random.default_rng(seed)
    names = [f"c{i}" for i in range(random.integers(1, 6))]
    domain = Domain({name: int(random.integers(1, 5)) for name in names})
    total = 10.0 ** random.uniform(0.12, 6)
    truth = random.dirichlet(np.full(domain.size(), random.choice([0.05, 0.5, 2.0]))) * total
    measured = []
    for clique in shapes(random, names):
        kept = [name for name in names if name in clique]
        gone = tuple(i for i, name in enumerate(names) if name not in clique)
        values = truth.reshape(domain.shape()).sum(axis=gone).transpose([kept.index(n) for n in clique])
        values, query = values.reshape(-1), None
        values = [values, random.permutation(values), -values][random.choice(3, p=[0.7, 0.2, 0.1])]
        if binned:
            runs = [np.sort(random.integers(0, domain[name], domain[name])) for name in clique]
            query = Binned(tuple(np.unique(run, return_inverse=True)[1] for run in runs))
            values = query.apply(values)
        if interactions and len(clique) > 1:
            left_out = [(axis,) for axis in range(len(clique)) if random.random() < 0.8]
            query = Interactions([domain[name] for name in clique], left_out)
            values = query.apply(values)
        stddev = 10.0 ** random.uniform(-3, 6)
        measured.append(Measurement(clique, values + stddev * random.normal(size=values.size), stddev, query))
    return domain, measured, total if random.random() < 0.5 else None


@pytest.mark.parametrize(
    ("seed", "binned"),
    [*((seed, binned) for seed in range(20) for binned in (False, True)), (1138, False), (1092, True)],
)  # the last two have scales that differ by 1e16: what was left of them once was a part of a unit
def test_a_small_model_is_solved_however_its_scales_differ(seed, binned):
    domain, measured, total = hard_model(seed, binned=binned)
    field = estimate(domain, measured, total=total)
    assert field.fit.converged
    matrix, values = design(domain, measured)
    table = field.marginal(domain.names).counts.reshape(-1)
    loss = 0.5 * float(np.sum((matrix @ table - values) ** 2))
    best, _ = optimum(domain, measured, field.total)
    rounding = 1e-6 * max(1.0, loss)
    assert loss == pytest.approx(field.fit.loss, abs=rounding)
    assert loss <= best + field.fit.gap + rounding
    assert best >= field.fit.loss - field.fit.gap - rounding

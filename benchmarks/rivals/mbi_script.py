"""MST and AIM as published, on mbi's estimator: the package has the model and not the mechanisms."""

from __future__ import annotations

import itertools
import math
import warnings

import jax

warnings.simplefilter("ignore")
jax.config.update("jax_enable_x64", True)  # before anything that reads it is imported

import numpy as np  # noqa: E402
from coded_files import asked, zcdp  # noqa: E402
from mbi import Domain, LinearMeasurement  # noqa: E402
from mbi.estimation import MirrorDescent  # noqa: E402
from mbi.junction_tree import hypothetical_model_size  # noqa: E402

told = asked()
rho, rng = zcdp(told.epsilon, told.delta), np.random.default_rng()
names, sizes, codes = list(told.sizes), dict(told.sizes), dict(told.codes)


def cells(clique):
    """How many cells a marginal has."""
    return math.prod(sizes[n] for n in clique)


def count(clique):
    """A marginal."""
    place = np.ravel_multi_index([codes[n] for n in clique], [sizes[n] for n in clique])
    return np.bincount(place, minlength=cells(clique)).astype(float)


def noisy(clique, sigma):
    """A marginal with Gaussian noise."""
    return count(clique) + sigma * rng.normal(size=cells(clique))


def pick(scores, epsilon, sensitivity):
    """The exponential mechanism."""
    q = np.array(list(scores.values())) / sensitivity
    chance = np.exp(epsilon / 2 * (q - q.max()))
    return list(scores)[rng.choice(len(q), p=chance / chance.sum())]


def misfit(model, clique):
    """The L1 distance of a model's marginal from the true one."""
    return float(np.abs(count(clique) - np.asarray(model.project(clique).datavector())).sum())


def mst():
    """The paper: one-ways, rare codes merged, a tree chosen privately, its pairs."""
    sigma = math.sqrt(3 / (2 * rho)) * math.sqrt(len(names))
    measured, back = [], {}
    for n in names:
        values = noisy((n,), sigma)
        kept = np.flatnonzero(values >= 3 * sigma)
        if len(kept) == len(values):
            measured.append(LinearMeasurement(values, (n,), sigma))
            continue
        rest = np.setdiff1d(np.arange(len(values)), kept)
        place = np.full(len(values), len(kept))
        place[kept] = np.arange(len(kept))
        back[n] = (kept, rest)
        codes[n], sizes[n] = place[codes[n]], len(kept) + 1
        weight = np.append(np.ones(len(kept)), 1 / math.sqrt(len(rest)))
        y = np.append(values[kept], values[rest].sum()) * weight
        measured.append(LinearMeasurement(y, (n,), sigma, lambda x, w=weight: x.datavector() * w))
    domain = Domain(names, [sizes[n] for n in names])
    model = MirrorDescent().estimate(domain, measured, iters=1000)
    scores = {p: misfit(model, p) for p in itertools.combinations(names, 2)}
    part, tree = {n: n for n in names}, []
    while len(tree) < len(names) - 1:
        open_ = {p: s for p, s in scores.items() if part[p[0]] != part[p[1]]}
        a, b = pick(open_, math.sqrt(8 * (rho / 3) / (len(names) - 1)), 1)
        tree.append((a, b))
        part = {n: part[a] if k == part[b] else k for n, k in part.items()}
    sigma = math.sqrt(3 / (2 * rho)) * math.sqrt(len(tree))
    measured += [LinearMeasurement(noisy(c, sigma), c, sigma) for c in tree]
    return MirrorDescent().estimate(domain, measured, iters=5000), back


def aim(degree=2, most_cells=10_000, megabytes=80):
    """The published mechanism for all pairs, with the limits that its authors' script has by default."""
    domain = Domain(names, [sizes[n] for n in names])
    workload = [c for c in itertools.combinations(names, degree) if cells(c) <= most_cells]
    closure = {n for c in workload for k in range(1, degree + 1) for n in itertools.combinations(c, k)}
    weights = {c: sum(len({*c} & {*w}) for w in workload) for c in sorted(closure)}
    rounds = 16 * len(names)
    sigma, epsilon = math.sqrt(rounds / (1.8 * rho)), math.sqrt(0.8 * rho / rounds)
    measured = [LinearMeasurement(noisy((n,), sigma), (n,), sigma) for n in names]
    spent, last = len(names) / (2 * sigma**2), False
    model = MirrorDescent().estimate(domain, measured, iters=1000)
    while not last:
        if rho - spent < 2 * (1 / (2 * sigma**2) + epsilon**2 / 8):
            last, left = True, rho - spent
            sigma, epsilon = math.sqrt(1 / (1.8 * left)), math.sqrt(0.8 * left)
        spent += 1 / (2 * sigma**2) + epsilon**2 / 8
        held = [tuple(m.clique) for m in measured]
        fits = {
            c: w
            for c, w in weights.items()
            if any({*c} <= {*h} for h in held)
            or hypothetical_model_size(domain, [*held, c]) <= megabytes * spent / rho
        }
        noise = math.sqrt(2 / math.pi) * sigma
        scores = {c: w * (misfit(model, c) - noise * cells(c)) for c, w in fits.items()}
        clique = pick(scores, epsilon, max(fits.values()))
        measured.append(LinearMeasurement(noisy(clique, sigma), clique, sigma))
        before = np.asarray(model.project(clique).datavector())
        model = MirrorDescent().estimate(domain, measured, iters=1000, warm_start=model)
        moved = np.abs(np.asarray(model.project(clique).datavector()) - before).sum()
        if moved <= noise * cells(clique):
            sigma, epsilon = sigma / 2, epsilon * 2
    return model, {}


model, merged = {"MST": mst, "AIM": aim}[told.mechanism]()
made = model.synthetic_data(rows=told.rows)
out = {n: np.asarray(made.to_dict()[n] if hasattr(made, "to_dict") else made.df[n]) for n in names}
for n, (kept, rest) in merged.items():
    whole = np.append(kept, -1)[out[n]]
    whole[whole < 0] = rng.choice(rest, (whole < 0).sum())
    out[n] = whole
told.write(out)

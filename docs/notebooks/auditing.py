# %% [markdown]
# # Auditing a mechanism
#
# A proof says what a mechanism may give away; an audit shows what it does. It makes two tables that differ by one person, hands them to `fit` as
# anyone would, and guesses from what comes out which of the two it was. How often the guess is right proves a lower bound on epsilon. The
# tables are made up: no private record is read, nothing is spent.

# %%
from dataclasses import dataclass

import understudy as us

found = us.audit(us.Independent(), epsilon=1.0, delta=1e-5, runs=5000, way="arrow", target="twin")
print(found.holds, found.proved, found.ceiling)
found

# %% [markdown]
# `proved` is the epsilon that the guesses prove, `ceiling` what they could prove after ever more runs. A sound mechanism lies between: below its
# claim, and near the ceiling. More runs bring it nearer.
#
# ## A mechanism of your own
#
# Any object that is a mechanism may be audited. Its cliques name columns of the audit's tables: `zip`, `level`, `active`, `age`, `income`.


# %%
@dataclass(frozen=True)
class Pair:
    """One pair of columns, and nothing else."""

    name = "pair"

    def plan(self, domain):
        return (us.Group("pair", "measure", 1, weights=(1.0,)),)

    def cliques(self, domain):
        return [("level", "active")]

    def __call__(self, curator, domain, budget):
        losses = us.allot(curator, self.plan(domain), budget)
        log = curator.measure(self.cliques(domain), budget=losses["pair"])
        return us.Fit(tuple(log), us.estimate(domain, log), us.Compression.none(domain))


us.audit(Pair(), epsilon=1.0, delta=1e-5, runs=5000, way="arrow", target="twin")

# %% [markdown]
# ## What a breach looks like
#
# A column measured with noise that belongs to epsilon 10, by somebody who claims 1. Nobody could do so through `fit`, where the curator
# charges every question. So here the attack is done by hand: one person more in a cell that holds 50, and who looks at the noisy count.

# %%
from math import exp

import numpy as np

used = us.Budget(epsilon=10.0, delta=1e-5)
schema = us.Schema({"level": us.Category(("low", "high"), missing=False)})
worlds = [us.table({"level": ["low"] * (50 + extra) + ["high"] * 50}, schema) for extra in (0, 1)]


def seen(world):
    return us.Curator(world, budget=used).measure([("level",)], budget=used)[0].values[0]


without, with_ = (np.array([seen(world) for _ in range(200)]) >= 51 for world in worlds)
print(
    f"the count is 51 or more in {without.mean():.0%} of runs without the person, and in {with_.mean():.0%} with"
)
print(f"epsilon 1 would allow at most {exp(1) * without.mean() + 1e-5:.0%}: the claim is broken")

# %% [markdown]
# An audit finds breaches; it proves no privacy. It knows the tables it tries and the ways in it lists. What it looks at, and what
# not: [Auditing the claim](../audit.md); what is proved: [Privacy, with proofs](../privacy.md).

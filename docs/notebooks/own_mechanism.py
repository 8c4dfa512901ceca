# %% [markdown]
# # A mechanism of your own, in one page
#
# A mechanism decides what to measure. It never holds a record: it asks a curator, which charges every question before it draws noise. So
# whatever you write is private by construction, and this page is all there is to write.

# %%
from dataclasses import dataclass
from fractions import Fraction

import understudy as us
from understudy.presets import town


@dataclass(frozen=True)
class Star:
    """Every column with one that matters: its pairs with all others, and each column alone."""

    centre: str
    name = "star"

    def _pairs(self, domain):
        return [(self.centre, column) for column in domain if column != self.centre]

    def plan(self, domain):  # public: groups of questions, and their shares of the budget
        return (
            us.Group("alone", "measure", Fraction(1, 3), weights=(1.0,) * len(domain), role=us.Role.ONE_WAY),
            us.Group("pairs", "measure", Fraction(2, 3), weights=(1.0,) * (len(domain) - 1)),
        )

    def cliques(self, domain):  # public: as large as anything that will be measured
        return self._pairs(domain)

    def __call__(self, curator, domain, budget):
        losses = us.allot(curator, self.plan(domain), budget)
        log = curator.measure([(column,) for column in domain], budget=losses["alone"])
        log += curator.measure(self._pairs(domain), budget=losses["pairs"])
        return us.Fit(tuple(log), us.estimate(domain, log), us.Compression.none(domain))


# %% [markdown]
# A plan knows it, as it knows the built-in ones:

# %%
schema = us.Schema.from_toml(town.SCHEMA)
us.plan(schema, rows=2000, epsilon=1.0, delta=1e-9, mechanism=Star("home"))

# %% [markdown]
# And it runs wherever they do, on files, frames, databases and clusters. It asks nothing of the records but by the curator, so its release has a
# certificate like any other:

# %%
release = us.fit(town.simulate(2000, seed=3), schema, epsilon=1.0, delta=1e-9, mechanism=Star("home"))
print(release.verify())
release

# %% [markdown]
# ## Is it any good?
#
# Errors that the release states of itself, for pairs that it measured, and for one that it did not:

# %%
for other in ("age", "job"):
    print("home and", other, release.expected_error("home", other))
print("age and job, never measured together", release.expected_error("age", "job"))

# %% [markdown]
# ## Is it as private as it says?
#
# The proof is that of the curator's questions. An attack looks whether the code keeps to it: [Auditing a mechanism](auditing.md). To hand it on
# as a package with an entry point, so that `--mechanism star` works everywhere: [Designing a mechanism](../mechanisms.md).

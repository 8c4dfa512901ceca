# %% [markdown]
# # NIST-MST, with public data
#
# Last year's table was published; this year's is private. The contest's winner looks at the public one to decide **what** to measure, which costs nothing,
# and spends the whole budget on measuring the private one.

# %%
import understudy as us
from understudy.presets import town

schema = us.Schema.from_toml(town.SCHEMA)
private = town.simulate(3000, seed=4)  # this year's people
public = us.table(town.simulate(3000, seed=5), schema)  # last year's: others, of the same town

# %% [markdown]
# The public table must have the same columns and codes. Nothing of the private one is used to choose.

# %%
mechanism = us.NIST_MST(public)
us.plan(schema, rows=3000, epsilon=1.0, delta=1e-9, mechanism=mechanism)

# %%
informed = us.fit(private, schema, epsilon=1.0, delta=1e-9, mechanism=mechanism)
informed

# %% [markdown]
# Without public data a third of the budget goes into choosing which pairs to measure:

# %%
alone = us.fit(private, schema, epsilon=1.0, delta=1e-9, mechanism="mst")
print("with public data   ", informed.expected_error())
print("without            ", alone.expected_error())

# %% [markdown]
# Each line is one run, with the noise of one run: which is better on such a small town may turn out either way. On the contest's data, see
# [The contest, reproduced](../contest.md).
#
# **Is it really public?** A table that was made from the private one, or from the same people a day earlier, is not: whatever the mechanism takes from
# it is paid for by nobody. The same goes for `us.Adaptive(public=...)`, which uses a public table as the model to begin with, if two
# noisy numbers say that it is nearer to the records than independence.

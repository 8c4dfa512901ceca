# %% [markdown]
# # Reading a release, with error bars
#
# You were handed a release and no records. It holds a model, the noisy counts it was made of, and a noisy answer to the question
# how far off the model is. All of what follows costs no privacy.

# %%
import understudy as us
from understudy.presets import town

release = us.fit(
    town.simulate(3000, seed=2), us.Schema.from_toml(town.SCHEMA), epsilon=2.0, delta=1e-9, mechanism="mst"
)

# %% [markdown]
# ## Whose, and how much

# %%
print(release.verify())
release

# %% [markdown]
# ## How far off is it?
#
# The share of records that would have to move for the model's tables to be the real ones: over all pairs of columns, and over triples.

# %%
release.expected_error()

# %% [markdown]
# And of two columns that you care about:

# %%
pair = release.expected_error("job", "income")
print(f"job and income: off by {pair.value:.1%}, between {pair.low:.1%} and {pair.high:.1%}")

# %% [markdown]
# ## Answers about the real table
#
# Each with an interval for the real records. `covers` says what the interval rests on; where nothing is known it is as wide as what is possible.

# %%
women = release.query("share", where="sex = 'female'")
print(f"{women.value:.1%} (95%: {women.low:.1%} to {women.high:.1%}); it covers {women.covers}")

# %%
release.query("mean", "age", by="sex")

# %%
release.query("quantile", "income", q=0.9)

# %% [markdown]
# A share of synthetic records has no such interval: it is the same number without knowing how far off it may be.

# %%
drawn = release.sample(2000, seed=1).to_pandas()
print(f"of 2,000 synthetic people, {(drawn['sex'] == 'female').mean():.1%} are women")

# %% [markdown]
# ## Whole tables
#
# Any marginal of the model, measured or not:

# %%
table = release.marginal(["sex", "home"])
table.counts.round()

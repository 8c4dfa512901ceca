# %% [markdown]
# # A first release, end to end
#
# From a table to synthetic records that may be handed on. The table is a simulated town: nobody in it ever lived, so that
# everything may be shown here, the private side too.

# %%
import pandas as pd
import understudy as us
from understudy.presets import town

people = town.simulate(2000, seed=1).to_pandas()
people.to_csv("people.csv", index=False)
people.head(3)

# %% [markdown]
# ## 1. Say what is publicly known
#
# A draft is made by looking at the records. It is **not private** until a person has read every line: values and bounds
# that only the records could tell must go. What is left out is learned privately, out of the budget.

# %%
draft = us.draft_schema("people.csv")
draft

# %% [markdown]
# Here the town's own description is public: it is what a statistical office would print on the form.

# %%
schema = us.Schema.from_toml(town.SCHEMA)
schema

# %% [markdown]
# ## 2. Look at what a budget buys
#
# A plan reads no record and spends nothing.

# %%
us.plan(schema, rows=2000, epsilon=1.0, delta=1e-9)

# %% [markdown]
# ## 3. Spend it
#
# `fit` charges the ledger first, measures, and fits a model. Everything that leaves the boundary is in the release. Give a path, or a
# frame of text: `pd.read_csv` without `dtype=str` tells types from all cells together, so one record could change how
# others are read.

# %%
frame = pd.read_csv("people.csv", dtype=str)
release = us.fit(frame, schema, epsilon=1.0, delta=1e-9, mechanism="mst")
release

# %% [markdown]
# ## 4. Draw records, as often as you like
#
# Sampling is free. Without a number, as many records are drawn as the noisy counts say: the exact number is private.

# %%
synthetic = release.sample()
synthetic.head(3)

# %% [markdown]
# ## 5. Keep it, check it, show it

# %%
release.save("town.release")
again = us.load("town.release")
print(again.verify())
again.report("report.html")  # safe to publish

# %% [markdown]
# What has been spent on this table, of all releases together:

# %%
us.Ledger().account("town").spent

# %% [markdown]
# ## 6. Compare, inside
#
# Whoever may see the records may compare. This page would be confidential, if the town were real.

# %%
us.evaluate(frame, synthetic, schema)

"""Examples of public functions whose docstrings have none: shown on the site under each, and run by the tests.

They are typed one after the other in a folder with people.csv, people.toml and people.release, where these are known:

    import numpy as np, understudy as us
    from fractions import Fraction
"""

from __future__ import annotations

EXAMPLES = {
    "Release.sample_spark": "",  # by example, on a cluster, in docs/spark.md
    "new_key": """
>>> public = us.new_key("holder.key")  # the private key stays; the public one goes out
>>> us.load("people.release").save("signed.release", key="holder.key")
>>> us.load("signed.release", key=public).private
True
""",
    "Comparison.report": """
>>> synthetic = us.load("people.release").with_kind("arrow").sample(300, seed=1)
>>> us.evaluate("people.csv", synthetic, "people.toml").report("confidential.html")
""",
    "Schema.domain": """
>>> us.Schema.load("people.toml").domain()["sex"]  # two values, and a slot for missing ones
3
""",
    "Schema.save": """
>>> us.Schema({"sex": us.Category(("F", "M"))}, name="people").save("small.toml")
""",
    "Schema.from_toml": """
>>> schema = us.Schema.from_toml('[columns.age]\\ntype = "integer"\\nmin = 0\\nmax = 99\\n')
>>> schema["age"].max
99
""",
    "Schema.to_toml": """
>>> print(us.Schema({"paid": us.Boolean()}).to_toml(), end="")
[columns.paid]
type = "boolean"
""",
    "Schema.with_columns": """
>>> wider = us.Schema.load("people.toml").with_columns({"paid": us.Boolean()})
>>> list(wider.columns)
['sex', 'age', 'paid']
""",
    "Order": """
>>> days = {"came": us.Date(), "left": us.Date()}
>>> len(us.Schema(days, constraints=[us.Order("came <= left", most="30 days")]).constraints)
1
""",
    "Derived": """
>>> money = {"net": us.Number(0, 9, precision=0.01), "gross": us.Number()}
>>> us.Schema(money, constraints=[us.Derived("gross = 1.2 * net")]).synthesised.keys()
dict_keys(['net'])
""",
    "Determines": """
>>> places = {"city": us.Category(("Salem", "Keene")), "state": us.Category(("MA", "NH"))}
>>> pairs = (("Salem", "MA"), ("Keene", "NH"))
>>> len(us.Schema(places, constraints=[us.Determines("city", "state", pairs)]).constraints)
1
""",
    "Implies": """
>>> job = {"works": us.Boolean(), "hours": us.Integer(0, 80)}
>>> len(us.Schema(job, constraints=[us.Implies("works = false", "hours = 0")]).constraints)
1
""",
    "Never": """
>>> home = {"age": us.Integer(0, 99), "owner": us.Boolean()}
>>> len(us.Schema(home, constraints=[us.Never("age < 18 and owner = true")]).constraints)
1
""",
    "MissingTogether": """
>>> blood = {"low": us.Integer(40, 120), "high": us.Integer(60, 250)}
>>> len(us.Schema(blood, constraints=[us.MissingTogether(("low", "high"))]).constraints)
1
""",
    "allot": """
>>> table = us.table("people.csv", "people.toml")
>>> curator = us.Curator(table, budget=us.Budget(1.0, 1e-9))
>>> plan = (us.Group("alone", "measure", Fraction(1), weights=(1.0, 1.0)),)
>>> list(us.allot(curator, plan, curator.budget))
['alone']
""",
    "Curator": """
>>> table = us.table("people.csv", "people.toml")
>>> us.Curator(table, budget=us.Budget(epsilon=1.0, delta=1e-9)).domain.names
('sex', 'age')
""",
    "Curator.measure": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), budget=us.Budget(1.0, 1e-9))
>>> (noisy,) = curator.measure([("sex", "age")], budget=curator.budget)
>>> noisy.clique
('sex', 'age')
""",
    "Curator.choose": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), budget=us.Budget(1.0, 1e-9))
>>> losses = curator.commit([us.Group("which", "choose", Fraction(1))])
>>> nothing = lambda clique: np.zeros(curator.domain.shape(clique))  # what is thought to be in the cells
>>> curator.choose([("sex",), ("age",)], nothing, losses["which"]) in (0, 1)
True
""",
    "Curator.choose_dependent": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), budget=us.Budget(1.0, 1e-9))
>>> losses = curator.commit([us.Group("which", "choose", Fraction(1))])
>>> curator.choose_dependent([("sex", "age"), ("age", "sex")], losses["which"]) in (0, 1)
True
""",
    "Curator.distances": "",  # by what it is for, in docs/errors.md: a mechanism's last question
    "Curator.histogram": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), budget=us.Budget(1.0, 1e-9))
>>> losses = curator.commit([us.Group("cells", "laplace", Fraction(1))])
>>> cells = curator.histogram("sex", losses["cells"], threshold=30)  # those with a noisy count of 30 or more
""",
    "Curator.discover": "",  # asked by `fit` of columns with discover = true: docs/schema.md
    "Curator.unit_sizes": "",  # asked by `fit` where a unit column has no bound: docs/tables.md
    "Curator.bounded": "",  # the same
    "Curator.recode": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), budget=us.Budget(1.0, 1e-9))
>>> curator.recode({"sex": [0, 0, 1]}).domain["sex"]  # the first two codes are one now; nothing is spent
2
""",
    "Curator.over": """
>>> table = us.table("people.csv", "people.toml")
>>> us.Curator(table, budget=us.Budget(1.0, 1e-9)).over(table).domain.names
('sex', 'age')
""",
    "Ledger.names": """
>>> ledger = us.Ledger("mine.db")
>>> ledger.set_limit("people", epsilon=3.0, delta=1e-8)
>>> ledger.names()
['people']
""",
    "Ledger.account": """
>>> us.Ledger("mine.db").account("people").left is None  # without a limit nothing is left or lacking
True
""",
    "Ledger.set_limit": """
>>> ledger = us.Ledger("mine.db")
>>> ledger.set_limit("people", epsilon=3.0, delta=1e-8)  # for good
>>> ledger.account("people").limit
(3.0, 1e-08)
""",
    "Ledger.open": """
>>> from understudy.privacy.ledger.job import Job
>>> ledger = us.Ledger("mine.db")
>>> transcript = ledger.open(Job("people", "schema, mechanism and budget of this run"), 1.0, 1e-9)
>>> float(ledger.account("people").spent[0])  # reserved before anything is asked
1.0
""",
}

"""Examples of public names whose docstrings have none: shown on the site under each, and run by the tests.

They are typed one after the other in a folder with people.csv, people.toml and people.release, where these are known:

    import numpy as np, understudy as us
    from fractions import Fraction
"""

from __future__ import annotations

EXAMPLES = {
    "Release.sample_spark": """
>>> release = us.load("people.release")
>>> people = release.sample_spark(spark, rows=10_000_000, seed=1)  # doctest: +SKIP
>>> people.write.parquet("synthetic")  # a session makes each part where it is written  # doctest: +SKIP
""",
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
    "Curator.distances": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), budget=us.Budget(1.0, 1e-9))
>>> losses = curator.commit([us.Group("check", "measure", Fraction(1), role=us.Role.CHECK)])
>>> even = lambda clique: np.full(curator.domain.shape(clique), 300 / curator.domain.size(clique))
>>> off = curator.distances([[("sex",)], [("sex", "age")]], even, losses["check"])  # two sets of cliques
>>> off.values.shape, off.stddev.shape  # records, with noise, and the noise's standard deviation
((2,), (2,))
""",
    "Curator.histogram": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), budget=us.Budget(1.0, 1e-9))
>>> losses = curator.commit([us.Group("cells", "laplace", Fraction(1))])
>>> cells = curator.histogram("sex", losses["cells"], threshold=30)  # those with a noisy count of 30 or more
""",
    "Curator.discover": """
>>> class Visits:  # an engine that can count values; `us.fit` has one for columns with discover = true
...     domain = us.Domain({"sex": 2})
...     def count_values(self, column):
...         return {"Salem": 90_000, "Keene": 3}
>>> curator = us.Curator(Visits(), budget=us.Budget(1.0, 1e-9))
>>> curator.discover("city", us.Budget(0.5, 1e-10)).values  # so rare a value is never named
('Salem',)
""",
    "Curator.unit_sizes": """
>>> class Visits:  # an engine that can count units; `us.fit` has one where a unit has no bound
...     domain = us.Domain({"sex": 2})
...     def count_units(self):
...         return {1: 50_000, 2: 9_000, 7: 30}
>>> curator = us.Curator(Visits(), budget=us.Budget(1.0, 1e-9))
>>> sizes = curator.unit_sizes([1, 2, 4], us.Budget(0.1, 1e-10))
>>> sizes.starts  # units with 1 record, with 2 or 3, with 4 or more: in sizes.units, with noise
(1, 2, 4)
""",
    "Curator.bounded": """
>>> table = us.table("people.csv", "people.toml")  # the same records, two of each unit at most
>>> curator = us.Curator(table, budget=us.Budget(1.0, 1e-9))
>>> curator.bounded(table, 2).neighbours.records
2
""",
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
    "Curator.commit": """
>>> curator = us.Curator(us.table("people.csv", "people.toml"), us.Budget(1.0, 1e-9))
>>> losses = curator.commit([us.Group("alone", "measure", Fraction(1), weights=(1, 1))])
>>> [measured.clique for measured in curator.measure(["sex", "age"], budget=losses["alone"])]
[('sex',), ('age',)]
""",
    "Forecast": """
>>> found = us.plan("people.toml", rows=300, epsilon=1.0, delta=1e-9)
>>> found.fits, found.columns
(True, 2)
""",
    "MisfitWarning": """
>>> import warnings
>>> warnings.simplefilter("error", us.MisfitWarning)  # a run whose schema does not fit its table stops
""",
    "Comparison": """
>>> synthetic = us.load("people.release").with_kind("arrow").sample(300, seed=1)
>>> found = us.evaluate("people.csv", synthetic, "people.toml")
>>> sorted(gap.clique for gap in found.columns)
[('age',), ('sex',)]
""",
    "Audit": """
>>> found = us.audit("independent", epsilon=1.0, delta=1e-9, runs=100, target="twin")
>>> found.holds, found.proved <= found.ceiling <= found.epsilon
(True, True)
""",
    "UnderstudyError": """
>>> try:
...     us.plan("people.toml", epsilon=0, delta=1e-9)
... except us.UnderstudyError as error:
...     print(type(error).__name__, error.exit_code)
BudgetError 2
""",
    "Release": """
>>> release = us.load("people.release")
>>> release.certificate["epsilon"], release.private, release.cliques
(1.0, True, [('sex',), ('age',)])
""",
    "ExpectedErrors": """
>>> errors = us.load("people.release").expected_error()
>>> 0 <= errors.pairs.low <= errors.pairs.value <= errors.pairs.high
True
""",
    "QueryAnswers": """
>>> answers = us.load("people.release").query("count", by="sex")
>>> [values for values, estimate in answers]
[('F',), ('M',)]
""",
    "Regression": """
>>> found = us.load("people.release").regress("age", on="sex")
>>> found["sex = M"].low <= found["sex = M"].value <= found["sex = M"].high
True
""",
    "Estimate": """
>>> women = us.load("people.release").query("share", where="sex = 'F'")
>>> women.low <= women.value <= women.high
True
""",
    "Verdict": """
>>> verdict = us.load("people.release").verify()
>>> verdict.holds, verdict.epsilon <= verdict.claimed_epsilon
(True, True)
""",
    "Column": """
>>> age = us.Integer(0, 99, missing=("?",), outside="missing", description="in years")
>>> isinstance(age, us.Column), age.size  # 100 values, and a slot for missing ones
(True, 101)
""",
    "Category": """
>>> us.Category(("north", "south")).unlearned
()
>>> us.Category(discover=True).unlearned  # the frequent values are learned privately
('values',)
""",
    "Integer": """
>>> us.Integer(0, 119, bins=12).value_labels()[:2]
['0 to 9', '10 to 19']
""",
    "Number": """
>>> us.Number(0, 1000, bins=10, precision=0.01, special=(0,)).count  # ten bins, and zero
11
""",
    "Boolean": """
>>> us.Boolean(format=("yes", "no")).count  # code 0 is no, code 1 is yes
2
""",
    "Date": """
>>> from datetime import date
>>> us.Date(date(2020, 1, 1), date(2025, 12, 31), every="month").count
72
""",
    "Datetime": """
>>> from datetime import datetime
>>> us.Datetime(datetime(2026, 1, 1), datetime(2026, 1, 2, 23), every="hour").count
48
""",
    "Time": """
>>> us.Time(every="hour").count
24
""",
    "Id": """
>>> us.Id(pattern=r"PT-\\d{6}").keys  # so many there are
1000000
""",
    "Fake": """
>>> us.Fake("name", locale="de_DE").kind
'name'
""",
    "Workload": """
>>> us.Workload(order=2, target="income").cliques(us.Domain({"age": 9, "sex": 2, "income": 5}))
{('age', 'income'): 1.0, ('sex', 'income'): 1.0}
""",
    "Mechanism": """
>>> def names(mechanism: us.Mechanism, domain: us.Domain) -> list[str]:
...     return [group.name for group in mechanism.plan(domain)]
>>> names(us.Independent(), us.Domain({"sex": 2, "age": 10}))
['one-way']
""",
    "Fit": """
>>> table = us.table("people.csv", "people.toml")
>>> fitted = us.Independent()(us.Curator(table, us.Budget(1.0, 1e-9)), table.domain, us.Budget(1.0, 1e-9))
>>> isinstance(fitted, us.Fit), len(fitted.measurements)
(True, 2)
""",
    "Generator": """
>>> generator: us.Generator = us.load("people.release").field
>>> generator.domain.names
('sex', 'age')
""",
    "Compression": """
>>> us.Compression.none(us.Domain({"sex": 2, "age": 10})).sizes
{'sex': 2, 'age': 10}
""",
    "MechanismKind": """
>>> kind = us.MechanismKind("alone", "understudy.mechanisms.independent:Independent", "every column alone")
>>> kind.make().name
'independent'
""",
    "Setting": """
>>> forced = us.Setting("clique", "forced", "cliques", "pairs that are always measured")
>>> kind = us.MechanismKind("mine", "understudy.mechanisms.mst:MST", "MST, told of pairs", settings=(forced,))
>>> kind.make(clique=[("sex", "age")]).forced
((('sex', 'age'), 1.0),)
""",
    "Budget": """
>>> us.Budget(epsilon=1.0, delta=1e-9).epsilon
1.0
""",
    "Neighbours": """
>>> us.Neighbours("add-remove", records=4).l1  # one person moves a marginal by four records
4
""",
    "Group": """
>>> us.Group("pairs", "choose", Fraction(1, 2), count=3).role.name
'CANDIDATES'
""",
    "Role": """
>>> us.Role.ONE_WAY.value
'one-way'
""",
    "Gaussian": """
>>> loss = us.Gaussian(sigma=10.0, weights=(1.0, 1.0))
>>> round(loss.rho, 6), [round(scale, 2) for scale in loss.scales]
(0.005, [14.14, 14.14])
""",
    "Choice": """
>>> us.Choice(epsilon=0.5, count=2).rho  # epsilon^2 / 8 a draw
0.0625
""",
    "Laplace": """
>>> us.Laplace(epsilon=0.5).epsilon
0.5
""",
    "Counter": """
>>> engine: us.Counter = us.table("people.csv", "people.toml")
>>> (marginal,) = engine.count([("sex",)])  # exact: only a curator adds noise
>>> marginal.counts.tolist()
[150, 150, 0]
""",
    "Table": """
>>> table = us.Table({"sex": 2, "age": 3}, {"sex": [0, 1, 1], "age": [2, 2, 0]})
>>> table.count([("sex", "age")])[0].counts.tolist()
[[0, 0, 1], [1, 0, 1]]
""",
    "Domain": """
>>> domain = us.Domain({"sex": 2, "age": 100})
>>> domain.size(("sex", "age")), domain.shape(("age", "sex"))
(200, (100, 2))
""",
    "Marginal": """
>>> us.Marginal(("sex", "age"), np.array([[1, 2], [3, 4]])).project("sex").counts.tolist()
[3, 7]
""",
    "Measurement": """
>>> us.Measurement(("sex",), [52, 47], stddev=3.0).values.tolist()
[52.0, 47.0]
""",
    "Field": """
>>> field = us.estimate(us.Domain({"sex": 2}), [us.Measurement("sex", [30, 70], stddev=1.0)])
>>> round(field.total), len(field.domain)
(100, 1)
""",
    "Field.marginal": """
>>> field = us.estimate(us.Domain({"sex": 2}), [us.Measurement("sex", [30, 70], stddev=1.0)])
>>> field.marginal("sex").counts.round().tolist()
[30.0, 70.0]
""",
    "Field.probability": """
>>> field = us.estimate(us.Domain({"sex": 2}), [us.Measurement("sex", [30, 70], stddev=1.0)])
>>> round(field.probability({"sex": 1}), 3)
0.7
""",
    "Field.conditional": """
>>> counts = us.Measurement(("sex", "owns"), [[30, 10], [20, 40]], stddev=1.0)
>>> field = us.estimate(us.Domain({"sex": 2, "owns": 2}), [counts])
>>> field.conditional("owns", {"sex": 0}).values.round(2).tolist()
[0.75, 0.25]
""",
    "Field.sample": """
>>> field = us.estimate(us.Domain({"sex": 2}), [us.Measurement("sex", [30, 70], stddev=1.0)])
>>> int(field.sample(10, seed=1)["sex"].sum())  # of ten records seven have code 1
7
""",
}

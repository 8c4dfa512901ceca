"""The prose of docs/contest.md: what the tables can and cannot say."""

from __future__ import annotations

INTRODUCTION = """
# The contest, reproduced

The paper's claim is a ranking: on the third match of the 2018 NIST contest, NIST-MST and MST come before DPSyn,
PrivBayes, field groups (Gardn999) and a GAN (UCLANESL), on three metrics. This page is written by one command:

```sh
make contest
```

It installs PyTorch for the GAN, plays every system several times at epsilon 0.3, 1 and 8 on two data sets, keeps each
finished cell under `build/contest` (an interrupted run goes on where it stopped; cells of other code are not taken),
and writes this page and its pictures. `python -m benchmarks.contest --systems MST DPSyn --runs 1` plays some of it,
`--quick` takes a few thousand records for a look.

*Understudy's default* is no system of the paper's: what `us.fit` does when nothing is said. It gets the same columns
after the same transforms, and neither the forced marginals and weights that were chosen for the score nor the public
table. `python -m benchmarks.contest --systems "Understudy's default" --add` plays it alone and puts its rows into the
page that is there; the checks below are of the paper's systems.
"""

ANALOGOUS = """
**Reproduced exactly**: the rules. The three metrics as they were scored, the contest's columns with their
documented codes, epsilon and delta, add-or-remove-one-record neighbours, the sizes of the three states, the
entry's transforms, forced marginals, weights, merging threshold and selection algorithm.

**Only analogous**: the records. The census of 1940 that was scored cannot be shipped, so a simulator stands in
for it (`understudy_contest.census1940`), written from the published documentation and never from records. Its
states differ as real ones do, but no frequency is the real one, so the figures beside the paper's are not meant
to be equal: the order of the systems and the ratios between them are what can be compared. The second data set
has real records of another survey, coarser columns (PUMA stands for the city, INCWAGE has 22 codes), fewer
records (about 75,000 in each held-out part) and 181 places to rank rather than a handful, so there the income
metric is far harder.
"""

DIFFERS = """
**What differs from the paper and from the entries**

- Every system but the GAN asks the same curator and is charged by the same exact accountant, so all have less
  noise at the same epsilon than they had in 2018. Only "as submitted" keeps the noise it had.
- NIST-MST and MST pull noisy tables towards simpler ones before the fit, and MST's choice takes off a pair's misfit
  what noise in its one-way estimates makes of it. The paper does neither; `shrink=False` and `sharpen=False` are the
  paper to the letter.
- NIST-MST decides what to measure before it touches the private records, on the public table with its own rare
  codes merged; the entry did so after merging the private codes. The forced marginals are measured cell by
  cell, as the paper says; the entry binned the wage in two of them.
- A state's own counties, cities and areas are taken as public, as in the entry's code.
- DPSyn is PrivSyn with the entry's numbers: 190 pairs for 98 columns, codes below 4.5 standard deviations or 800
  records merged (0.3% of the public records on the smaller data), records moved 100 times at most. How the entry
  chose its pairs is not known: here they are a spanning tree of the public table and the pairs that a model of this
  tree gets most wrong there. The entry measured INCWAGE, ENUMDIST and (INCWAGE, SEX, CITY) with Laplace noise at
  set shares of epsilon; here the forced triple is measured with the pairs, weighted as in NIST-MST, which under
  exact accounting is the better bargain.
- PrivBayes is the published algorithm, since the entry's code is not public. It is told nothing of the metrics,
  so its income error is that of a system that was not made for the contest.
- Field groups (Gardn999) are found on the public table, for the noise that as many groups as the entry had would get;
  the entry's 39 were made by hand.
- UCLANESL is a DP-WGAN that needs PyTorch, reads the records itself and has an accountant of its own. It differs from
  the entry in what noise asks for: large batches and a slow generator, settled on the public tables
  (`python -m benchmarks.contest.networks settle`) at each epsilon. Its networks are trained on a GPU, in under a
  minute each (`python -m benchmarks.contest.networks train`), and scored here. The entry did better on the census.
  Where PyTorch is not installed it is listed as not run.
- The best tree is found and measured with codes below 0.05% merged. The paper does not say how it treated rare
  codes.

**Where NIST-MST and MST lie further apart than 0.01**, it is at the smaller epsilons of the census, and NIST-MST is
the better. It spends nothing on its selection, so what both measure has less noise, and it has triangles besides
the tree. On the income metric two cities that change places cost 0.08 or 0.15 of one table's error, so a mean of
ten runs still moves by 0.01.

**How choices were made.** The simulator's states are drawn here with a seed that nothing was settled on: what
recipes leave open (how DPSyn's pairs and the field groups are found, MST's sharpening) was settled with another
seed, but the states' own parameters, among them how far apart cities' pay gaps are, were settled with the held-out
states in sight. Of the second data set there is only one: its held-out years were looked at while the systems were
built, its first year is public because it comes first.
"""

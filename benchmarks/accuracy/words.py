"""The prose of docs/accuracy.md: what the tables can and cannot say."""

from __future__ import annotations

INTRODUCTION = """
# Accuracy

How close synthetic records come to the real ones: mean total variation distance between the frequency tables of
sampled records and of real ones, over **all pairs** of columns and over **200 seeded triples** (pairs / triples
below; 0 is perfect, 1 is no overlap). delta is 1e-9 throughout, neighbours differ by one record added or removed.
This page is written by one command:

```sh
make accuracy
```

It plays every system on every data set beside the checkout (`../shared/data`) at epsilon 0.1, 1 and 10, keeps each
finished cell under `build/accuracy` (an interrupted run goes on where it stopped; a cell of ours is played again when
a file that played it has changed), and writes this page and its pictures. `python -m benchmarks.accuracy --sets adult
--systems adaptive mst --runs 2` plays some of it and prints a table; `--small` adds subsamples of 100, 300 and 1,000
records; `--page` writes the page from what is kept, and plays nothing. Peers take hours: `--peers` plays those cells
that `benchmarks/accuracy/peers.jsonl` does not hold yet.
"""

RULES = """
**The same for all.** Every system is given the same integer codes and the same public domain: how many codes each
column has, and nothing of their order or meaning. Ours run through `fit` and `sample`, as a person would, with seeded
noise so that a cell can be repeated; their time is from records in memory to synthetic records, in a process that may
have played another run before. A peer's time is from file to file in a fresh process. A synthetic value that the real
records never have counts as wrong. *resampled* are real records drawn again with replacement, which no table of that
size need beat; *columns-exact* are columns drawn on their own without noise. Neither is private.

**What was settled on what.** Constants of the default were settled on adult, nltcs, titanic, salary, national2019 and
ma2019; temporal-match2, stroke and wide98 were not looked at for it. Records follow the model in every pair of
columns (`release.sample`), unless they are too many for that to be done in time, as those of wide98 are.
"""

PEERS = """
**How peers were run.** Each as it comes, with its own defaults, in an environment of its own. mbi's package has the
estimator and not the mechanisms: MST and AIM on it are written here from their papers (`benchmarks/rivals`), AIM for
all pairs of up to 10,000 cells and models of up to 80 MB, which are its authors' defaults. dpmm and smartnoise-synth
have MST and AIM with the same limits. OpenDP's are its contingency tables with public keys, records drawn i.i.d.;
rounding makes it refuse some splits of the budget between choosing and measuring, its usual one among them, so the
first of eight that it accepts is taken, and where it refuses all the cell fails. smartnoise-synth is told every
column's codes, so it spends nothing on them. Budgets of those that account by zero-concentrated privacy are converted
by the usual bound. A peer is stopped when it had its limit by the clock and, on a busy machine, as much of a
processor, or three times its limit by the clock.
"""

SCORE = """
NIST's k-marginal score is 1000 times one minus the mean total variation of triples, so 1000 is perfect. The columns
of national2019 are NIST's reduced feature set of demographics (age, race, marital status, sex, housing, tenure,
veteran's and vision disability), ages in the ten-year bins that it suggests. ma2019 has all 24 columns, numbers in 64
bins.
"""

SURVEY = """
The same 7,634 people of ma2019 with a drafted schema and no rule declared, at epsilon 1
(`python -m benchmarks.survey 8`; its noise is the operating system's, so figures differ from call to call). Nobody
under 15 has an income or a marital status there. Of those that the default made, 1.8% had an income in the mean of
8 runs (11.0% in one, 1.8% at most in the others) and 0.6% were or had been married (1.6% at most); with both rules
declared, none.
The 3-marginal score was 684.7; columns on their own without noise score 631.9.
"""

UNSEEN = """
Sets of R's packages that nothing was settled on, numbers in 32 bins, one run each (movies of ggplot2movies, 58,788
films; lending_club and credit_data of modeldata, 9,857 loans and 4,454; bfi of psych, 2,800 people). They are not
beside the repository; `python -m benchmarks.accuracy --sets movies` plays any that lies in `data/movies` as the
others do.

| pairs / triples | epsilon | adaptive | mst | privsyn | independent |
|:--|--:|--:|--:|--:|--:|
| movies, 23 columns | 0.1 | .0526 / .0890 | .0708 / .1235 | .0733 / .1169 | .0782 / .1407 |
|  | 1 | .0164 / .0384 | .0484 / .0985 | .0175 / .0395 | .0676 / .1305 |
|  | 10 | .0063 / .0199 | .0460 / .0961 | .0076 / .0231 | .0671 / .1301 |
| lending_club, 23 columns | 0.1 | .2129 / .3310 | .2711 / .4019 | .4661 / .6137 | .2125 / .3327 |
|  | 1 | .0636 / .1481 | .0710 / .1573 | .1273 / .2533 | .0857 / .1995 |
|  | 10 | .0337 / .1110 | .0463 / .1305 | .0638 / .1739 | .0752 / .1913 |
| credit_data, 14 columns | 0.1 | .2777 / .4011 | .4068 / .5540 | .4762 / .6120 | .3034 / .4281 |
|  | 1 | .0875 / .1761 | .0990 / .1919 | .1486 / .2593 | .1004 / .2062 |
|  | 10 | .0369 / .1094 | .0586 / .1461 | .0599 / .1533 | .0859 / .1942 |
| bfi, 28 columns | 0.1 | .2993 / .4178 | .3977 / .5251 | .6062 / .7510 | .3068 / .4282 |
|  | 1 | .1082 / .2057 | .1149 / .2192 | .1711 / .2974 | .1103 / .2232 |
|  | 10 | .0556 / .1454 | .0778 / .1749 |  | .0973 / .2098 |
"""

"""Where the simulated people live: quarters, families, tenure, rents and values."""

from __future__ import annotations

import numpy as np

from understudy_contest.census1940.chance import Floats, Ints, crossed, log_linear, scattered, zipf
from understudy_contest.census1940.draft import Draft

NOT_APPLICABLE_VALUE, UNKNOWN_VALUE = 9_999_999, 9_999_998
NO_RENT, UNKNOWN_RENT = 0, 9_998
QUARTERS = {  # detailed types by the generic one, most frequent first
    2: (211, 221, 212, 230, 240),
    3: (300,),
    4: (472, 481, 411, 432, 441, 451, 461, 413, 482, 495),
    6: (601, 602, 604),
    7: (700,),
    8: (802, 801, 803, 804),
    9: (922, 921, 943, 944, 945, 941, 932, 911, 914, 948, 950),
}
FUNDS = {
    2: (13, 14, 11),
    3: (13, 14),
    4: (14, 13, 23, 21),
    6: (11,),
    7: (13, 21, 23),
    8: (22, 21),
    9: (22, 23, 21, 11),
}


def draw_homes(draft: Draft) -> None:
    """Set the columns that describe households."""
    for step in (_quarters, _family, _farm, _tenure, _respondent):
        step(draft)


def _quarters(draft: Draft) -> None:
    chance, age, count = draft.chance, draft["AGE"], len(draft)
    single = (draft["MARST"] >= 3).astype(np.int64)
    stage = np.digitize(age, [17, 24, 45, 65])
    male = (draft["SEX"] == 1).astype(np.int64)
    table = log_linear(
        [0.962, 0.008, 0.012, 0.018],
        ([-1.3, 1.3], np.array([0, 0.6, 1, 1])),
        ([-1.5, 0.6, 0.2, 0.1, 0.5], np.array([0, 0.3, 0.8, 1])),
        ([-0.4, 0.3], np.array([0, 0.2, 0.6, 1])),
    )
    quarters = 1 + chance.pick_by(crossed((single, 2), (stage, 5), (male, 2)), table)
    draft["GQ"] = quarters
    grouped = np.flatnonzero(quarters >= 3)
    institution = quarters[grouped] == 3
    tilt = np.stack(
        [
            np.array([3, 5, 2]),
            np.array([4, 4, 3]),
            np.array([3, 4, 4]),
            np.array([3, 3, 4]),
            np.array([0.4, 2, 8]),
        ]
    )
    types = np.array([2, 3, 4])[chance.pick_by(stage[grouped], tilt)]
    lodging = np.array(
        [[0.1, 0.6, 1.5, 3], [1, 4, 3, 2], [1.4, 0.4, 5, 3], [0.4, 0.1, 6, 3], [0.1, 0.1, 7, 2]]
    )
    others = np.array([6, 7, 8, 9])[chance.pick_by(stage[grouped], lodging)]
    types = np.where(institution, types, others)
    detailed, funds = _types(draft, types)
    draft.split("GQTYPED", "GQTYPE", scattered(count, grouped, detailed, 0), 100)
    draft["GQFUNDS"] = scattered(count, grouped, funds, 0)
    large = chance.coin(np.where(np.isin(types, (2, 3, 6, 7)), 0.7, 0.2))
    draft["SPLIT"] = scattered(count, grouped, large, 0)


def _types(draft: Draft, types: Ints) -> tuple[Ints, Ints]:
    detailed, funds = np.zeros(len(types), np.int64), np.zeros(len(types), np.int64)
    for code, choices in QUARTERS.items():
        who = np.flatnonzero(types == code)
        detailed[who] = np.array(choices)[draft.chance.pick(zipf(len(choices), 1.1), len(who))]
        row = detailed[who] % len(FUNDS[code])
        table = np.stack([np.roll(zipf(len(FUNDS[code]), 2.0), r) for r in range(len(FUNDS[code]))])
        funds[who] = np.array(FUNDS[code])[draft.chance.pick_by(row, table)]
    return detailed, funds


def _family(draft: Draft) -> None:
    chance, age, count = draft.chance, draft["AGE"], len(draft)
    married = draft["MARST"] == 1
    mean = np.where(age < 18, 4.6 + 0.03 * age, np.where(married, 3.6, 2.6))
    mean = (
        mean
        + np.where(married, -np.abs(age - 38) / 16 + 0.8, 0)
        + 0.7 * (draft.kind == 3)
        - 0.5 * (draft.kind == 0)
    )
    mean = mean + 1.2 * (draft["HISPAN"] > 0) - np.where((age > 55) & ~married, 1.0, 0)
    floor = np.where(married | (age < 15), 2, 1)
    size = floor + np.minimum(chance.generator.poisson(np.maximum(mean - floor, 0.15)), 19)
    alone = (draft["GQ"] >= 3) | (~married & (age >= 18) & chance.coin(0.18, count))
    draft["FAMSIZE"] = np.where(alone, 1, np.minimum(size, 21))
    wedded = np.isin(draft["MARST"], (1, 2, 3, 4, 5)) & (age >= 15) & (age < 52) & (draft["FAMSIZE"] > 1)
    who = np.flatnonzero(wedded & (married | (draft["SEX"] == 2)))
    spare = np.maximum(draft["FAMSIZE"][who] - 1 - married[who], 0)
    fertile = 1.15 * np.exp(-(((age[who] - 28) / 8.5) ** 2) / 2) * np.minimum(spare, 4) / 2.2
    young = np.minimum(np.minimum(chance.generator.poisson(fertile), spare), 6)
    draft["NCHLT5"] = scattered(count, who, young, 0)
    _marriages(draft, np.flatnonzero(draft.sampled & (draft["MARST"] <= 5)))


def _marriages(draft: Draft, who: Ints) -> None:
    chance, age, count = draft.chance, draft["AGE"][who], len(draft)
    times = 1 + chance.pick_by((age >= 45).astype(np.int64), [[92, 7, 0.8, 0.1], [84, 14, 1.7, 0.2]])
    draft["MARRNO"] = scattered(count, who, np.where(chance.coin(0.02, len(who)), 7, times), 0)
    wives = np.flatnonzero(draft["SEX"][who] == 2)
    first = np.rint(np.clip(21.5 + 4.2 * chance.normal(len(wives)), 13, 60)).astype(np.int64)
    first = np.minimum(first, np.maximum(age[wives], 13))
    draft["AGEMARR"] = scattered(count, who[wives], first, 0)
    years = np.clip(np.minimum(age[wives], 46) - first, 0, 30)
    born = chance.generator.poisson(0.16 * years * (1 + 0.4 * (draft.kind[who[wives]] == 3)))
    born = np.where(chance.coin(0.13, len(wives)), 0, born)
    draft["CHBORN"] = scattered(count, who[wives], 1 + np.minimum(born, 18), 0)


def _farm(draft: Draft) -> None:
    share = np.array([0.002, 0.03, 0.18, 0.86])[draft.kind]
    draft["FARM"] = 1 + (draft.chance.coin(share) & (draft["GQ"] < 3))


def _tenure(draft: Draft) -> None:
    chance, count = draft.chance, len(draft)
    housed = draft["GQ"] < 3
    odds = -0.35 + 0.45 * draft.wealth + 0.3 * (draft["FARM"] == 2) + 0.25 * (draft["URBAN"] == 1)
    odds = odds + np.where(draft["AGE"] >= 20, 0.032 * (draft["AGE"] - 40), 0) - 0.35 * (draft["HISPAN"] > 0)
    owned = chance.coin(1 / (1 + np.exp(-odds)))
    draft.split("OWNERSHPD", "OWNERSHP", np.where(housed, np.where(owned, 10, 20), 0), 10)
    quality = 0.55 * draft.wealth + 0.25 * (draft.kind == 0) - 0.25 * (draft.kind >= 2)
    quality = quality - 0.6 * (draft["HISPAN"] > 0) + 0.55 * chance.normal(count)
    rented, homes = np.flatnonzero(housed & ~owned), np.flatnonzero(housed & owned)
    draft["RENT"] = scattered(count, rented, _rents(draft, quality[rented]), NO_RENT)
    draft["VALUEH"] = scattered(count, homes, _values(draft, quality[homes]), NOT_APPLICABLE_VALUE)


def _rents(draft: Draft, quality: Floats) -> Ints:
    chance, count = draft.chance, len(quality)
    dollars = 15.5 * draft.state.value * np.exp(quality)
    # Rents were quoted in round sums: mostly whole fives, else even dollars, else any.
    unit = np.array([5, 10, 1, 2])[chance.pick([0.58, 0.12, 0.22, 0.08], count)]
    rent = np.maximum(np.rint(dollars / unit) * unit, unit).astype(np.int64)
    rent = np.minimum(rent, 900)
    return np.where(chance.coin(0.018, count), UNKNOWN_RENT, rent)


def _values(draft: Draft, quality: Floats) -> Ints:
    chance, count = draft.chance, len(quality)
    dollars = 1_650 * draft.state.value * np.exp(1.15 * quality)
    unit = np.array([500, 1000, 100, 50, 25, 5])[chance.pick([0.46, 0.14, 0.3, 0.07, 0.02, 0.01], count)]
    value = np.maximum(np.rint(dollars / unit) * unit, np.minimum(unit, 100)).astype(np.int64)
    dear = chance.coin(0.004, count)
    value = np.where(dear, value + 25_000, np.minimum(value, 25_000))
    return np.where(chance.coin(0.025, count), UNKNOWN_VALUE, value)


def _respondent(draft: Draft) -> None:
    chance, age = draft.chance, draft["AGE"]
    adult = np.digitize(age, [16, 22, 65])
    married = (draft["MARST"] == 1).astype(np.int64)
    table = log_linear(
        [0.28, 0.5, 0.22],
        ([-4.0, -1.4, 0.4, 0.2], np.array([0, 0, 1.0])),
        ([-0.6, 0.5], np.array([0, 0, 1.0])),
        ([-0.7, 0.7], np.array([0, 0, 1.0])),
    )
    draft["RESPONDT"] = chance.pick_by(crossed((adult, 4), (married, 2), (draft["SEX"] - 1, 2)), table)

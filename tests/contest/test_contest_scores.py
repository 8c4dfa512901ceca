"""The contest's three metrics against values worked by hand on small tables."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from understudy.data import Table
from understudy.errors import FileError, ParameterError
from understudy.evaluation.columns import Codebook, read_columns
from understudy.evaluation.contest.conjunctions import (
    conjunction_error,
    conjunction_shares,
    draw_conjunctions,
)
from understudy.evaluation.contest.contest_tests import ContestTests
from understudy.evaluation.contest.income import City, Roles, cities, gini, income_error
from understudy.evaluation.contest.triples import draw_triples, triple_errors
from understudy.evaluation.distance import PairedTables
from understudy_contest.contest_scores import ContestScores, Scorer, score

TRUE = {
    "A": np.array([0, 0, 1, 1]),
    "B": np.array([0, 1, 0, 1]),
    "C": np.array([0, 0, 0, 2]),
}


def drawn_tests(triples=(), conjunctions=(), largest=None):
    return ContestTests(largest or {"A": 1, "B": 1, "C": 2}, tuple(triples), tuple(conjunctions))


def test_a_triple_costs_half_the_l1_distance_of_its_frequencies():
    synthetic = {"A": [0, 0], "B": [0, 1], "C": [0, 1]}
    # cells:      000   010   011   100   112
    # true        1/4   1/4    0    1/4   1/4
    # synthetic   1/2    0    1/2    0     0
    # L1 = 1/4 + 1/4 + 1/2 + 1/4 + 1/4 = 3/2, half of it 3/4
    columns = read_columns(synthetic, "it")
    assert triple_errors(TRUE, columns, [("A", "B", "C")]) == pytest.approx([0.75])


def test_a_value_outside_the_domain_never_matches_not_even_itself():
    # The synthetic table copies the true one, but three of its four records are spoilt.
    spoilt = {"A": [0, -3, 1, 1], "B": [0, 1, float("nan"), 1], "C": [0, 0, 0, 7]}
    # L1 = 0 + 3 * 1/4 (true cells unmet) + 3 * 1/4 (spoilt records) = 3/2
    columns = read_columns(spoilt, "it")
    assert triple_errors(TRUE, columns, [("A", "B", "C")]) == pytest.approx([0.75])


def test_a_code_above_the_largest_matches_nothing_even_when_a_conjunction_would_accept_it():
    tests = drawn_tests([("A", "B", "C")], [{"C": (0, 1, 2)}])
    roles = Roles(sex="A", city="B", wage="C", wage_missing=3, male=0, female=1)
    above = {**TRUE, "C": np.array([0, 0, 0, 3], np.uint16)}
    found = score(TRUE, above, tests, roles)
    assert found.triples == pytest.approx(0.25)  # one record of four lost on both sides, halved
    assert found.conjunctions == pytest.approx(-math.log(3 / 4) / math.log(1000))


def test_dense_and_hashed_cells_agree_with_counting_by_dictionary():
    randomness = np.random.default_rng(5)
    wide = {k: randomness.integers(0, 3000, 4000) for k in "PQRST"}
    other = {
        k: np.where(randomness.random(4000) < 0.9, v, randomness.integers(-1, 3100, 4000))
        for k, v in wide.items()
    }
    for clique in [("P",), ("P", "Q"), ("P", "Q", "R"), ("P", "Q", "R", "S", "T")]:
        mine, theirs = (
            list(zip(*(table[name].tolist() for name in clique), strict=True)) for table in (wide, other)
        )
        cells = set(mine) | set(theirs)
        counts = [{}, {}]
        for side, records in enumerate((mine, theirs)):
            for record in records:
                counts[side][record] = counts[side].get(record, 0) + 1
        by_hand = sum(abs(counts[0].get(c, 0) - counts[1].get(c, 0)) for c in cells) / 8000
        assert PairedTables.of(wide, other, clique).distances([clique])[0] == pytest.approx(by_hand)


def test_keys_beyond_64_bits_are_renumbered_rather_than_wrapped():
    n = 2000
    table = {f"c{i}": np.random.default_rng(i).permutation(n) for i in range(8)}  # 2000^8 > 2^87 cells
    clique = tuple(table)
    assert PairedTables.of(table, table, clique).distances([clique])[0] == 0.0
    moved = {**table, "c7": np.roll(table["c7"], 1)}
    assert PairedTables.of(table, moved, clique).distances([clique])[0] == 1.0


def test_conjunction_shares_count_records_that_satisfy_every_set():
    conjunctions = [{"A": (0,)}, {"A": (0, 1), "C": (0,)}, {"B": (1,), "C": (2,)}, {}]
    assert conjunction_shares(TRUE, conjunctions).tolist() == [0.5, 0.75, 0.25, 1.0]


def test_more_conjunctions_than_one_machine_word_holds_are_all_counted():
    randomness = np.random.default_rng(0)
    table = {name: randomness.integers(0, 9, 5000) for name in "ABCDEFGH"}
    drawn = draw_conjunctions(table, dict.fromkeys(table, 8), 300, randomness)
    expected = [
        np.mean(np.all([np.isin(table[k], v) for k, v in c.items()] or [np.ones(5000, bool)], axis=0))
        for c in drawn
    ]
    assert conjunction_shares(table, drawn) == pytest.approx(expected)
    assert len(drawn) == 300


def test_conjunction_error_is_the_rms_log_ratio_over_ln_1000():
    tests = drawn_tests([], [{"A": (0,)}, {"C": (2,)}])
    synthetic = {"A": [0, 1, 1, 1], "B": [0, 0, 0, 0], "C": [0, 0, 0, 0]}
    # p_true = 1/2, 1/4; p_syn = 1/4, 0 floored at 1e-6
    # d = ln(1/2), ln(4e-6); RMS = sqrt((0.6931^2 + 12.4292^2) / 2) = 8.8024; over ln 1000 = 6.9078: above 1
    roles = Roles(sex="A", city="B", wage="C", wage_missing=3, male=0, female=1)
    assert score(TRUE, synthetic, tests, roles).conjunctions == 1.0
    # with the first alone: ln 2 / ln 1000 = 0.100343
    first = drawn_tests([], [{"A": (0,)}])
    assert score(TRUE, synthetic, first, roles).conjunctions == pytest.approx(0.10034333)
    assert conjunction_error(np.array([0.3, -0.4])) == pytest.approx(math.sqrt(0.125) / math.log(1000))


def test_gini_follows_the_contests_formula():
    # wages 1, 2, 3: running sums 1, 3, 6, together 10; n * total = 18; 1 - 20/18 = -1/9
    assert gini(np.array([3, 1, 2])) == pytest.approx(-1 / 9)
    # wages 0, 0, 0, 8: running sums 0, 0, 0, 8; 1 - 16/32 = 1/2
    assert gini(np.array([8, 0, 0, 0])) == pytest.approx(0.5)
    # equal wages: running sums 5, 10; 1 - 30/20 = -1/2
    assert gini(np.array([5, 5])) == pytest.approx(-0.5)
    assert gini(np.array([])) == 1.0
    assert gini(np.array([0, 0])) == 1.0


INCOME = {
    "SEX": np.array([1, 2, 1, 2, 1, 1, 2]),
    "CITY": np.array([0, 0, 0, 10, 10, 20, 20]),
    "INCWAGE": np.array([300, 100, 999998, 200, 200, 999998, 50]),
}


def test_cities_are_ranked_by_pay_gap_and_an_absent_sex_counts_zero():
    found = cities(INCOME, Roles())
    # city 0: wages 100, 300: running 100, 400; 1 - 1000/800 = -1/4; gap 300 - 100 = 200
    # city 10: wages 200, 200: 1 - 1200/800 = -1/2; gap 0
    # city 20: wage 50: 1 - 100/50 = -1; gap 0 - 50
    assert found[0] == City(pytest.approx(-0.25), 200.0, 1)
    assert found[10] == City(pytest.approx(-0.5), 0.0, 2)
    assert found[20] == City(pytest.approx(-1.0), -50.0, 3)


def test_income_error_worked_by_hand():
    synthetic = {
        "SEX": np.array([1, 2, 1, 2]),
        "CITY": np.array([0, 0, 10, 10]),
        "INCWAGE": np.array([100, 300, 300, 100]),
    }
    # city 0: gini -1/4 (d 0), gap -200, rank 2 (d 1); city 10: gini -1/4 (d 1/4), gap 200, rank 1 (d 1);
    # city 20 is missing: 0 and 0.
    # s1 = 500000 sqrt((1 + 0.5625 + 0) / 3); s2 = 500000 sqrt((0.25 + 0.25 + 0) / 3)
    expected = 1 - (math.sqrt(1.5625 / 3) + math.sqrt(0.5 / 3)) / 2
    assert income_error(cities(INCOME, Roles()), cities(synthetic, Roles())) == pytest.approx(expected)


def test_a_city_without_wages_still_counts_and_one_the_truth_lacks_only_moves_ranks():
    true = {"SEX": np.array([1, 1]), "CITY": np.array([3, 4]), "INCWAGE": np.array([999998, 10])}
    found = cities(true, Roles())
    assert found[3] == City(1.0, 0.0, 2)
    assert found[4].rank == 1
    extra = {
        "SEX": np.array([1, 1, 1]),
        "CITY": np.array([3, 4, 99]),
        "INCWAGE": np.array([999998, 10, 5000]),
    }
    # ranks: 99 first, 4 second, 3 third: d = 1 for both, K - 1 = 1, so s2 = 0 and s1 is perfect
    assert income_error(found, cities(extra, Roles())) == pytest.approx(0.5)


def test_a_single_city_in_its_place_is_perfect():
    one = {"SEX": np.array([1, 2]), "CITY": np.array([0, 0]), "INCWAGE": np.array([10, 20])}
    assert income_error(cities(one, Roles()), cities(one, Roles())) == 0.0


def test_a_wage_or_city_that_is_not_a_code_is_left_out_of_the_income_metric():
    spoilt = {
        "SEX": np.append(INCOME["SEX"], [1, 1]),
        "CITY": np.append(INCOME["CITY"], [0, -1]),
        "INCWAGE": np.append(INCOME["INCWAGE"], [-5, 9000]),
    }
    assert cities(spoilt, Roles()) == cities(INCOME, Roles())


def test_a_copy_of_the_truth_scores_a_million():
    tests = ContestTests.draw(INCOME, 3)
    found = score(INCOME, INCOME, tests)
    assert (found.triples, found.conjunctions, found.income, found.overall) == (0, 0, 0, 0)
    assert found.scores["overall"] == 1_000_000
    assert ContestScores(0.12, 0.17, 0.10).overall == pytest.approx(0.13)
    assert "1,000,000" in str(found)


def test_the_same_seed_draws_the_same_tests_and_a_file_gives_them_back(tmp_path):
    tests = ContestTests.draw(INCOME, 11)
    assert tests == ContestTests.draw(INCOME, 11)
    assert tests != ContestTests.draw(INCOME, 12)
    tests.save(tmp_path / "tests.json")
    assert ContestTests.load(tmp_path / "tests.json") == tests


def test_tests_keep_to_the_contests_numbers():
    table = {f"c{i}": np.arange(40) % (i + 2) for i in range(12)}
    tests = ContestTests.draw(table, 0, largest={"c0": 50})
    assert len(tests.triples) == 100
    assert len(tests.conjunctions) == 40  # "up to 300 distinct rows": there are only 40
    assert tests.largest["c0"] == 50
    assert tests.largest["c5"] == 6
    assert all(len(set(triple)) == 3 for triple in tests.triples)
    assert any("c11" in triple for triple in tests.triples)
    official = ContestTests.draw(table, 0, never_last=True)
    assert not any("c11" in triple for triple in official.triples)


def test_about_a_tenth_of_the_columns_join_a_conjunction_and_sets_hold_the_rows_value():
    table = {f"c{i}": np.arange(500) % 7 for i in range(98)}
    drawn = draw_conjunctions(table, dict.fromkeys(table, 6), 300, np.random.default_rng(1))
    assert 0.09 < np.mean([len(c) for c in drawn]) / 98 < 0.11
    assert (conjunction_shares(table, drawn) > 0).all()


def test_other_roles_let_any_schema_be_scored():
    table = {"g": [0, 1, 0, 1], "PUMA": [0, 0, 5, 5], "pay": [1, 2, 3, 9], "x": [0, 0, 0, 0]}
    roles = Roles(sex="g", city="PUMA", wage="pay", wage_missing=9, male=0, female=1)
    assert score(table, table, ContestTests.draw(table, 0), roles).overall == 0


def test_tables_may_come_as_arrow_or_data_frames_with_missing_values():
    pandas = pytest.importorskip("pandas")
    arrow = pa.table({"a": pa.array([1, None, 3]), "b": pa.chunked_array([[0], [1, 2]])})
    assert [c.tolist() for c in read_columns(arrow, "it").values()] == [[1, -1, 3], [0, 1, 2]]
    frame = pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64"), "b": [0.0, 1.0, np.nan]})
    assert [c.tolist() for c in read_columns(frame, "it").values()] == [[1, -1, 3], [0, 1, -1]]
    odd = {"a": np.array([1, None, 2.5], object), "b": np.ma.array([1, 2, 3], mask=[0, 1, 0])}
    assert [c.tolist() for c in read_columns(odd, "it").values()] == [[1, -1, -1], [1, -1, 3]]
    huge = {"a": np.array([1, 2**64 - 1], np.uint64), "b": np.array([np.inf, -np.inf])}
    assert [c.tolist() for c in read_columns(huge, "it").values()] == [[1, -1], [-1, -1]]


def test_an_engines_table_is_scored_over_its_domain():
    table = Table({"A": 2, "B": 2, "C": 9}, TRUE)
    tests = ContestTests.draw(table, 0)
    assert tests.largest == {"A": 1, "B": 1, "C": 8}
    assert score(table, TRUE, tests, Roles("A", "B", "C", 9, 0, 1)).overall == 0


def test_real_microdata_can_be_scored_with_another_column_for_the_city():
    file = Path(__file__).parents[3] / "shared/data/temporal-match2/temporal-match2.csv"
    if not file.exists():
        pytest.skip("temporal-match2 is not beside the checkout")
    everyone = csv.read_csv(file)
    years = everyone.column("YEAR").to_numpy()
    first, second = (everyone.filter(pa.array(years == year)) for year in (0, 1))
    roles = Roles(city="PUMA", wage_missing=10**6, male=0, female=1)
    tests = ContestTests.draw(first, 1)
    found = score(first, second, tests, roles)
    assert 0 < found.triples < 0.6
    assert 0 < found.income < 0.5
    assert score(first, first, tests, roles).overall == 0


@pytest.mark.parametrize("largest", [5, 1 << 40])
def test_a_codebook_renumbers_what_it_lists_and_nothing_else(largest):
    book = Codebook.of(np.array([largest, 0, 3, 3]))
    assert book.encode(np.array([0, 1, 3, largest, -1, largest + 1])).tolist() == [0, 3, 1, 2, 3, 3]


def test_what_cannot_be_scored_is_refused_with_a_way_out(tmp_path):
    tests = ContestTests.draw(INCOME, 0)
    with pytest.raises(ParameterError, match="no column 'CITY'"):
        score(INCOME, {"SEX": [1], "INCWAGE": [2]}, tests)
    with pytest.raises(ParameterError, match="no records"):
        score(INCOME, {name: [] for name in INCOME}, tests)
    with pytest.raises(ParameterError, match="different lengths"):
        score(INCOME, {"SEX": [1], "CITY": [1, 2], "INCWAGE": [1]}, tests)
    with pytest.raises(ParameterError, match=r"text is not a code|not codes"):
        score(INCOME, {**INCOME, "SEX": ["m"] * 7}, tests)
    with pytest.raises(ParameterError, match="missing, negative"):
        ContestTests.draw({**INCOME, "SEX": [1, 2, -1, 1, 1, 1, 1]}, 0)
    with pytest.raises(ParameterError, match="exceed"):
        Scorer.of({**INCOME, "CITY": [0, 0, 0, 0, 0, 0, 9999]}, tests)
    with pytest.raises(ParameterError, match="another table"):
        score(TRUE, TRUE, drawn_tests([], [{"A": (0,), "C": (2,)}]), Roles("A", "B", "C", 3, 0, 1))
    with pytest.raises(ParameterError, match="triple needs 3"):
        draw_triples(["a", "b"], 1, np.random.default_rng(0))
    with pytest.raises(ParameterError, match="twice"):
        Roles(sex="CITY")
    with pytest.raises(FileError, match="cannot be read"):
        ContestTests.load(tmp_path / "none.json")
    for bad in [
        "[]",
        "{",
        json.dumps({"format": "x"}),
        '{"format": "understudy contest tests", "version": 1}',
    ]:
        (tmp_path / "bad.json").write_text(bad)
        with pytest.raises(FileError, match="does not hold contest tests"):
            ContestTests.load(tmp_path / "bad.json")

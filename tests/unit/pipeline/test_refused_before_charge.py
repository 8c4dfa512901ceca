"""What is no schema, no ledger, no mechanism or no seed is said in plain words, before anything is charged."""

import pytest

import understudy as us

TABLE = {"a": [0, 1] * 50}


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": -1},
        {"rows": 2.5},
        {"seed": -1},
        {"seed": "one"},
        {"seed": True},
        {"schema": {"a": us.Integer()}},
    ],
)
def test_what_synth_cannot_give_is_refused_before_the_charge(tmp_path, wrong):
    place = tmp_path / "ledger.db"
    with pytest.raises(us.UnderstudyError):
        us.synth(TABLE, epsilon=1.0, delta=1e-9, ledger=place, **wrong)
    assert not place.exists()


@pytest.mark.parametrize("wrong", [{"mechanism": 5}, {"ledger": 5}, {"schema": {"a": 1}}, {"schema": 5}])
def test_an_argument_of_another_kind_is_refused_with_a_way_out(tmp_path, wrong):
    place = tmp_path / "ledger.db"
    with pytest.raises(us.UnderstudyError, match="Hint"):
        us.fit(TABLE, **{"ledger": place, "epsilon": 1.0, "delta": 1e-9, **wrong})
    assert not place.exists()


def test_a_column_that_is_worked_out_is_named_as_such(tmp_path):
    columns = {name: us.Integer(0, 9) for name in ("a", "b", "both")}
    schema = us.Schema(columns, constraints=[us.Derived("both = a + b")])
    table = {"a": [1, 2] * 50, "b": [3, 4] * 50, "both": [4, 6] * 50}
    release = us.fit(table, schema, epsilon=1.0, delta=1e-9, ledger=tmp_path / "ledger.db")
    with pytest.raises(us.UnderstudyError, match="'both' is worked out"):
        release.sample(given={"both": [5]})
    with pytest.raises(us.UnderstudyError, match=r"worked out.*one of a, b"):
        release.sample(9, balance="both")


def test_a_draft_does_not_take_lists_for_empty_cells():
    assert "lists" in us.draft_schema({"a": [[1], [2]], "b": [1, 2]})["a"].comment


def test_columns_that_have_no_names_are_no_schema():
    with pytest.raises(us.UnderstudyError, match="by name"):
        us.Schema([us.Integer()])


def test_a_seed_that_is_none_is_refused_whatever_is_drawn(tmp_path):
    schema = us.Schema({"a": us.Integer(0, 1)})
    release = us.fit(TABLE, schema, epsilon=1.0, delta=1e-9, ledger=tmp_path / "ledger.db")
    with pytest.raises(us.UnderstudyError, match="seed"):
        release.sample(3, seed=-1)
    with pytest.raises(us.UnderstudyError, match="seed"):
        next(release.sample_chunks(3, seed="one"))

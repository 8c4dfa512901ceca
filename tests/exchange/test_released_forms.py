"""A release described for others: as a data set in Croissant, and as a card for the registry of deployments."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import understudy as us


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release and a table drawn from it."""
    place = tmp_path_factory.mktemp("release")
    rows = {"sex": ["F", "M"] * 200, "age": [20 + n % 60 for n in range(400)]}
    schema = us.Schema({"sex": us.Category(("F", "M")), "age": us.Integer(0, 99, bins=10)}, name="people")
    release = us.fit(
        rows, schema, epsilon=1.0, delta=1e-9, mechanism="independent", ledger=us.Ledger(place / "ledger.db")
    )
    release.save(place / "people.release")
    release.with_kind("pandas").sample(50, seed=1).to_csv(place / "synthetic.csv", index=False)
    return place


def test_a_card_says_what_the_certificate_says(folder: Path) -> None:
    release = us.load(folder / "people.release")
    card = us.export_release(folder / "people.release", "card")
    assert json.loads(json.dumps(card)) == card
    privacy = card["privacy"]
    assert (privacy["epsilon"], privacy["delta"], privacy["private"]) == (1.0, 1e-9, True)
    assert (
        privacy["unit"] == "one record"
        and privacy["neighbours"] == release.certificate["neighbours"]["relation"]
    )
    assert card["accounting"]["holds"] and card["accounting"]["epsilon_recomputed"] <= 1.0
    assert card["mechanism"]["name"] == "independent" and card["mechanism"]["primitives"]
    assert card["columns"] == ["sex", "age"] and card["utility"]["low"] <= card["utility"]["value"]


def test_croissant_lists_files_fields_and_provenance(folder: Path) -> None:
    said = us.export_release(folder / "people.release", "croissant", data=folder / "synthetic.csv")
    assert said["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert [file["@id"] for file in said["distribution"]] == ["people.release", "synthetic.csv"]
    assert [field["name"] for field in said["recordSet"][0]["field"]] == ["sex", "age"]
    assert {"prov:wasDerivedFrom", "prov:wasGeneratedBy", "prov:wasAttributedTo"} <= set(said)
    assert "epsilon 1.0" in said["description"] and str(folder) not in json.dumps(said)


def test_the_reference_library_reads_the_description_and_the_records(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pytest.importorskip("mlcroissant")
        said = us.export_release(folder / "people.release", "croissant", data=folder / "synthetic.csv")
        (folder / "croissant.json").write_text(json.dumps(said))
        dataset = library.Dataset(jsonld=str(folder / "croissant.json"))
        assert not dataset.metadata.ctx.issues.errors
        records = list(dataset.records(record_set="records"))
    assert len(records) == 50
    assert {record["records/sex"] for record in records} <= {b"F", b"M"}


def test_a_form_that_is_not_known_is_refused(folder: Path) -> None:
    with pytest.raises(us.UnderstudyError, match="no form"):
        us.export_release(folder / "people.release", "yaml")

"""A signed release is the one that its holder made: another key, or one changed byte, and it is refused."""

from __future__ import annotations

import hashlib
import json
import stat
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import understudy as us
from understudy.errors import FileError, OperatorError, ReleaseError, SignatureError
from understudy.pipeline import release_file
from understudy.pipeline.signature import BYTES, new_key
from understudy.privacy import Seeded

pytest.importorskip("cryptography")
SCHEMA = us.Schema.from_toml('[columns.y]\ntype = "boolean"\n')


def fitted(folder: Path, **more: object) -> us.Release:
    table = pa.table({"y": [True, False] * 50})
    settings = {"epsilon": 1.0, "delta": 1e-9, "mechanism": us.Independent(), "ledger": folder / "l.db"}
    return us.fit(table, SCHEMA, **settings, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("signed")
    new_key(place / "holder.key")
    new_key(place / "other.key")
    release = fitted(place)
    release.save(place / "plain.release")
    release.save(place / "signed.release", key=place / "holder.key")
    return place


def test_the_holders_key_opens_what_the_holder_signed(folder: Path) -> None:
    loaded = us.load(folder / "signed.release", key=folder / "holder.pub")
    assert loaded.verify().holds
    assert us.load(folder / "signed.release", key=folder / "holder.key").verify().holds
    assert us.load(folder / "signed.release").sample(9, seed=1).equals(loaded.sample(9, seed=1))


def test_another_key_does_not_open_what_the_holder_signed(folder: Path) -> None:
    with pytest.raises(SignatureError, match="not that of"):
        us.load(folder / "signed.release", key=folder / "other.pub")


def test_an_unsigned_release_opens_without_a_key_alone(folder: Path) -> None:
    assert us.load(folder / "plain.release").verify().holds
    with pytest.raises(SignatureError, match="not signed"):
        us.load(folder / "plain.release", key=folder / "holder.pub")


def test_every_changed_byte_is_told_although_the_file_was_sealed_again(folder: Path) -> None:
    whole = (folder / "signed.release").read_bytes()[: -release_file.DIGEST]
    forged = folder / "forged.release"
    for place in [*range(0, len(whole), 97), len(whole) - 1, len(whole) - BYTES]:
        body = bytearray(whole)
        body[place] ^= 1
        forged.write_bytes(bytes(body) + hashlib.sha256(body).digest())
        with pytest.raises(ReleaseError):
            us.load(forged, key=folder / "holder.pub")


def test_a_forged_certificate_that_holds_in_itself_is_told_by_its_signature(folder: Path) -> None:
    """Noise that is called larger everywhere: no arithmetic sees it, and the signature does."""
    content = release_file.read(folder / "signed.release")
    signed = (folder / "signed.release").read_bytes()[-release_file.DIGEST - BYTES : -release_file.DIGEST]
    sections = json.loads(json.dumps(content.sections))
    certificate = sections["certificate"]
    certificate.pop("statement")
    for said in (certificate, *certificate["parts"]):
        said["epsilon"] /= 5
    for charge in certificate["charges"]:
        charge["scales"] = [10 * scale for scale in charge["scales"]]
        charge["losses"][0]["sigma"] *= 10
    arrays = {name: array * 10 if "stddev" in name else array for name, array in content.arrays.items()}
    import numpy as np

    arrays["signature"] = np.frombuffer(signed, np.uint8)
    release_file.write(folder / "forged.release", release_file.Content(sections, arrays))
    assert us.load(folder / "forged.release").verify().holds
    with pytest.raises(SignatureError):
        us.load(folder / "forged.release", key=folder / "holder.pub")


def test_the_private_key_is_for_its_holder_alone_and_never_replaced(folder: Path) -> None:
    assert stat.S_IMODE((folder / "holder.key").stat().st_mode) == 0o600
    before = (folder / "holder.key").read_bytes()
    for name in ("holder.key", "holder.pem", "new.pub"):  # the second would replace holder.pub
        with pytest.raises(FileError):
            new_key(folder / name)
    assert (folder / "holder.key").read_bytes() == before and not (folder / "holder.pem").exists()


@pytest.mark.parametrize(
    "text", [b"", b"x", b"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"]
)
def test_a_file_that_is_no_key_is_refused_by_name(folder: Path, text: bytes) -> None:
    (folder / "bad").write_bytes(text)
    with pytest.raises(FileError, match="bad"):
        us.load(folder / "signed.release", key=folder / "bad")
    with pytest.raises(FileError, match="private"):
        us.load(folder / "plain.release").save(folder / "never.release", key=folder / "holder.pub")
    with pytest.raises(FileError, match="cannot read"):
        us.load(folder / "signed.release", key=folder / "nowhere")
    assert not (folder / "never.release").exists()


def test_a_release_of_a_test_is_not_signed(folder: Path) -> None:
    with pytest.raises(ReleaseError, match="NOT PRIVATE"):
        fitted(folder, source=Seeded(1), name="test").save(
            folder / "never.release", key=folder / "holder.key"
        )


def test_without_the_package_the_way_out_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for work in (
        lambda: new_key(folder / "third.key"),
        lambda: us.load(folder / "signed.release", key=folder / "holder.pub"),
        lambda: us.load(folder / "plain.release").save(folder / "never.release", key=folder / "holder.key"),
    ):
        with pytest.raises(OperatorError, match=r"understudy\[sign\]"):
            work()
    assert us.load(folder / "signed.release").verify().holds

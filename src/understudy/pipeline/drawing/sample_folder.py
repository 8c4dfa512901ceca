"""A sample of any size as a folder of Parquet files, drawn part by part and continued where it was left.

Every part has a seed of its own, made from the sample's, so it is the same records whoever draws it and
whenever. A part appears whole or not at all; a run that was interrupted draws the parts that are missing. A
part matches the release's marginals by itself, as closely as whole records can, so after m parts a count of
the whole is off by about sqrt(m) records at most.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from understudy.data.forms.table_form import NO_FORM
from understudy.domain.columns.made.made import Place
from understudy.domain.columns.parts.codec import Within
from understudy.errors import FileError, OperatorError, ParameterError
from understudy.pipeline.generation import check_seed
from understudy.pipeline.release import Release

MANIFEST = "_sample.json"  # readers of folders pass over names that begin so
PART_ROWS = 1_000_000
PART_CELLS = 20_000_000  # a part is drawn in memory, so one of a wide table has fewer rows
TOGETHER = 2  # parts made at a time: packing columns into Parquet takes most of it, on one core each


@dataclass(frozen=True)
class Manifest:
    """What a folder of parts is a sample of: enough to go on with it, and to refuse to mix two."""

    release: str
    rows: int
    seed: int
    part_rows: int
    within: str
    only: str = ""  # which records were asked for, where not all were

    @property
    def parts(self) -> int:
        """How many parts there are in all."""
        return -(-self.rows // self.part_rows) or 1  # none drawn is still a table with columns

    def part(self, number: int) -> int:
        """How many rows a part has."""
        return min(self.part_rows, self.rows - number * self.part_rows)


def sample_to_folder(
    release: Release,
    folder: str | os.PathLike[str],
    rows: int | None = None,
    *,
    seed: int | None = None,
    within: Within = "uniform",
    where: str | None = None,
    balance: str | None = None,
) -> int:
    """The number of records in the folder, once all parts are there; those that were there are not drawn again.

    Without a seed, one is drawn and written down, so that the next call goes on.
    """
    from understudy.data import Writer, progress

    release.warn_not_private()
    place = Path(folder)
    only = release.wanted(where, balance)
    asked = json.dumps({"where": where, "balance": balance}) if only is not None else ""
    wanted = _manifest(release, place, rows, seed, within, asked)

    def make(number: int) -> None:
        begins = Place(wanted.seed, number * wanted.part_rows)
        table = release.draw(wanted.part(number), part_seed(wanted.seed, number), within, begins, only)
        with Writer(_part(place, number)) as file:
            file.write(table)

    with (
        _alone(place),
        progress("generating records", total=wanted.parts) as advance,
        ThreadPoolExecutor(TOGETHER) as pool,
    ):
        missing = [number for number in range(wanted.parts) if not _is_whole(place, wanted, number)]
        advance(wanted.parts - len(missing))
        for start in range(0, len(missing), TOGETHER):  # no more in flight, so that an interrupt is heeded
            for _ in pool.map(make, missing[start : start + TOGETHER]):
                advance(1)
    return wanted.rows


def part_rows(release: Release) -> int:
    """How many rows one part has; a wide table has fewer."""
    return min(PART_ROWS, max(1, PART_CELLS // max(1, len(release.schema.columns))))


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Nobody else works on the folder meanwhile; what a killed run left unfinished is removed."""
    from understudy.data.scratch import locked

    handle = locked(place / MANIFEST)
    if handle is None:
        raise OperatorError(
            f"another process is drawing the sample in {str(place)!r}.",
            hint="wait for it, or give a new folder.",
        )
    try:
        for unfinished in place.glob(".part-*.part"):
            unfinished.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def part_seed(seed: int, number: int) -> np.random.Generator:
    """The randomness of one part of a sample."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def _manifest(
    release: Release, place: Path, rows: int | None, seed: int | None, within: str, asked: str
) -> Manifest:
    """The sample that the folder holds or will hold; another one than it holds is refused."""
    check_seed(seed)
    begun = _begun(place)
    by_version_1 = begun is not None and begun.release == digest(release, with_fit=True)
    wanted = Manifest(
        release=digest(release, with_fit=by_version_1),
        rows=release.count(rows),
        seed=(secrets.randbits(63) if begun is None else begun.seed) if seed is None else int(seed),
        part_rows=part_rows(release),
        within=within,
        only=asked,
    )
    if begun is None:
        from understudy.data.files.atomic import whole_file

        place.mkdir(exist_ok=True)
        with whole_file(place / MANIFEST) as file:
            file.write(json.dumps(asdict(wanted), indent=1).encode())
    elif begun != wanted:
        other = next(name for name, value in asdict(wanted).items() if asdict(begun)[name] != value)
        raise ParameterError(
            f"folder {str(place)!r} holds parts of another sample: its {other} differs.",
            hint="give the same release, rows and seed to go on with it, or a new folder.",
        )
    return wanted


def _begun(place: Path) -> Manifest | None:
    """What the folder says that it holds; None for one that is empty or not there."""
    if not place.exists():
        return None
    try:
        said = json.loads((place / MANIFEST).read_text())
        return Manifest(
            **{name: kind(said[name]) for name, kind in _FIELDS.items()}, only=str(said.get("only", ""))
        )
    except FileNotFoundError:
        if any(place.iterdir()):
            raise FileError(
                f"folder {str(place)!r} holds other files.", hint="give a new folder, or an empty one."
            ) from None
        return None
    except (OSError, ValueError, TypeError, KeyError):
        raise FileError(f"{str(place / MANIFEST)!r} cannot be read.", hint="give a new folder.") from None


_FIELDS = {"release": str, "rows": int, "seed": int, "part_rows": int, "within": str}


def _part(place: Path, number: int) -> Path:
    return place / f"part-{number:06}.parquet"


def _is_whole(place: Path, wanted: Manifest, number: int) -> bool:
    """Whether a part is there and has its rows; a damaged one is drawn again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(_part(place, number)) as file:
            return bool(file.metadata.num_rows == wanted.part(number))
    except (OSError, pa.ArrowException, ValueError):
        return False


def digest(release: Release, *, with_fit: bool = False) -> str:
    """A digest of what a release draws from: its field, its schema and how codes become values.

    How long its fit took is no part of that: the same job has the same digest however often it is run. Until
    1.0.0rc1 it was (`with_fit`).
    """
    header, arrays = release.field.to_arrays()
    if not with_fit:
        header = {name: said for name, said in header.items() if name != "fit"}
    transforms = [transform.to_dict() for transform in release.transforms]
    said = [release.schema.to_toml(), header, release.compression.to_dict(), transforms]
    if release.form != NO_FORM:  # those of earlier versions have none
        said.append(release.form.to_dict())
    found = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode())
    for name in sorted(arrays):
        found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()

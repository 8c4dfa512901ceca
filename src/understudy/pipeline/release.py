"""Everything that leaves the boundary, in one safe file: field, noisy measurements, schema, certificate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy.data.files.atomic import whole_file
from understudy.data.forms.table_form import NO_FORM, TableForm
from understudy.display import html_table
from understudy.domain import Clique, Domain, Schema
from understudy.domain.columns.made.made import Place
from understudy.domain.columns.parts.codec import Within
from understudy.errors import ReleaseError, SizeError, UnderstudyError, UnknownTypeError
from understudy.marginals import Marginal, Measurement
from understudy.mechanisms import Generator
from understudy.mechanisms.registry import generator_from
from understudy.pipeline import release_file
from understudy.pipeline.certificate import Verdict, mechanism_name, readable, spent_by_stage, verify
from understudy.pipeline.charged import check_charged
from understudy.pipeline.drawing.made_up import sample_place
from understudy.pipeline.earlier_releases import released_schema
from understudy.pipeline.generation import checked_rows, records
from understudy.pipeline.measurement_arrays import measurements_from_arrays, measurements_to_arrays
from understudy.pipeline.sources.registry import sampler
from understudy.privacy.curator.verification import UNREADABLE
from understudy.report import page
from understudy.transforms.compress import Compression
from understudy.transforms.derive import TableTransform
from understudy.transforms.split import transform_from_dict

CHUNK = 500_000  # rows that a streamed sample holds at once
MOST_BYTES = 16 << 30  # of a sample in memory
NOT_PRIVATE = "NOT PRIVATE: the noise came from a seed. For tests only."


class NotPrivateWarning(UserWarning):
    """Records are drawn from a release whose noise came from a seed: it protects no one."""


@dataclass(frozen=True, eq=False)
class Release:
    """What was learned, safe to hand on: sampling from it, asking it and verifying it cost nothing more.

    `kind` says what `sample` returns: the kind of table that was given to `fit`, whose `form` it has.
    """

    schema: Schema
    field: Generator
    compression: Compression
    measurements: tuple[Measurement, ...]
    certificate: Mapping[str, Any]
    transforms: tuple[TableTransform, ...] = ()
    kind: str = "arrow"
    form: TableForm = NO_FORM

    def __repr__(self) -> str:
        said, name = self.certificate, self.schema.name or "table"
        stamp = "" if self.private else ", NOT PRIVATE"
        return (
            f"<Release of {name!r}: epsilon {said['epsilon']:g}, delta {said['delta']:g}{stamp}, "
            f"{len(self.domain)} columns, {len(self.cliques)} marginals, "
            f"about {self.rows:,} records>"
        )

    def _repr_html_(self) -> str:
        """The promise and what it was spent on, for a notebook."""
        said = self.certificate
        return html_table(
            f"Release of {self.schema.name or 'table'}: epsilon {said['epsilon']:g}, delta {said['delta']:g}",
            ["stage", "questions", "share of the budget"],
            [[stage["stage"], stage["questions"], f"{stage['share']:.0%}"] for stage in self.spent],
            [
                f"About {self.rows:,} records, {len(self.domain)} columns, {len(self.cliques)} marginals; "
                f"mechanism {self.mechanism or 'not named'}.",
                *said.get("warnings", []),
            ],
            warning="" if self.private else NOT_PRIVATE,
        )

    @property
    def rows(self) -> int:
        """How many records there are thought to be: the noisy total, as a whole number."""
        return max(0, round(self.field.total))

    @property
    def domain(self) -> Domain:
        """The coded columns of the schema."""
        return self.schema.domain()

    @property
    def cliques(self) -> list[Clique]:
        """The columns that were counted together, each set once: in measurements, or in histograms with a cut-off."""
        charged = [
            charge for charge in self.certificate.get("charges", []) if charge.get("question") == "histogram"
        ]
        histograms = [tuple(clique) for charge in charged for clique in charge.get("cliques", [])]
        return list(dict.fromkeys([*(m.clique for m in self.measurements), *histograms]))

    @property
    def private(self) -> bool:
        """Whether the noise was drawn from the operating system; a release of a test says False."""
        return bool(self.certificate["private"])

    @property
    def mechanism(self) -> str:
        """The name of the mechanism; empty where the certificate is a curator's alone."""
        return mechanism_name(self.certificate)

    @property
    def spent(self) -> list[dict[str, Any]]:
        """Each stage of the run: its questions, and its share of the whole budget."""
        return spent_by_stage(self.certificate)

    def sample(self, rows: int | None = None, *, seed: int | None = None, within: Within = "uniform") -> Any:
        """Synthetic records, in the kind of table given to `fit`. Free, as often as you like.

        Privacy: leave `rows` out, or give a number that is public. That of the private table is not: it tells of
        one record whether it is there.

        Parameters:
            rows: how many, from 0 to 10 billion; by default the noisy total (`release.rows`).
            seed: the same seed gives the same records; by default every call draws anew. It protects no one, and
                needs not: noise was drawn long before.
            within: where in its bin a number falls: "uniform", which looks like data, or "midpoint".

        Returns:
            A pandas or Polars frame, an Arrow table, or a Spark DataFrame; of a release from a file, an Arrow table.

        Raises:
            ParameterError: `rows` is not such a number.
            SizeError: so many records do not fit in memory; `sample_chunks` streams them.

        Example:
            >>> import understudy as us
            >>> us.load("people.release").sample(3, seed=0).num_rows
            3
        """
        from understudy.data import like

        self.warn_not_private()
        wanted = self.count(rows)
        drawn = sampler(self.kind)
        if drawn is not None:
            return drawn(self, wanted, seed=seed, within=within)
        width = 8 * max(1, len(self.schema.columns))
        if wanted * width > MOST_BYTES:
            raise SizeError(
                f"{wanted} rows would take about {wanted * width >> 30} GiB in memory.",
                hint="use sample_chunks, or `understudy sample`, which streams them to a file.",
            )
        rng = np.random.default_rng(seed)
        return like(self.draw(wanted, rng, within), self.kind, self.form)

    def sample_chunks(
        self,
        rows: int | None = None,
        *,
        seed: int | None = None,
        chunk: int = CHUNK,
        within: Within = "uniform",
    ) -> Iterator[Any]:
        """The same as Arrow tables, made as they are asked for.

        Parameters:
            rows: how many in all, as for `sample`.
            seed: steers the sampling, as for `sample`.
            chunk: the most rows of one table; half a million by default, some hundred megabytes at most.
            within: where in its bin a number falls, as for `sample`.

        Returns:
            An iterator of Arrow tables.

        Example:
            >>> import understudy as us
            >>> [part.num_rows for part in us.load("people.release").sample_chunks(250, chunk=100)]
            [100, 100, 50]
        """
        self.warn_not_private()
        wanted = self.count(rows)
        rng = np.random.default_rng(seed)
        if wanted <= chunk:
            yield self.draw(wanted, rng, within)
            return
        place = sample_place(self.schema, rng)
        for part in self.field.sample_chunks(wanted, chunk, seed=int(rng.integers(2**63))):
            yield self._decode(part, rng, within, place)
            place = place and place.after(len(part))

    def sample_spark(
        self,
        spark: Any = None,
        rows: int | None = None,
        *,
        seed: int | None = None,
        partitions: int | None = None,
        within: Within = "uniform",
    ) -> Any:
        """The same as a Spark DataFrame, drawn by the workers of a session.

        Parameters:
            spark: the session; the running one by default.
            rows: how many, as for `sample`.
            seed: steers the sampling, as for `sample`.
            partitions: how many parts are drawn at once, at least 1; by default as many as the rows need.
            within: where in its bin a number falls, as for `sample`.

        Returns:
            A Spark DataFrame.

        Raises:
            ParameterError: there is no session, or a number is out of its range.
        """
        self.warn_not_private()
        drawn = sampler("spark")
        assert drawn is not None
        return drawn(self, self.count(rows), spark=spark, seed=seed, partitions=partitions, within=within)

    def marginal(self, columns: Sequence[str] | str) -> Marginal:
        """The expected counts of any columns, measured together or not. Free.

        Parameters:
            columns: the name of one column, or several.

        Returns:
            A `Marginal`: an axis a column, in the schema's codes; codes that were merged share their count evenly.

        Raises:
            DomainError: a column is not in the release.

        Example:
            >>> import understudy as us
            >>> us.load("people.release").marginal("sex").clique
            ('sex',)
        """
        clique = (columns,) if isinstance(columns, str) else tuple(columns)
        return self.compression.spread(self.field.marginal(clique), self.domain)

    def verify(self) -> Verdict:
        """Epsilon and delta recomputed from the certificate's charges alone, and that they paid for what is here.

        Returns:
            A `Verdict`: whether the claim `holds`, the epsilon found, and why where it does not hold.

        Raises:
            ReleaseError: the certificate cannot be read.

        Example:
            >>> import understudy as us
            >>> us.load("people.release").verify().holds
            True
        """
        return verify(
            self.certificate,
            lambda: check_charged(self.certificate, self.measurements, self.field, self.compression),
        )

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the release as one self-contained HTML page, safe to publish.

        Parameters:
            path: where the page goes; what is there is replaced, whole or not at all.

        Raises:
            FileError: the file cannot be written.

        Example:
            >>> import understudy as us
            >>> us.load("people.release").report("report.html")
        """
        content = page(self).encode()
        with whole_file(path) as file:
            file.write(content)

    def save(self, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> None:
        """Write the release to one file, whole or not at all.

        Parameters:
            path: where it goes; what is there is replaced.
            key: a file with the holder's private key, to sign it with; unsigned by default.

        Raises:
            FileError: the file cannot be written.
            ReleaseError: a release of a test is not signed.

        Example:
            >>> import understudy as us
            >>> us.load("people.release").save("copy.release")
        """
        if key is not None and not self.private:
            raise ReleaseError(f"{NOT_PRIVATE} It is not signed.", hint="save it without a key.")
        measured, arrays = measurements_to_arrays(self.measurements)
        field_header, field_arrays = self.field.to_arrays()
        arrays |= {f"field {name}": array for name, array in field_arrays.items()}
        sections = {
            "schema": self.schema.to_toml(),
            "certificate": dict(self.certificate),
            "compression": self.compression.to_dict(),
            "transforms": [transform.to_dict() for transform in self.transforms],
            "measurements": measured,
            "field": field_header,
            "form": self.form.to_dict(),
        }
        release_file.write(path, release_file.Content(sections, arrays), key=key)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> Release:
        """The release in a file: the same as `us.load`."""
        content = release_file.read(path, key=key)
        try:
            return cls._from(content)
        except ReleaseError:
            raise
        except UnknownTypeError as error:
            raise ReleaseError(
                f"{os.fspath(path)!r} cannot be opened: {error.message}",
                hint="install the package that the release was made with.",
            ) from None
        except (*UNREADABLE, UnderstudyError):
            raise ReleaseError(
                f"{os.fspath(path)!r} is refused: its parts do not fit together.",
                hint="ask for the release anew from who made it.",
            ) from None

    @classmethod
    def _from(cls, content: release_file.Content) -> Release:
        sections, arrays = content.sections, content.arrays
        schema = released_schema(sections)
        field = generator_from(
            sections["field"],
            {name.removeprefix("field "): a for name, a in arrays.items() if name.startswith("field ")},
        )
        compression = Compression.from_dict(sections["compression"])
        domain = schema.domain()
        # Every code of every column stands in the file, so no column is larger than the file itself.
        if set(compression.maps) != set(domain) or compression.domain(domain) != field.domain:
            raise ReleaseError("the field's columns are not the schema's.")
        measurements = measurements_from_arrays(field.domain, sections["measurements"], arrays)
        transforms = tuple(transform_from_dict(said) for said in sections["transforms"])
        readable(sections["certificate"])
        form = TableForm.from_dict(sections["form"]) if "form" in sections else NO_FORM
        release = cls(
            schema, field, compression, measurements, sections["certificate"], transforms, form=form
        )
        for clique in release.cliques:
            domain.clique(clique)
        return release

    def warn_not_private(self) -> None:
        """Say that what is drawn is of a test, where it is."""
        if not self.private:
            warnings.warn(NOT_PRIVATE, NotPrivateWarning, stacklevel=3)

    def count(self, rows: int | None) -> int:
        """How many records are to be drawn, once all of them can be: the noisy total where no number is given."""
        return checked_rows(self.schema, self.form, self.rows if rows is None else rows)

    def draw(
        self, rows: int, rng: np.random.Generator, within: Within = "uniform", place: Place | None = None
    ) -> Any:
        """So many synthetic records as an Arrow table, from this randomness and their place in the sample alone."""
        return self._decode(self.field.sample(rows, seed=int(rng.integers(2**63))), rng, within, place)

    def _decode(self, codes: Any, rng: np.random.Generator, within: Within, place: Place | None) -> Any:
        return records(codes, self.schema, self.compression, self.transforms, rng, within, self.form, place)

    def with_kind(self, kind: str) -> Release:
        """The same release, whose `sample` returns another kind of table."""
        return replace(self, kind=kind)


def load(path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> Release:
    """The release in a file; nothing in a file can run, and a damaged or hostile one is refused.

    Parameters:
        path: a file that `release.save` or `understudy fit` wrote.
        key: a file with the holder's public key: then a release that the holder did not sign is refused. By
            default no signature is asked for.

    Returns:
        The `Release`.

    Raises:
        FileError: the file cannot be read.
        ReleaseError: it is damaged, hostile, or not signed by the holder.

    Example:
        >>> import understudy as us
        >>> us.load("people.release").private
        True
    """
    return Release.load(path, key=key)

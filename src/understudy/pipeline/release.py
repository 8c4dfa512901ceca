"""Everything that leaves the boundary, in one safe file: field, noisy measurements, schema, certificate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from understudy.data.files.atomic import whole_file
from understudy.data.forms.table_form import NO_FORM, TableForm
from understudy.display import html_table
from understudy.domain import Clique, Domain
from understudy.errors import ParameterError, ReleaseError, UnderstudyError, UnknownTypeError
from understudy.marginals import Marginal
from understudy.mechanisms.registry import generator_from
from understudy.model import MarkovField
from understudy.pipeline import release_file
from understudy.pipeline.accuracy.answers import Answers
from understudy.pipeline.accuracy.stated_errors import StatedErrors
from understudy.pipeline.certificate import Verdict, mechanism_name, readable, spent_by_stage, verify
from understudy.pipeline.charged import check_charged
from understudy.pipeline.drawing.samples import NOT_PRIVATE, Samples
from understudy.pipeline.earlier_releases import released_schema
from understudy.pipeline.measurement_arrays import measurements_from_arrays, measurements_to_arrays
from understudy.pipeline.sources.registry import is_address
from understudy.privacy.curator.verification import UNREADABLE
from understudy.transforms.compress import Compression
from understudy.transforms.split import transform_from_dict


@dataclass(frozen=True, eq=False)
class Release(Samples, Answers):
    """What was learned, safe to hand on: sampling from it, asking it and verifying it cost nothing more.

    `us.fit` makes one, `us.load` reads one.

    Attributes:
        schema: what the columns mean, with what was learned.
        field: what draws records.
        compression: how codes were merged.
        measurements: the noisy marginals, with the scale of their noise.
        certificate: epsilon, delta, every charge: what `verify` adds up.
        transforms: what is done to coded records, such as a column split in two.
        kind: what `sample` returns: the kind of table that was given to `fit`.
        form: the types, formats and dialect of that table.
        errors: what it knows of its own accuracy; None where that was not asked for.
    """

    errors: StatedErrors | None = None

    def __repr__(self) -> str:
        said, name = self.certificate, self.schema.name or "table"
        stamp = "" if self.private else ", NOT PRIVATE"
        return (
            f"<Release of {name!r}: epsilon {said['epsilon']:g}, delta {said['delta']:g}{stamp}, "
            f"{len(self.domain)} columns, {len(self.cliques)} marginals, "
            f"about {self.rows:,} records>"
        )

    def _repr_html_(self) -> str:
        """The promise, what it was spent on and the columns, for a notebook."""
        from understudy.report.short_release import short_release

        said, short = self.certificate, short_release(self)
        promise = html_table(
            f"Release of {short.title}",
            ["the budget went on", "questions", "share"],
            short.budget,
            [
                short.promise,
                f"{len(self.cliques)} marginals; mechanism {self.mechanism or 'not named'}.",
                *said.get("decisions", []),
                *(f"Trust: {line}" for line in short.good),
                *(f"Do not trust: {line}" for line in short.bad),
                *([] if self.errors is None else [f"Checked: {self.expected_error()}."]),
                *([f"The fit of the model is {self.fit_claim}."] if self.fit_claim else []),
                *said.get("warnings", []),
            ],
            warning="" if self.private else NOT_PRIVATE,
        )
        columns = html_table("Columns", ["column", "records", "noise (95%)", "to know"], short.columns)
        return f"<div>{promise}{columns}</div>"

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
    def mechanism(self) -> str:
        """The name of the mechanism; empty where the certificate is a curator's alone."""
        return mechanism_name(self.certificate)

    @property
    def fit_claim(self) -> str:
        """What is proven of the model's fit to the measurements, in one line; empty where there is no such model."""
        fit = self.field.fit if isinstance(self.field, MarkovField) else None
        return "" if fit is None else fit.claim

    @property
    def spent(self) -> list[dict[str, Any]]:
        """Each stage of the run: its questions, and its share of the whole budget."""
        return spent_by_stage(self.certificate)

    def marginal(self, columns: Sequence[str] | str) -> Marginal:
        """The expected counts of any columns, measured together or not. Free.

        Parameters:
            columns: the name of one column, or several.

        Returns:
            A `Marginal`: an axis a column, in the schema's codes; merged ones share their count as records do.

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
            lambda: check_charged(
                self.certificate, self.measurements, self.field, self.compression, self.errors
            ),
        )

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the release as one self-contained HTML page, safe to publish.

        Parameters:
            path: where the page goes; what is there is replaced, whole or not at all, unless it is a ledger.

        Raises:
            FileError: the file cannot be written.

        Example:
            >>> import understudy as us
            >>> us.load("people.release").report("report.html")
        """
        from understudy.report.release_page import release_page  # pages take a while to import

        content = release_page(self).encode()
        with whole_file(path) as file:
            file.write(content)

    def save(self, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> None:
        """Write the release to one file, whole or not at all.

        Parameters:
            path: where it goes; what is there is replaced, unless it is a ledger.
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
            **({} if self.errors is None else {"errors": self.errors.to_dict()}),
        }
        release_file.write(path, release_file.Content(sections, arrays), key=key)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> Release:
        """The release in a file: the same as `us.load`."""
        if is_address(path):  # which is not shown: it may hold a password
            raise ParameterError(
                "this is the address of a table, and no release.",
                hint="give the file that `understudy fit ADDRESS -o FILE` or `release.save` wrote.",
            )
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
        errors = StatedErrors.from_dict(sections["errors"]) if "errors" in sections else None
        release = cls(
            schema,
            field,
            compression,
            measurements,
            sections["certificate"],
            transforms,
            form=form,
            errors=errors,
        )
        for clique in () if errors is None else (*errors.pairs, *errors.triples):
            domain.clique(clique)
        for clique in release.cliques:
            domain.clique(clique)
        return release

    def with_kind(self, kind: str) -> Release:
        """The same release, whose `sample` returns another kind of table: "pandas", "polars", "arrow" or "spark"."""
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
        ParameterError: it is the address of a table.
        ReleaseError: it is damaged, hostile, or not signed by the holder.

    Example:
        >>> import understudy as us
        >>> us.load("people.release").private
        True
    """
    return Release.load(path, key=key)

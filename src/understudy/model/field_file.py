"""A field as one file: a zip of one JSON header and plain arrays. Nothing in it is ever executed."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from os import PathLike, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from understudy.domain import Clique, Domain
from understudy.errors import FileError, ParameterError, ReleaseError
from understudy.model.fit_report import FitReport
from understudy.model.tree.calibrated_tree import CalibratedTree
from understudy.model.tree.junction_tree import JunctionTree

Field = TypeVar("Field", bound=CalibratedTree)

FORMAT = "understudy-field"
VERSION = 1  # of a field whose tree is all of it; 2 where pairs stand beside it
HEADER = "field.json"
LIMIT_CELLS = 1 << 30
LIMIT_HEADER = 1 << 26
_DAMAGE = (ParameterError, KeyError, TypeError, ValueError, AttributeError)  # what a damaged header leads to


def to_arrays(field: CalibratedTree) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """A header of plain values and the tables of all cliques, `clique_0` onwards."""
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION + bool(field.beside),
        "domain": [[name, size] for name, size in field.domain.items()],
        "cliques": [list(clique) for clique in field.tree.cliques],
        "parent": list(field.tree.parent),
        "order": list(field.tree.order),
        "total": field.total,
        "fit": None if field.fit is None else _finite(asdict(field.fit)),
    }
    arrays = {f"clique_{i}": table for i, table in enumerate(field.tables)}
    if field.beside:
        header["beside"] = [list(clique) for clique in field.beside]
        arrays |= {f"beside_{i}": table for i, table in enumerate(field.beside.values())}
    return header, arrays


def from_arrays(
    kind: type[Field], header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> Field:
    """The field, of this class, of a header and arrays, once they describe one; a ReleaseError says what is wrong."""
    try:
        tree = _tree(header)
        total = float(header["total"])
        fit = _fit(header["fit"])
        tables = [_table(arrays[f"clique_{i}"], tree, tree.cliques[i]) for i in range(len(tree.cliques))]
        pairs = _beside(header, tree)
        beside = {pair: _table(arrays[f"beside_{i}"], tree, pair) for i, pair in enumerate(pairs)}
        return kind(tree, tables, total, fit, beside)
    except _DAMAGE as error:
        raise ReleaseError(f"the field is damaged: {_reason(error)}", hint="use an undamaged copy.") from None


def save(field: CalibratedTree, path: str | PathLike[str]) -> None:
    """Write a field to `path`, whole or not at all."""
    header, arrays = to_arrays(field)
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(HEADER, json.dumps(header, allow_nan=False))
            for name, array in arrays.items():
                archive.writestr(name, np.ascontiguousarray(array, "<f8").tobytes())
        replace(partial, target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise FileError(f"field file {str(path)!r} cannot be written: {error.strerror}.") from None


def load(kind: type[Field], path: str | PathLike[str]) -> Field:
    """The field of a file that `save` wrote.

    Sizes are checked against the header before anything is unpacked, so a hostile file costs no more
    memory than the model it honestly claims to be, and at most 2^30 cells.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(_member(archive, HEADER, LIMIT_HEADER))
            if not isinstance(header, dict):
                raise ValueError("its header is not an object.")
            tree, arrays = _tree(header), {}
            named = {f"clique_{i}": clique for i, clique in enumerate(tree.cliques)}
            named |= {f"beside_{i}": pair for i, pair in enumerate(_beside(header, tree))}
            for name, clique in named.items():
                size = 8 * tree.domain.size(clique)
                packed = _member(archive, name, size)
                if len(packed) != size:
                    raise ValueError(f"{name!r} is cut short.")
                arrays[name] = np.frombuffer(packed, "<f8")
    except ReleaseError:
        raise
    except OSError as error:
        raise FileError(f"field file {str(path)!r} cannot be read: {error.strerror}.") from None
    except (zipfile.BadZipFile, RecursionError, EOFError, RuntimeError, *_DAMAGE) as error:
        raise ReleaseError(
            f"field file {str(path)!r} is damaged: {_reason(error)}", hint="use an undamaged copy."
        ) from None
    return from_arrays(kind, header, arrays)


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """The bytes of one member of the archive, refused where they unpack to more than `limit`."""
    try:
        with archive.open(name) as member:
            packed = member.read(limit + 1)
    except KeyError:
        raise ReleaseError(f"the field file has no {name!r}.") from None
    except Exception as error:  # zlib, lzma and bz2 raise their own kinds on damaged bytes
        raise ReleaseError(f"the field file's {name!r} is damaged: {_reason(error)}") from None
    if len(packed) > limit:
        raise ReleaseError(f"the field file's {name!r} is larger than the {limit:,} bytes it may have.")
    return packed


def _tree(header: Mapping[str, Any]) -> JunctionTree:
    """The junction tree of a header; refused unless it is one."""
    if header["format"] != FORMAT or header["version"] not in (VERSION, VERSION + 1):
        raise ValueError(f"format {header['format']!r} version {header['version']!r} is not known.")
    domain = Domain([(str(name), size) for name, size in header["domain"]])
    cliques = tuple(tuple(map(str, clique)) for clique in header["cliques"])
    parent = tuple(header["parent"])
    order = tuple(map(str, header["order"]))
    if any(domain.order(clique) != clique for clique in cliques):
        raise ValueError("a clique is not in the domain's order.")
    if len(parent) != len(cliques) or sorted(order) != sorted(domain.names):
        raise ValueError("the junction tree is incomplete.")
    if not all(type(p) is int and (p == -1 or i < p < len(cliques)) for i, p in enumerate(parent)):
        raise ValueError("the junction tree has a parent out of order.")
    if sum(map(domain.size, cliques)) > LIMIT_CELLS:
        raise ValueError(f"the model claims more than {LIMIT_CELLS:,} cells.")
    tree = JunctionTree(domain, cliques, parent, order)
    tops = [name for i in range(len(cliques)) for name in cliques[i] if name not in tree.separator(i)]
    if sorted(tops) != sorted(domain.names):  # a column's cliques are connected when it has just one top
        raise ValueError("the junction tree breaks the running-intersection property.")
    return tree


def _beside(header: Mapping[str, Any], tree: JunctionTree) -> list[Clique]:
    """The pairs of a header that stand beside the tree; none in a field of an earlier version."""
    if header["version"] == VERSION:
        return []
    pairs = [tuple(map(str, pair)) for pair in header["beside"]]
    if len(set(pairs)) != len(pairs) or any(len(p) != 2 or tree.domain.order(p) != p for p in pairs):
        raise ValueError(
            "what stands beside the tree is not pairs of columns in the domain's order, each once."
        )
    if sum(map(tree.domain.size, pairs)) > LIMIT_CELLS:
        raise ValueError(f"pairs beside the tree claim more than {LIMIT_CELLS:,} cells.")
    return pairs


def _table(array: npt.NDArray[Any], tree: JunctionTree, clique: Clique) -> npt.NDArray[np.float64]:
    if array.dtype.kind != "f" or array.size != tree.domain.size(clique):
        raise ValueError(f"{clique!r} has the wrong number of cells.")
    return np.asarray(array, np.float64)


def _fit(plain: Any) -> FitReport | None:
    if plain is None:
        return None
    known: dict[str, Any] = {f.name: plain[f.name] for f in fields(FitReport) if f.name in plain}
    known = {name: math.inf if value is None else value for name, value in known.items()}
    if not all(isinstance(value, bool | int | float) for value in known.values()):
        raise ValueError("the certificate holds something other than numbers.")
    return FitReport(**known)


def _finite(plain: dict[str, Any]) -> dict[str, Any]:
    """The values, with None in place of numbers that JSON cannot write."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in plain.items()}


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing."
    text = str(error).strip() or type(error).__name__
    return text if len(text) < 200 else text[:200] + "..."

"""What a command writes: never over what it reads, nor over another file unless told."""

from __future__ import annotations

import fnmatch
import glob
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from understudy.errors import ParameterError

Named = Mapping[
    str, "str | None"
]  # how a file is called in a message: "the schema" -> its path, if there is one


def is_folder(output: str) -> bool:
    """Whether an output is a folder of parts: one that is there, or a name that ends as a folder's does."""
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def check_apart(
    outputs: Named,
    *,
    tables: Iterable[str | None] = (),
    files: Named | None = None,
    ledger: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    staying: Iterable[str] = (),
) -> None:
    """Refuse, before anything is read or spent, an output that would replace what must stay.

    Always: what is read (`tables`, addresses among them, and other `files`), a place inside a folder that is read or
    one that a pattern which is read would match, the ledger, and two outputs in one place; also by links and by
    other spellings of a name. Any other file that is there only with `overwrite`, unless it is one of the options
    whose file is `staying` as it is. An address is no place to write to.
    """
    given = {option: path for option, path in outputs.items() if path}
    for option, path in given.items():
        check_no_address(option, path)
    lying = [(f"the table {place!r}", place) for table in tables if table for place in _places(table)]
    read = lying + [(f"{what} {path!r}", path) for what, path in (files or {}).items() if path]
    if ledger is not None:
        kept = os.fspath(ledger)
        read += [("the ledger", kept + end) for end in ("", ".mark", ".notes", "-journal", "-wal", "-shm")]
        for what, place in lying:
            if _is_same(kept, place):
                raise ParameterError(
                    f"the ledger {kept!r} is {what}.", hint="name another file for the ledger."
                )
    for option, path in given.items():
        for what, place in read:
            _check(option, path, what, place)
    options = list(given)
    for number, option in enumerate(options):
        for other in options[:number]:
            if _is_same(given[option], given[other]):
                raise ParameterError(
                    f"{option} and {other} are one file, {given[option]!r}.", hint="name two files."
                )
            _check_not_inside(option, given[option], other, given[other])
            _check_not_inside(other, given[other], option, given[option])
        if not overwrite and option not in staying and os.path.isfile(given[option]):
            raise there_already(given[option])


def _check_not_inside(option: str, path: str, other: str, folder: str) -> None:
    """Refuse an output in the folder of parts that is another: it would be one of its files."""
    if is_folder(folder) and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ParameterError(
            f"{option} {path!r} lies in the folder {other} {folder!r}, which is for records alone.",
            hint="write it to a place outside of it.",
        )


def there_already(path: str) -> ParameterError:
    """The refusal to write over a file, unasked."""
    return ParameterError(
        f"there is a file {path!r} already: it is left as it is.",
        hint="name another file, or say --overwrite.",
    )


def check_no_address(option: str, path: str) -> None:
    """Refuse an output that is the address of a table, which is not shown: it may hold a password."""
    from understudy.pipeline.sources.registry import is_address

    if is_address(path):
        raise ParameterError(
            f"{option} is the address of a table, and only files are written.",
            hint="name a file, such as synthetic.parquet, or a folder, synthetic/.",
        )


def _check(option: str, path: str, what: str, place: str) -> None:
    """Refuse an output that is a file which is read, lies in a folder that is read, or matches a pattern."""
    lost = ParameterError(f"{option} {path!r} is {what}, which would be lost.", hint="write to another file.")
    if _is_same(path, place):
        raise lost
    where = os.path.realpath(path)
    folder = os.path.isdir(place)
    pattern = not folder and glob.has_magic(place) and not os.path.exists(place)
    if folder and any(_is_same(str(above), place) for above in (where, *Path(where).parents)):
        raise ParameterError(
            f"{option} {path!r} lies in {what}: it would be read with the table the next time.",
            hint="write to a place outside of it.",
        )
    if pattern and (_matches(where, place) or _is_reached(where, place)):
        raise ParameterError(f"{option} {path!r} is one of the files of {what}.", hint="write elsewhere.")
    if (folder or pattern) and os.path.isfile(path) and any(_is_same(path, file) for file in _files(place)):
        raise lost


def _is_same(path: str, other: str) -> bool:
    """Whether two paths are one file: by links, hard links, and letters that the disk does not tell apart."""
    try:
        if os.path.samefile(path, other):
            return True
    except (OSError, ValueError):
        pass
    try:
        if os.path.exists(path) or os.path.exists(other):
            return os.path.realpath(path) == os.path.realpath(other)
        return _folded(path) == _folded(other)
    except ValueError:  # a NUL; whoever opens it says so
        return False


def _folded(path: str) -> str:
    """A path that is not there yet as a disk may keep it that tells neither capitals nor ways to write an accent."""
    whole = Path(os.path.realpath(path))
    return str(whole.with_name(unicodedata.normalize("NFC", whole.name).casefold())) if whole.name else path


def _matches(where: str, pattern: str) -> bool:
    """Whether a whole path is one that a pattern stands for, or may be: a star is taken to match folders too."""
    steps = Path(os.path.abspath(pattern)).parts
    plain = next((number for number, step in enumerate(steps) if glob.has_magic(step)), len(steps))
    base = os.path.realpath(os.path.join(*steps[:plain]))
    with_folders, without = steps[plain:], [step for step in steps[plain:] if step != "**"]
    return any(fnmatch.fnmatch(where, os.path.join(base, *rest)) for rest in (with_folders, without))


def _is_reached(where: str, pattern: str) -> bool:
    """Whether a pattern takes in a place, perhaps by folders that are links."""
    above, last = os.path.split(pattern)
    folder, name = os.path.split(where)
    if last != "**" and not fnmatch.fnmatch(name, last):
        return False
    folders = os.path.join(pattern, "") if last == "**" else above or "."
    return any(_is_same(found, folder) for found in glob.iglob(folders, recursive=True))


def _files(place: str) -> Iterator[str]:
    """What lies in a folder or is taken in by a pattern: files may be links to others."""
    return glob.iglob(os.path.join(place, "**") if os.path.isdir(place) else place, recursive=True)


def _places(table: str) -> tuple[str, ...]:
    from understudy.pipeline.sources.registry import places_of

    return places_of(table)

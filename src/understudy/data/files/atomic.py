"""Files that appear whole or not at all."""

from __future__ import annotations

import glob
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from understudy.errors import FileError


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that a file cannot be written to, before any work is done for it."""
    target = Path(path)
    shown = str(target)
    try:
        if target.is_dir():
            raise FileError(f"{shown!r} is a folder.", hint="name a file in it.")
        folder = _resolved(target).parent
        if not folder.is_dir():
            raise FileError(
                f"there is no folder {str(target.parent)!r} to write {shown!r} in.", hint="create it."
            )
        if any(map(_is_ledger, (target, *_owners(target)))):
            raise FileError(
                f"{shown!r} is a ledger, or belongs to one: it is never replaced.", hint="name another file."
            )
        if is_device(target):
            _check_device(target, shown)
        else:
            _check_folder(folder, shown)
    except FileError:
        raise
    except (OSError, ValueError):
        raise FileError(f"file {shown!r} cannot be written.", hint="check the path.") from None


def _check_device(target: Path, shown: str) -> None:
    if not os.access(target, os.W_OK):
        raise FileError(f"{shown!r} cannot be written.", hint="check its permissions.")


def _check_folder(folder: Path, shown: str) -> None:
    """Refuse a folder in which no file can be made, by making one: what permissions say is not always so."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        raise FileError(
            f"file {shown!r} cannot be written.", hint="check the folder's permissions and its space."
        ) from None


@contextmanager
def whole_file(path: str | os.PathLike[str], *, confidential: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its name only once all of it is safe on disk.

    It is written beside its final place and then renamed, so a reader sees the old file or the new one.
    Whatever goes wrong before, the unfinished file is removed. Devices and pipes are written directly.
    A `confidential` file can be read by this user alone, from its first byte on (mode 0600).
    """
    check_writable(path)
    if is_device(Path(path)):
        with _faults(path), open(path, "wb") as file:
            yield file
        return
    target = _resolved(Path(path))
    _sweep(target)
    unfinished = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    with _faults(path):
        try:
            with open(unfinished, "xb", opener=_for_me if confidential else None) as file:
                _lock(file.fileno())
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, target)
        except BaseException:  # an interrupt too
            with suppress(OSError):
                unfinished.unlink()
            raise
        _sync_folder(target.parent)


def _lock(handle: int) -> bool:
    """Hold a file until it is closed, however its process ends; False where another process does."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # Windows, or a file system without locks
        return False
    return True


def _sweep(target: Path) -> None:
    """Remove what killed runs left unfinished beside a file: whatever nobody holds any more."""
    name = glob.escape(f".{target.name[:100]}.")
    for left in target.parent.glob(f"{name}{'[0-9a-f]' * 12}.part"):
        with suppress(OSError), open(left, "rb") as file:
            if _lock(file.fileno()):
                left.unlink()


def _for_me(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _faults(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        reason = error.strerror or "the disk refused it"
        raise FileError(
            f"file {str(path)!r} could not be written: {reason}.", hint="check space and permissions."
        ) from None


def _sync_folder(folder: Path) -> None:
    """Make the new name itself safe on disk, where the system allows it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_ledger(path: Path) -> bool:
    """Whether a file says of itself, in the header of a database of SQLite's, that it is a ledger of ours."""
    with suppress(OSError):
        if path.is_file():
            with open(path, "rb") as file:
                start = file.read(72)
            return start.startswith(b"SQLite format 3\0") and start[68:] == b"UNDS"
    return False


def _owners(path: Path) -> list[Path]:
    """The database to which a file would belong by its name: its mark, its notes, or what SQLite keeps beside it."""
    name = path.name
    ends = [
        end for end in (".mark", ".notes", "-journal", "-wal", "-shm") if name.endswith(end) and name != end
    ]
    return [path.with_name(name.removesuffix(end)) for end in ends]


def _resolved(path: Path) -> Path:
    """The file that a link stands for, so that the link stays."""
    return path.resolve() if path.is_symlink() else path


def is_device(path: Path) -> bool:
    """Whether the path names something that is written to and not replaced, such as a terminal or a pipe."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))

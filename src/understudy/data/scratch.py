"""A private folder for what does not fit in memory, and a database in it; both gone when the work is.

The folder can be entered by this user alone and holds a file that its process keeps locked. The system lets
go of the lock when the process ends, however it ends, so a folder whose lock is free belongs to nobody:
the next run removes it. A system without such locks (Windows) cannot tell: there a crash leaves its folder behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from understudy.errors import OperatorError

PREFIX = "understudy-scratch-"
LOCK = "lock"


def scratch_folder() -> str:
    """Where large temporary files go: TMPDIR, else a folder that is on disk and not in memory."""
    if os.environ.get("TMPDIR"):
        return tempfile.gettempdir()
    lasting = Path("/var/tmp")
    return str(lasting) if lasting.is_dir() and os.access(lasting, os.W_OK) else tempfile.gettempdir()


class ScratchFolder:
    """A folder of this process alone, removed by `close`, or when nobody holds it any more."""

    def __init__(self, inside: str | os.PathLike[str] | None = None) -> None:
        parent = Path(scratch_folder() if inside is None else inside)
        sweep(parent)
        for _ in range(8):  # another process may take a folder for left over before it is locked
            try:
                self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))  # mode 0700
            except OSError as error:
                raise OperatorError(
                    f"no temporary folder could be made in {str(parent)!r}: {error.strerror}.",
                    hint="set TMPDIR to a folder with room.",
                ) from None
            with suppress(OSError):
                lock = locked(self.path / LOCK)
                if lock is not None and (self.path / LOCK).exists():
                    self.close = weakref.finalize(self, _remove, self.path, lock)
                    return
        raise OperatorError(f"temporary folders in {str(parent)!r} vanish.", hint="set TMPDIR to another.")


def sweep(parent: Path) -> None:
    """Remove the folders of processes that ended without doing so: this user's own, and never through a link.

    Anyone may put a link into a shared temporary folder, so neither the folder nor its lock is followed.
    """
    for folder in parent.glob(PREFIX + "*") if _fcntl() else ():
        with suppress(OSError):
            inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                mine = os.fstat(inside).st_uid == os.getuid()
                lock = locked(LOCK, inside) if mine else None
            finally:
                os.close(inside)
            if lock is not None:
                _remove(folder, lock)


def locked(path: str | os.PathLike[str], inside: int | None = None) -> int | None:
    """A handle of the file, locked until it is closed; None when another process has it.

    Where the system has no locks it is never another's. `inside` is the handle of a folder: the file is then one of
    that folder, and no link to another.
    """
    fcntl = _fcntl()
    flags = os.O_RDWR | os.O_CREAT | (0 if inside is None else os.O_NOFOLLOW)
    handle = os.open(path, flags, 0o600, dir_fd=inside)
    if fcntl is None:
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _fcntl() -> ModuleType | None:
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    return fcntl


def _remove(folder: Path, lock: int) -> None:
    """Remove a folder while it is locked; without locks, a file that is open could not be removed."""
    if _fcntl() is None:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


class ScratchDatabase:
    """A database of one table, `kept`, appended to and then queried; what exceeds its memory lies on disk."""

    def __init__(self, memory: int) -> None:
        import duckdb

        self.memory = max(memory // 2, 1 << 27)
        self._folder = ScratchFolder()
        path = self._folder.path
        self._connection = duckdb.connect(
            str(path / "scratch.db"),
            config={
                "memory_limit": f"{self.memory >> 20}MiB",
                "temp_directory": str(path / "spill"),
                "preserve_insertion_order": False,
            },
        )
        self._connection.execute("BEGIN")  # so that records go to the file, and not to a log first
        self.filled = False

    def append(self, table: pa.Table) -> None:
        """Add records; the first ones that there are fix the columns."""
        if not table.num_rows:
            return
        action = "INSERT INTO kept" if self.filled else "CREATE TABLE kept AS"
        self._connection.register("arriving", table)
        self._guarded(lambda: self._connection.execute(f"{action} SELECT * FROM arriving"))
        self._connection.unregister("arriving")
        self.filled = True

    def batches(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """The answer to a query, in batches."""
        yield from self._guarded(lambda: self._connection.sql(query).to_arrow_reader(rows))

    def close(self) -> None:
        """Remove it."""
        self._connection.close()
        self._folder.close()

    def _guarded(self, work: Callable[[], Any]) -> Any:
        import duckdb

        try:
            return work()
        except duckdb.Error:  # its message may quote a value
            raise OperatorError(
                "the temporary database of units could not be written or sorted.",
                hint="set TMPDIR to a folder with more room: about 40 bytes a record.",
            ) from None

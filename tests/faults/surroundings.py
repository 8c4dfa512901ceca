"""Surroundings that fail a run: a disk that fills up, other people's folders, a clock set back, files that move."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from breakages import Bench, said_well

PAGE = 4096
NOBODY = 65534


def full_at_each_write(bench: Bench, most: int = 60) -> str:
    """Disks of one page, two pages, ...: each is full at another write. Then there is room, and the run goes on."""
    if os.geteuid() != 0:
        return "disks that fill up are tried by root alone"
    for kind, sizes in (("pages", range(1, most)), ("files", range(2, 9))):
        for size in sizes:
            where = bench.fresh()
            options = f"size={size * PAGE}" if kind == "pages" else f"size=64m,nr_inodes={size}"
            with _disk(where, options) as mounted:
                if not mounted:
                    return "no disk of memory could be mounted"
                output = where / "made.csv"
                more = ("--release", str(where / "kept.release"))
                done = bench.run("synth", "csv", where, output, *more)
                sound, why = bench.is_sound(where, output)
                if math.isnan(
                    bench.spent(where)
                ):  # SQLite has no room to look; what it says is read again below
                    sound = not output.exists()
                bench.note(
                    f"disk full, by {kind}",
                    sound and (done.returncode == 0 or said_well(done, 1, 2)),
                    f"{size}: {done.stderr[-300:]} {why}",
                )
                full = done.returncode != 0
                subprocess.run(["mount", "-o", "remount,size=64m,nr_inodes=1000", str(where)], check=True)
                if full:
                    if (where / "kept.release").exists():  # the release was written, the records were not
                        more = (*more, "--overwrite")
                    done = bench.run("synth", "csv", where, output, *more)
                    bench.note(f"went on with room, by {kind}", *bench.went_on(done, where, output))
            if not full:
                break
    return ""


@contextmanager
def _disk(where: Path, options: str) -> Iterator[bool]:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(where)], check=False, capture_output=True
    )
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "--lazy", str(where)], check=True)


def other_users(bench: Bench) -> str:
    """Somebody who is not root, and folders and files that are not theirs: refused with a word, nothing charged."""
    if os.geteuid() != 0:
        return "other users are tried by root alone"

    def become_nobody() -> None:
        os.environ["HOME"] = "/nonexistent"
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    def tried(kind: str, prepare: Callable[[Path], None], engine: str = "csv") -> None:
        where = bench.fresh()
        where.chmod(0o777)
        (where / "out").mkdir()
        (where / "out").chmod(0o777)
        (where / "books").mkdir()
        (where / "books").chmod(0o777)
        prepare(where)
        words = bench.words("fit", engine, where / "books", where / "out" / "people.release")
        done = bench.launch(words, bench.folder, before=become_nobody).wait()
        nothing = not any((where / "out").iterdir()) if (where / "out").exists() else True
        spent = bench.spent(where / "books") if (where / "books").exists() else 0.0
        bench.note(kind, said_well(done, 1, 2) and nothing and spent == 0, f"{done.stderr[-300:]} {spent}")

    tried("not root: folder of the output read-only", lambda where: (where / "out").chmod(0o555))
    tried("not root: folder of the output missing", lambda where: (where / "out").rmdir())
    tried("not root: folder of the ledger read-only", lambda where: (where / "books").chmod(0o555))

    where = bench.fresh()
    where.chmod(0o777)
    foreign_books = where / "books"
    foreign_books.mkdir()
    bench.run("fit", "csv", foreign_books, foreign_books / "x.release")
    foreign_books.chmod(0o777)
    words = bench.words("fit", "csv", foreign_books, where / "people.release")
    done = bench.launch(words, bench.folder, before=become_nobody).wait()
    bench.note(
        "not root: ledger of somebody else",
        said_well(done, 1, 2) and not (where / "people.release").exists() and bench.spent(foreign_books) == 1,
        done.stderr[-300:],
    )
    hidden = bench.folder / "hidden.csv"
    shutil.copyfile(bench.folder / "people.csv", hidden)
    hidden.chmod(0o600)
    bench.addresses["hidden"] = "hidden.csv"
    tried("not root: records of somebody else", lambda _: None, engine="hidden")
    return ""


def clock_set_back(bench: Bench) -> None:
    """A run, and another by a clock that is twenty years behind: both are charged, in order."""

    def set_back() -> None:
        import time

        from understudy.privacy.ledger import append_only_log

        behind = time.time() - 20 * 365 * 86400
        time.time = lambda: behind
        append_only_log._now = lambda: "2001-01-01T00:00:00+00:00"

    for engine in bench.engines:
        where = bench.fresh()
        codes = [
            bench.run("fit", engine, where, where / "one.release").returncode,
            bench.run("fit", engine, where, where / "two.release", "--job", "b", before=set_back).returncode,
            bench.run("fit", engine, where, where / "two.release", "--job", "b", "--overwrite").returncode,
        ]
        bench.note("clock set back", codes == [0, 0, 0] and bench.spent(where) == 2, f"{codes}")


def two_in_one_folder(bench: Bench, times: int = 5) -> None:
    """The same command twice at once, to the same file: one charge, one whole file, a word from who came second."""
    for number in range(times):
        where = bench.fresh()
        engine = bench.engines[number % len(bench.engines)]
        output = where / "made.csv"
        runs = [bench.start("synth", engine, where, output) for _ in range(2)]
        ended = [run.wait() for run in runs]
        sound, why = bench.is_sound(where, output)
        told = all(done.returncode == 0 or said_well(done, 1, 2) for done in ended)
        bench.note(
            "two runs in one folder",
            sound and told and output.exists() and any(done.returncode == 0 for done in ended),
            f"{[done.returncode for done in ended]} {ended[0].stderr[-150:]} {ended[1].stderr[-150:]} {why}",
        )


def files_that_move(bench: Bench, times: int, usual: float) -> None:
    """A file that is cut short, grows or goes at a random instant of a run: told or read whole, and paid for."""
    for number in range(times):
        where = bench.fresh()
        what = ("cut short", "grown", "deleted")[number % 3]
        engine, name = (("streamed", "people.csv"), ("parquet", "people.parquet"))[number // 3 % 2]
        copy = where / name
        shutil.copyfile(bench.folder / name, copy)
        bench.addresses["moving"] = f"{bench.addresses[engine].partition(':')[0]}:{copy}"
        output = where / "made.csv"
        run = bench.start("synth", "moving", where, output)
        time.sleep(bench.random.uniform(0, usual))
        if what == "cut short":
            os.truncate(copy, copy.stat().st_size // 3)
        elif what == "grown":
            with copy.open("ab") as file:
                file.write(b"F,3\n" * 100)
        else:
            copy.unlink()
        done = run.wait()
        sound, why = bench.is_sound(where, output)
        told = done.returncode == 0 or said_well(done, 1, 2)
        bench.note(f"file {what} in mid-run", sound and told, f"{done.returncode} {done.stderr[-200:]} {why}")
        if done.returncode:
            shutil.copyfile(bench.folder / name, copy)
            done = bench.run("synth", "moving", where, output)
            well = done.returncode == 0 and output.exists()
            bench.note(
                f"file whole again, was {what}", well and bench.spent(where) in (1, 2), done.stderr[-200:]
            )

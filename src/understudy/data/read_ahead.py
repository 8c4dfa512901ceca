"""The next items of a stream, made on another thread while this one works on the last."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")
_WAIT = 0.1  # seconds between looks at whether anyone still wants more


def read_ahead(stream: Iterator[T], most: int = 2) -> Iterator[T]:
    """The items of the stream, at most `most` of them made ahead; an error is raised in the place of its item."""
    ready: Queue[tuple[bool, T | BaseException | None]] = Queue(most)
    stopped = Event()

    def put(item: tuple[bool, T | BaseException | None]) -> bool:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=_WAIT)
            except Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            for thing in stream:
                if not put((True, thing)):
                    return
            put((False, None))
        except BaseException as error:  # handed on, not swallowed
            put((False, error))
        finally:
            close = getattr(stream, "close", None)
            if close is not None:
                close()

    worker = Thread(target=work, daemon=True)
    worker.start()
    try:
        while True:
            try:
                more, thing = ready.get(timeout=_WAIT)
            except Empty:
                continue
            if more:
                yield thing  # type: ignore[misc]
            elif thing is None:
                return
            else:
                assert isinstance(thing, BaseException)
                raise thing
    finally:
        stopped.set()
        worker.join()

"""The next items of a stream, made on another thread while this one works on the last."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_END: Any = object()


def read_ahead(stream: Iterator[T], most: int = 2) -> Iterator[T]:
    """The items of the stream, at most `most` of them made ahead; an error is raised in the place of its item."""
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[Future[T]] = deque(pool.submit(next, stream, _END) for _ in range(most))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, stream, _END))
                yield item
        finally:
            for future in waiting:
                future.cancel()
            if hasattr(stream, "close"):  # where it was read, once it is read no more
                pool.submit(stream.close)

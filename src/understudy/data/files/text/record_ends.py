"""Where records end in a piece of a CSV file: at a line end outside of quotes, of any of the three kinds.

A quote opens a field only where one begins; elsewhere it is a character like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.compiled import njit

_QUOTE, _LINE_FEED, _RETURN = 34, 10, 13
_START, _PLAIN, _QUOTED, _CLOSED = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def last_end(piece: Any, delimiter: int) -> int:
    """Where the last whole record ends in a piece that begins with a record; 0 when none does.

    A carriage return at the very end is none yet: a line feed may follow.
    """
    end, state = 0, _START
    for place in range(piece.size):
        byte = piece[place]
        if state == _QUOTED:
            if byte == _QUOTE:
                state = _CLOSED
            continue
        if state == _CLOSED and byte == _QUOTE:  # one of a pair, which stands for itself
            state = _QUOTED
        elif byte == delimiter:
            state = _START
        elif byte in (_LINE_FEED, _RETURN):
            state = _START
            last = place + 1 == piece.size
            if byte == _LINE_FEED or not (last or piece[place + 1] == _LINE_FEED):
                end = place + 1
        elif byte == _QUOTE and state == _START:
            state = _QUOTED
        else:
            state = _PLAIN
    return end


def end_of_records(piece: bytes, delimiter: str, *, skip: int = 0) -> int:
    """`last_end` of some bytes, of which the first `skip` are no text."""
    found = int(last_end(np.frombuffer(piece, np.uint8)[skip:], ord(delimiter)))
    return found + skip if found else 0

"""How long a test waits for what must come: only what hangs takes so long, on however crowded a machine."""

from __future__ import annotations

SECONDS = 900.0  # by the clock

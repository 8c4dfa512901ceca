"""An attack on the promise, by ourselves: what noisy answers really give away, beside what was claimed.

Everything here works on tables of its own making and never sees a private record.
"""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.auditing.auditor import audit
    from understudy.auditing.verdict import Audit, Finding
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Audit": "understudy.auditing.verdict",
            "Finding": "understudy.auditing.verdict",
            "audit": "understudy.auditing.auditor",
        },
    )

__all__ = ["Audit", "Finding", "audit"]

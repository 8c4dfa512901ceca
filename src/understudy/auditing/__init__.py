"""An attack on the promise, by ourselves: what noisy answers really give away, beside what was claimed.

Everything here works on tables of its own making and never sees a private record.
"""

from typing import TYPE_CHECKING

from understudy.lazy import lazy_names

if TYPE_CHECKING:
    from understudy.auditing.auditor import audit
    from understudy.auditing.verdict import Audit, Finding

__all__ = ["Audit", "Finding", "audit"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)

"""Self-contained pages for people."""

from understudy.report.page import page

__all__ = ["page"]

"""Self-contained pages for people."""

from understudy.report.release_page import release_page

__all__ = ["release_page"]

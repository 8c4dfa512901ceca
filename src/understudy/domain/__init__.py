"""Names, sizes and meaning of columns."""

from understudy.domain.domain import Clique, Domain

__all__ = ["Clique", "Domain"]

"""Values to codes and back; columns split and codes merged, and undone."""

from understudy.transforms.encode import Encoder, missing_text, reading_types
from understudy.transforms.transform import Chain, Codes, Transform

__all__ = ["Chain", "Codes", "Encoder", "Transform", "missing_text", "reading_types"]

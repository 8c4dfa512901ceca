"""Values to codes and back; columns split and codes merged, and undone."""

from understudy.transforms.compress import Compression, compress
from understudy.transforms.derive import TableTransform
from understudy.transforms.encode import Encoder, missing_text, reading_types
from understudy.transforms.split import Floor, Split, transform_from_dict
from understudy.transforms.transform import Chain, CodedColumns, Transform

__all__ = [
    "Chain",
    "CodedColumns",
    "Compression",
    "Encoder",
    "Floor",
    "Split",
    "TableTransform",
    "Transform",
    "compress",
    "missing_text",
    "reading_types",
    "transform_from_dict",
]

"""Values to codes and back; columns split and codes merged, and undone.

A table goes forward through `Split` and `Floor` (values to values), then `Encoder` (values to codes), then
`Compression` (codes to fewer codes); and in `reverse` it comes back the other way. The way back may draw random
numbers, from a generator that is passed in: it only ever sees synthetic codes, so a seed there costs no privacy.
"""

from understudy.transforms.compress import Compression, compress
from understudy.transforms.derive import TableTransform
from understudy.transforms.encode import Encoder, missing_text, reading_types
from understudy.transforms.split import Floor, Split, transform_from_dict

__all__ = [
    "Compression",
    "Encoder",
    "Floor",
    "Split",
    "TableTransform",
    "compress",
    "missing_text",
    "reading_types",
    "transform_from_dict",
]

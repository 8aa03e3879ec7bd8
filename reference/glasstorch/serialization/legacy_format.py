"""What did files look like before PyTorch 1.6?

Mirrors: torch/serialization.py (MAGIC_NUMBER, PROTOCOL_VERSION, StorageType of persistent ids in _legacy_save)

A row of pickles (a magic number, the version, facts about the machine, the object, the keys of its storages), and then
the storages: for each its number of elements in eight bytes, and its bytes. There are no checksums.
"""

from __future__ import annotations

import struct
import sys
from typing import Any, Final

MAGIC_NUMBER: Final = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION: Final = 1001
SYSTEM: Final[dict[str, Any]] = {
    "protocol_version": PROTOCOL_VERSION,
    "little_endian": sys.byteorder == "little",
    "type_sizes": {"short": 2, "int": 4, "long": struct.calcsize("=l")},
}
COUNT: Final = struct.Struct("<q")

"""How are grey images written as one PNG file?

A dozen lines instead of an imaging library: the same numbers always give the same file.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

GAP = 1


def write_grid(path: Path, images: torch.Tensor, columns: int = 8, scale: int = 6) -> None:
    """Write images of size (n, height, width), 0 black and 1 white, side by side; each pixel is drawn `scale` wide."""
    count, height, width = images.shape
    rows = -(-count // columns)
    grid = images.new_full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP), 0.5)
    for number, image in enumerate(images):
        top, left = number // columns * (height + GAP), number % columns * (width + GAP)
        grid[top : top + height, left : left + width] = image
    large = grid.clamp(0, 1).mul(255).round().byte().repeat_interleave(scale, 0).repeat_interleave(scale, 1)
    lines = b"".join(b"\0" + bytes(line) for line in large.tolist())  # each begins with its filter: none
    size = struct.pack(">IIBBBBB", large.shape[1], large.shape[0], 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

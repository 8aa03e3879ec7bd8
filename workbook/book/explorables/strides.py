"""Which tensors does the explorable of strides begin with?"""

from __future__ import annotations

from typing import Any

import glasstorch as torch
from workbook.book.figures import memory
from workbook.book.figures.kit import Figure

# What a reader may type, and how the page shows it.
STARTS = ("torch.arange(12).view(3, 4)", "torch.arange(24).view(2, 3, 4)", "torch.arange(12)")
MOST_ELEMENTS, MOST_DIMENSIONS = 48, 5  # of a tensor that there is room to draw


def data() -> dict[str, Any]:
    """The tensors to begin with, and how large one may become. The page computes the rest; a test compares it."""
    starts = []
    for code in STARTS:
        tensor = eval(code, {"torch": torch})
        geometry = {"sizes": list(tensor.shape), "strides": list(tensor.stride()), "offset": tensor.storage_offset()}
        starts.append({"code": code, "cells": tensor.untyped_storage().nbytes() // tensor.element_size(), **geometry})
    return {"starts": starts, "most": {"elements": MOST_ELEMENTS, "dimensions": MOST_DIMENSIONS}}


def figure() -> Figure:
    """Twelve cells, and two views that read some of them."""
    board = torch.arange(12).view(3, 4)
    drawing = memory.draw({"board": board, "board.t()": board.t(), "board[:, ::2]": board[:, ::2]})
    drawing.name, drawing.title = "explorable-strides", "One storage, and the cells that three views read"
    return drawing

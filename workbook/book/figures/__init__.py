"""Which figures does the book draw by code, and are the committed ones fresh?

    python -m workbook.book.figures            draw them all into chapters/assets/figures/
    python -m workbook.book.figures --check    say which ones are not as they would be drawn now

Reading order: `kit` (boxes, arrows, text, both colour schemes), one file for each figure, `command` (drawing or
checking them), `live` (figures that a cell draws of its own objects), `growing` (a curve that is drawn anew while a
cell runs).
"""

from __future__ import annotations

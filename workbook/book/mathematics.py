"""How does a formula of TeX become part of a page?

As MathML, made by the Python package math-core at build time: browsers draw it and screen readers read it as it is.
Browsers bring no mathematics typeface of their own. DejaVu Serif, which comes with matplotlib, has what a formula needs
(the table of its measures, brackets that grow); its licence permits a part of it to be shipped, and the part with the
characters of formulas is a quarter of the file. Only pages that have a formula load it.
"""

from __future__ import annotations

import html
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from workbook.book.errors import BookError
from workbook.exercises.say import installation

FORMULA = re.compile(r'<(span|div) class="arithmatex">(\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL)
TYPEFACE = "mpl-data/fonts/ttf/DejaVuSerif.ttf"  # both in the package matplotlib
LICENCE = "mpl-data/fonts/ttf/LICENSE_DEJAVU"
CHARACTERS = (
    *range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x300, 0x340),  # Latin, accents
    *range(0x370, 0x400), *range(0x2010, 0x2070), *range(0x20D0, 0x2100),  # Greek, punctuation, marks of symbols
    *range(0x2100, 0x2400), *range(0x27C0, 0x2800), *range(0x2900, 0x2B00),  # letters, arrows, operators
    *range(0x1D400, 0x1D800),  # the italic and other alphabets of mathematics
)  # fmt: skip


def with_mathematics(page: str, name: str) -> str:
    """The page with its formulas as MathML. One that stands alone has a box, in which it scrolls where it is wide."""

    def shown(match: re.Match[str]) -> str:
        tag, alone = match[1], match[2] == r"\["
        box = ' tabindex="0" role="group" aria-label="Formula"' if alone else ""
        return f'<{tag} class="formula"{box}>{mathml(html.unescape(match[3]).strip(), name, alone=alone)}</{tag}>'

    return FORMULA.sub(shown, page)


def mathml(formula: str, page: str, *, alone: bool) -> str:
    """A formula of TeX as MathML. Raises BookError with the page and the formula if it cannot be read."""
    try:
        from math_core import LatexError, LatexToMathML
    except ImportError as error:
        raise BookError(
            f"the book's formulas need {error.name}, which is not installed\n  run: {installation('book')}"
        ) from error
    try:
        return LatexToMathML(fancy_error=False).convert_with_local_state(formula, displaystyle=alone)
    except LatexError as error:
        raise BookError(f"{page}: math-core cannot read the formula\n  {formula}\n  {error}") from error


def write_typeface(folder: Path) -> None:
    """Write the part of the typeface that formulas use, and its licence, into a folder."""
    found = find_spec("matplotlib")  # without importing it
    if found is None or found.origin is None or find_spec("fontTools") is None:
        raise BookError(
            "the book's formulas need matplotlib's typeface and fonttools, which are not both installed\n"
            f"  run: {installation('book')}"
        )
    from fontTools import subset

    package = Path(found.origin).parent
    options = subset.Options(layout_features=["*"], drop_tables=["FFTM"], hinting=False)
    folder.mkdir(parents=True, exist_ok=True)
    with subset.load_font(str(package / TYPEFACE), options) as face:
        part = subset.Subsetter(options)
        part.populate(unicodes=CHARACTERS)
        part.subset(face)
        face.save(folder / "math.ttf")
    shutil.copyfile(package / LICENCE, folder / "LICENSE-math")

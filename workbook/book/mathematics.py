"""How does a formula of TeX become part of a page?

As MathML, made by the Python package math-core at build time: browsers draw it and screen readers read it as it is.
Browsers bring no mathematics typeface of their own. DejaVu Serif, which comes with matplotlib, has what a formula needs
(the table of its measures, brackets that grow); its licence permits a part of it to be shipped. That part holds the
characters of the site's formulas, and only pages that have a formula load it.
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
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
RADICAL = "\N{SQUARE ROOT}"  # the browser draws it for <msqrt> and <mroot>
# A letter that stands alone is drawn in italics: as a character of its own, but for the h, which is Planck's constant.
UPRIGHT = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡϴΣΤΥΦΧΨΩ∇αβγδεζηθικλμνξοπρςστυφχψω∂ϵϑϰϕϱϖ",
)  # fmt: skip
ITALICS = {
    letter: chr(first + place)
    for first, letters in zip((0x1D434, 0x1D6E2), UPRIGHT, strict=True)
    for place, letter in enumerate(letters)
} | {"h": "\N{PLANCK CONSTANT}"}


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


def characters_of(page: str) -> set[str]:
    """The characters that a browser draws for the formulas of a page.

    >>> [hex(ord(letter)) for letter in sorted(characters_of("a b <math><mi>c</mi><mo>&lt;</mo></math>"))]
    ['0x3c', '0x63', '0x221a', '0x1d450']
    """
    shown = {letter for formula in MATHML.findall(page) for letter in html.unescape(TAG.sub("", formula))}
    return shown and shown | {ITALICS[letter] for letter in shown if letter in ITALICS} | {RADICAL}


def write_typeface(folder: Path, characters: set[str]) -> None:
    """Write the part of the typeface that has these characters, and its licence, into a folder."""
    found = find_spec("matplotlib")  # without importing it
    if found is None or found.origin is None or find_spec("fontTools") is None:
        raise BookError(
            "the book's formulas need matplotlib's typeface and fonttools, which are not both installed\n"
            f"  run: {installation('book')}"
        )
    from fontTools import subset

    package = Path(found.origin).parent
    options = subset.Options(layout_features=["*"], drop_tables=["FFTM"], hinting=False, flavor="woff")
    folder.mkdir(parents=True, exist_ok=True)
    with subset.load_font(str(package / TYPEFACE), options) as face:
        part = subset.Subsetter(options)
        part.populate(text="".join(characters))
        part.subset(face)
        subset.save_font(face, str(folder / "math.woff"), options)
    shutil.copyfile(package / LICENCE, folder / "LICENSE-math")

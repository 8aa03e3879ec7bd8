"""How is text printed on the reader's screen, wide or narrow, with or without colours?"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TextIO

NARROWEST, WIDEST = 24, 100
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
ITEM = re.compile(r"(\s*)([-*]|\d+\.)\s+")
CODE = re.compile(r"`[^`\n]+`")
BOLD = re.compile(r"(`[^`\n]+`)|\*\*(.+?)\*\*", re.DOTALL)
LINK = re.compile(r"(`[^`\n]+`)|!?\[((?:`[^`]*`|[^\]`])+)\]\([^()\s]+\)")
HOLD = "\0"  # a space at which no line may end, until the lines are made


def width() -> int:
    """The width of text in columns."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


if sys.platform == "win32":

    @cache
    def shows_codes() -> bool:
        """Whether the terminal understands colour codes after they have been enabled."""
        import ctypes

        kernel = ctypes.windll.kernel32
        handle, mode = kernel.GetStdHandle(-11), ctypes.c_uint32()
        return bool(kernel.GetConsoleMode(handle, ctypes.byref(mode)) and kernel.SetConsoleMode(handle, mode.value | 4))

else:

    def shows_codes() -> bool:
        """Whether the terminal understands colour codes."""
        return os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether colours are wanted and the stream can show them."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or ((stream or sys.stdout).isatty() and shows_codes())


def paint(text: str, *styles: str) -> str:
    """The text in these styles, or unchanged without colours.

    >>> paint("refused", "red", "bold") in ("refused", "\\x1b[31;1mrefused\\x1b[0m")
    True
    """
    if not text or not has_colour():
        return text
    return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"


def fill(text: str, indent: str = "", hanging: str | None = None) -> str:
    """A paragraph, wrapped at the terminal's width. Words, commands and paths are never broken.

    >>> fill("one two", indent="  ")
    '  one two'
    """
    hanging = indent if hanging is None else hanging
    return "\n".join(lines(" ".join(text.split()), width(), indent, hanging))


def lines(text: str, columns: int, indent: str = "", hanging: str = "") -> list[str]:
    """One line of text as lines that fit; the spaces between its words are kept.

    >>> lines("a  b `c d`", 6)
    ['a  b', '`c d`']
    """
    held = CODE.sub(lambda match: together(match[0]), text)
    wrapped = textwrap.wrap(
        held,
        columns,
        initial_indent=indent,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(HOLD, " ") for line in wrapped]


def together(text: str) -> str:
    """A text whose words are kept together on one line."""
    return text.replace(" ", HOLD)


def visible(text: str) -> str:
    """A foreign text made safe for a terminal: control characters are written out.

    >>> visible("red\\x1b[31m\\r\\n\\tend")
    'red\\\\x1b[31m\\\\r\\n\\tend'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def say(text: str = "", indent: str = "", hanging: str | None = None) -> None:
    """Print a paragraph, or an empty line."""
    print(coloured(fill(text, indent, hanging)))


def coloured(text: str) -> str:
    """The text with its `commands and names` in colour; the backquotes stay, for they say the same without colour."""
    return CODE.sub(lambda match: paint(match[0], "cyan"), text) if has_colour() else text


def markdown(text: str) -> str:
    """A small Markdown text for a terminal: paragraphs and items wrapped, code indented and unchanged."""
    return "\n\n".join(coloured(block) if not block.startswith("    ") else block for block in blocks(text))


def blocks(text: str) -> Iterator[str]:
    """The paragraphs, lists and pieces of code of a Markdown text, each wrapped."""
    for number, part in enumerate(re.split(r"^```.*$", text, flags=re.MULTILINE)):
        if number % 2:
            yield textwrap.indent(textwrap.dedent(part.strip("\n")), "    ")
            continue
        for paragraph in re.split(r"\n\s*\n", part.strip("\n")):
            if paragraph.strip():
                yield "\n".join(wrapped(paragraph))


def wrapped(paragraph: str) -> Iterator[str]:
    """The lines of a paragraph; each list item begins on a new line."""
    if paragraph.startswith("    "):
        yield paragraph
        return
    if paragraph.startswith("|"):
        yield from table(paragraph)
        return
    for item in re.split(r"\n(?=\s*(?:[-*]|\d+\.)\s)", without_addresses(paragraph)):
        plain = without_bold(item.lstrip("#> "))
        match = ITEM.match(plain)
        first = match[0] if match else ""
        yield fill(plain[len(first) :], first, " " * len(first))


def without_bold(text: str) -> str:
    """A Markdown text without the marks of bold words; code stays as it is.

    >>> without_bold("**one** of `2**x` and `3**x`")
    'one of `2**x` and `3**x`'
    """
    return BOLD.sub(lambda match: match[1] or match[2], text)


def without_addresses(text: str) -> str:
    """A Markdown text with the words of its links in place of the links; code stays as it is.

    >>> without_addresses("see [one `view`](views#one), not `x[0](1)`")
    'see one `view`, not `x[0](1)`'
    """
    return LINK.sub(lambda match: match[1] or match[2], text)


def table(text: str) -> Iterator[str]:
    """The lines of a Markdown table, in columns, or each row as a list if the terminal is too narrow."""
    lines_of_it = without_addresses(text).splitlines()
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines_of_it]
    heading, *body = [row for row in rows if not all(set(cell) <= set("-: ") and cell for cell in row)]
    widths = [max(len(row[i]) for row in [heading, *body] if i < len(row)) for i in range(len(heading))]
    if sum(widths) + 2 * len(widths) > width():
        for row in body:
            said = [f"{title}: {cell}" if title else cell for title, cell in zip(heading, row, strict=False) if cell]
            yield fill("; ".join(said), "- ", "  ")
        return
    for row in [heading, ["-" * size for size in widths], *body]:
        yield "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=False)).rstrip()


@cache
def program() -> str:
    """The command as this reader can type it: `workbook`, or its path if it is not on the search path.

    >>> program() != ""
    True
    """
    here = Path(sys.executable).with_name("workbook.exe" if os.name == "nt" else "workbook")
    found = shutil.which("workbook")
    if found and os.path.samefile(Path(found).parent, here.parent):
        return "workbook"
    if not here.is_file():
        return "python -m workbook"
    return typed(here)


def typed(path: Path) -> str:
    """A program's path as it is typed: from the current folder if it is below that, in quotes if it has a space."""
    near = os.path.relpath(path)
    if near.startswith(os.pardir):
        near = str(path)
    elif os.sep not in near:
        near = os.path.join(os.curdir, near)
    return f'"{near}"' if " " in near else near


def installation(extra: str) -> str:
    """The command that installs one of the extras of pyproject.toml for the Python that runs this.

    >>> installation("torch").endswith(' -m pip install -e ".[torch]"')
    True
    """
    return f'{typed(Path(sys.executable))} -m pip install -e ".[{extra}]"'


def command(words: str) -> str:
    """A command of the workbook, as it is typed."""
    return f"`{program()} {words}`"


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural if necessary.

    >>> count(1, "hint"), count(3, "hint")
    ('1 hint', '3 hints')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"

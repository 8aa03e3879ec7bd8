"""Where in PyTorch's source is each mechanism that the book explains?

`tests/truth/source_map.yaml` names files and symbols of PyTorch 2.13, chapter by chapter; a test looks each
one up in the installed wheel. This is the page made from it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from workbook.book.errors import BookError, last_line
from workbook.book.project import TRUTH
from workbook.book.prose import with_code

RELEASE = "v2.13.0"  # the tag of the version that the book describes
REPOSITORY = "https://github.com/pytorch/pytorch/blob"

CHAPTERS = {
    "architecture": "01 Architecture",
    "tensor_storage": "02 Tensor and storage",
    "dispatcher": "03 Dispatcher",
    "autograd": "04 Autograd",
    "cuda": "05 CUDA",
    "jit_compile": "06 JIT and compile",
    "nn_optim_distributed_quant_amp_export_profiler": "07 to 10 Training, scale and tools",
}


OF_ONE_KIND = re.compile(r"\w*[a-z][A-Z]\w*")  # a name of several words, such as TensorImpl: Node may be anybody's


class Place(NamedTuple):
    """A symbol in a file of PyTorch's repository, and the wheel's copy of that file if there is one."""

    path: str
    symbol: str
    in_wheel: str | None  # relative to the wheel's torch/ folder
    says: str
    github_check: str = ""  # how a file that is not in the wheel was looked up


def places(root: Path) -> dict[str, list[Place]]:
    """The places by chapter."""
    path = root / TRUTH / "source_map.yaml"
    try:
        chapters = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {CHAPTERS[key]: [Place(**entry) for entry in entries] for key, entries in chapters.items()}
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise BookError(
            f"{path.name}: {last_line(str(error))}\n"
            f"  its chapters are {', '.join(CHAPTERS)}; an entry has {', '.join(Place._fields)}"
        ) from error


def name_of(place: Place) -> str:
    """The name that a place's symbol defines, without the words of C++ or Python before it.

    >>> name_of(Place("c10/core/TensorImpl.h", "struct C10_API TensorImpl", None, ""))
    'TensorImpl'
    """
    return place.symbol.removesuffix(" final").rpartition(" ")[2]


def names_of(root: Path) -> dict[str, Place]:
    """The places of the names that mean nothing else: names of several words, each of one place only."""
    found: dict[str, list[Place]] = {}
    for place in (place for entries in places(root).values() for place in entries):
        found.setdefault(name_of(place), []).append(place)
    return {name: these[0] for name, these in found.items() if len(these) == 1 and OF_ONE_KIND.fullmatch(name)}


def anchor_of(name: str) -> str:
    """The anchor on the page of a name's place."""
    return f"symbol-{name}"


def source_map_page(root: Path) -> str:
    """The Markdown of the page, without its introduction."""
    parts, names, numbers = [], names_of(root), lines(root)
    for chapter, entries in places(root).items():
        parts.append(f"## {chapter}")
        parts.append(
            "\n".join(
                ['<dl class="places" markdown="0">', *(entry_html(each, names, numbers) for each in entries), "</dl>"]
            )
        )
    return "\n\n".join(parts)


def address_of(path: str, line: int | None = None) -> str:
    """The address of a file in PyTorch's repository, or of a line in it, in the version that the book describes.

    >>> address_of("c10/core/Device.h", 31)
    'https://github.com/pytorch/pytorch/blob/v2.13.0/c10/core/Device.h#L31'
    """
    return f"{REPOSITORY}/{RELEASE}/{path}" + ("" if line is None else f"#L{line}")


def lines(root: Path) -> dict[str, dict[str, int]]:
    """The line of each symbol in the files that the wheel holds, by path and symbol.

    `python -m tests.truth.source_lines` writes them, from the installed wheel; a book without that file has none.
    """
    path = root / TRUTH / "source_lines.json"
    found: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def entry_html(
    place: Place, anchored: Collection[str] = (), numbers: Mapping[str, Mapping[str, int]] | None = None
) -> str:
    """One place: the file, the symbol in it, whether the wheel has it, and what it says; with its anchor, if its name
    is one of these, and a link to its line, if that is among the numbers."""
    name = name_of(place)
    anchor = f' id="{anchor_of(name)}"' if name in anchored else ""
    address = address_of(place.path, (numbers or {}).get(place.path, {}).get(place.symbol))
    broken = html.escape(place.path).replace("/", "/<wbr>")
    only = "" if place.in_wheel else ' <span class="mark">only in the repository</span>'
    says = re.sub("`(.*?)`", r"<code>\1</code>", html.escape(with_code(place.says), quote=False))
    return (
        f'<dt{anchor}><a href="{html.escape(address)}"><code>{broken}</code></a>'
        f'<code class="symbol">{html.escape(place.symbol)}</code>{only}</dt>\n'
        f"<dd>{says}</dd>"
    )

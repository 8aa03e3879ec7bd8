"""Which pages list the operators, and what does an entry say?

One page for each family of operators, and an index. All facts come from the running library
(`glasstorch.operators.whereabouts`), so a page cannot say what is not so.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

import glasstorch
from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators.families import FAMILIES, Family
from glasstorch.operators.gen.model import NativeFunction, load_functions
from glasstorch.operators.whereabouts import LIBRARY, Whereabouts, forms_of, whereabouts
from workbook.book.api import plain
from workbook.book.house import PACKAGE
from workbook.book.references import reference_of
from workbook.book.withheld import FORMULAS, all_asked

FOLDER = "reference/operators"
TALLEST = 16_000  # pixels at most, about, of one page: the names of a longer family are on several


@dataclass(frozen=True)
class Entry:
    """All overloads of one name."""

    name: str
    says: str
    public: tuple[str, ...]  # torch.cumsum, Tensor.cumsum
    overloads: tuple[Whereabouts, ...]  # in-place and out= forms stand with what they are forms of
    docs: tuple[str, ...]  # what is said of each of them

    @property
    def operators(self) -> int:
        """The number of operators in the entry, including forms."""
        return len(self.overloads) + sum(len(forms_of(one.name)) for one in self.overloads)


@lru_cache(maxsize=1)
def entries() -> dict[str, list[Entry]]:
    """The entries of each family, by name; a name belongs to the family of its first overload."""
    cuda.register_kernels()
    names: dict[str, list[NativeFunction]] = {}
    for function in load_functions():
        if function.functional is None:
            names.setdefault(function.schema.name, []).append(function)
    found: dict[str, list[Entry]] = {family.name: [] for family in FAMILIES}
    for name in sorted(names, key=lambda name: name.strip("_")):
        functions = names[name]
        told = tuple(whereabouts(registry.find(f"aten::{function.name}")) for function in functions)
        public = tuple(dict.fromkeys(path for function in functions for path in _public(function)))
        entry = Entry(name, functions[0].doc, public, told, tuple(each.doc for each in functions))
        found[functions[0].family].append(entry)
    return found


def _public(function: NativeFunction) -> Iterator[str]:
    """The names under which a program can use it."""
    name, module = function.schema.name, function.python_module
    short = name.removeprefix(f"{module}_")
    spaces = {None: "", "nn": "nn.functional."}
    if "function" in function.variants:
        path = spaces.get(module, f"{module}.") + short
        if _has(path):
            yield f"torch.{path}"
    if "method" in function.variants and hasattr(glasstorch.Tensor, name):
        yield f"Tensor.{name}"


def _has(path: str) -> bool:
    try:
        return bool(attrgetter(path)(glasstorch))
    except AttributeError:
        return False


# Pages ----------------------------------------------------------------------------------------------------------


def family_pages(root: Path) -> dict[str, str]:
    """The Markdown of the pages of each family, by their paths in the book; none for another library's folder."""
    if (root / PACKAGE).resolve() != LIBRARY:
        return {}
    return {
        page_of_family(family.name, number): family_page(family, number)
        for family in FAMILIES
        for number, _ in enumerate(parts_of(family.name))
    }


def nav_entries(root: Path) -> list[str | dict[str, list[dict[str, str]]]]:
    """The entries of these pages in the navigation."""
    if not family_pages(root):
        return []
    entries: list[str | dict[str, list[dict[str, str]]]] = []
    for family in FAMILIES:
        parts = parts_of(family.name)
        pages = [{extent(part): page_of_family(family.name, number)} for number, part in enumerate(parts)]
        entries.append({family.title: pages} if len(parts) > 1 else page_of_family(family.name))
    return entries


def page_of_family(name: str, number: int = 0) -> str:
    """The path in the book of a family's page, or of one of its further pages.

    >>> page_of_family("complex_numbers"), page_of_family("views", 1)
    ('reference/operators/complex-numbers.md', 'reference/operators/views-2.md')
    """
    further = f"-{number + 1}" if number else ""
    return f"{FOLDER}/{name.replace('_', '-')}{further}.md"


@lru_cache(maxsize=64)
def parts_of(family: str) -> list[list[Entry]]:
    """The entries of a family, in as few parts of about one length as make pages that are not too long."""
    heights = [height_of(entry) for entry in entries()[family]]
    number = -(-sum(heights) // TALLEST)
    parts: list[list[Entry]] = [[] for _ in range(number)]
    above = 0
    for entry, height in zip(entries()[family], heights, strict=True):
        parts[(above + height // 2) * number // sum(heights)].append(entry)
        above += height
    return parts


def height_of(entry: Entry) -> int:
    """About how many pixels an entry takes on a wide page: measured on all pages, it is within a tenth for a page."""
    lines = sum(
        len(one.kernels) + len(one.fast) + len(one.formulas) + 5 + bool(one.calls) + bool(one.differs)
        for one in entry.overloads
    )
    return 75 + 195 * len(entry.overloads) + 25 * lines


def extent(part: list[Entry]) -> str:
    """The first and the last name of a part."""
    return f"{part[0].name} to {part[-1].name}"


def family_page(family: Family, number: int = 0) -> str:
    """The page of one family, or one of its pages."""
    parts = parts_of(family.name)
    several = len(parts) > 1
    name = f"{family.title}, {extent(parts[number])}".replace("_", "\\_") if several else family.title
    others = ", ".join(
        f"[{extent(part)}]({Path(page_of_family(family.name, place)).name})".replace("_", "\\_")
        for place, part in enumerate(parts)
        if place != number
    )
    pages = [
        f"---\ndescription: The operators of glasstorch, {family.title}.\n---",
        f"# {name}",
        f"{family.says} In PyTorch, below `aten/src/ATen/native`: {family.mirrors}.",
        f"*{counted(entries()[family.name])}* [All operators](index.md).",
        f"On pages of their own: {others}." if several else "",
        *map(entry_markdown, parts[number]),
    ]
    return "\n\n".join(page for page in pages if page) + "\n"


def counted(found: list[Entry]) -> str:
    """The number of names and operators, as text."""
    operators = sum(entry.operators for entry in found)
    return f"{len(found)} names, {operators} operators with their overloads, in-place and out= forms."


def entry_markdown(entry: Entry) -> str:
    """One name: what it computes, and each overload."""
    public = " · ".join(f"`{name}`" for name in entry.public)
    lines = [_heading(entry.name), ""]
    lines += [plain(entry.says), ""]
    if public:
        lines += [public, ""]
    for one, says in zip(entry.overloads, entry.docs, strict=True):
        lines += ['<div class="operator" markdown="0">', f"<p><code>{_escaped(one.schema)}</code></p>"]
        lines += [f"<p>{_escaped(says)}</p>"] if says != entry.says else []
        lines.append("<dl>")
        lines += [f"<dt>{key}</dt><dd>{value}</dd>" for key, value in facts(one)]
        lines += ["</dl>", "</div>", ""]
    return "\n".join(lines).rstrip()


def facts(one: Whereabouts) -> Iterator[tuple[str, str]]:
    """The lines of an overload's box, as HTML."""
    composite = one.kind != "native"
    yield "kind", f"composite, {one.kind}" if composite else "native"
    for key, place in one.kernels:
        yield ("kernel" if composite else key), link(place)
    for fast in one.fast:
        yield "fast", f"{link(fast.where)}, {fast.exactness}"
    if one.calls:
        yield "calls", ", ".join(map(called, one.calls))
    if one.shape:
        yield "shape", link(one.shape)
    if one.formulas:
        yield "derivative", "<br>".join(formula_of(one, argument, formula) for argument, formula in one.formulas)
    elif one.kind == "CompositeImplicitAutograd":
        yield "derivative", "that of the operators it calls"
    elif one.refuses:
        yield "derivative", "not implemented: <code>backward()</code> refuses"
    else:
        yield "derivative", "none"
    forms = forms_of(one.name)
    if forms:
        yield "forms", ", ".join(f"<code>{_escaped(form)}</code>" for form in forms)
    for told in (one, *(whereabouts(registry.find(f"aten::{form}")) for form in forms)):
        if told.out is not None:
            yield "out=", _escaped(told.out)
    if one.tags:
        yield "tags", ", ".join(f'<code title="{_escaped(tag.meaning)}">{tag.name}</code>' for tag in one.tags)
    yield "in PyTorch", _escaped(one.mirrors)
    if one.differs:
        yield "file differs", _escaped(one.differs)


def formula_of(one: Whereabouts, argument: str, formula: str) -> str:
    """A formula of a derivative, or the exercise that asks for it."""
    name, dot, overload = one.name.partition(".")
    symbol = f"{name.removesuffix('_')}{dot}{overload}.{argument}"
    for asked in all_asked():
        if (asked.file, asked.symbol) == (FORMULAS, symbol):
            page = asked.exercise.page.replace(".md", ".html")
            link = f'<a href="../../exercises/{page}">{_escaped(asked.exercise.identity)}</a>'
            return f"<code>{_escaped(argument)}</code>: you write this in {link}"
    return f"<code>{_escaped(f'{argument}: {formula}')}</code>"


def _heading(name: str) -> str:
    """The heading of an entry, whose anchor is its name."""
    shown = name.replace("_", "\\_")
    if name.startswith("_") and name.endswith("_"):  # which Markdown would read as emphasis
        return f'## <a id="{name}"></a>{shown} {{ #{name.strip("_")}-in-place }}'
    return f"## {shown} {{ #{name} }}"


def called(name: str) -> str:
    """An operator as a link to its entry."""
    short = name.partition(".")[0]
    base = short if short in pages_by_name() else short.removesuffix("_")
    shown = f"<code>{_escaped(name)}</code>"
    page = pages_by_name().get(base)
    return shown if page is None else f'<a href="{Path(page).stem}.html#{base}">{shown}</a>'


@lru_cache(maxsize=1)
def pages_by_name() -> dict[str, str]:
    """The page that contains each name's entry."""
    return {
        entry.name: page_of_family(family, number)
        for family in entries()
        for number, part in enumerate(parts_of(family))
        for entry in part
    }


def link(place: str) -> str:
    """A location as a link to its module's page: to the function or table that contains it, if that has a name."""
    return f'<a href="{posixpath.relpath(reference_of(place), FOLDER)}"><code>{_escaped(place)}</code></a>'


def _escaped(text: str) -> str:
    return re.sub(r"`(.*?)`", r"<code>\1</code>", html.escape(text, quote=False))


def operator_index(root: Path) -> str:
    """The counts by family, and all names in order."""
    rows = []
    totals = [0] * 4
    for family in FAMILIES:
        numbers = counts(entries()[family.name])
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
        rows.append(f"- [{family.title}]({Path(page_of_family(family.name)).name}): {in_words(numbers)}")
    rows += ["", f"All together: {in_words(totals)}"]
    told = [one for found in entries().values() for entry in found for one in entry.overloads]
    formulas = len({one.derivative for one in told if one.formulas})  # an in-place form has the row of its operator
    on_cuda = sum(any(key == "CUDA" for key, _ in one.kernels) for one in told)
    rows += ["", f"Of these {formulas:,} have derivatives of their own, {on_cuda:,} a CUDA kernel of their own."]
    links = map(called, sorted(pages_by_name(), key=lambda name: name.strip("_").lower()))
    return "\n".join(rows) + '\n\n## By name\n\n<p class="names" markdown="0">' + " ".join(links) + "</p>"


def in_words(numbers: list[int]) -> str:
    """The four counts of a family, or of all."""
    names, operators, native, composite = (f"{number:,}" for number in numbers)
    return f"{names} names, {operators} operators; {native} native, {composite} composite."


def counts(found: list[Entry]) -> list[int]:
    """The numbers of names and operators, and of native and composite operators that are not forms."""
    told = [one for entry in found for one in entry.overloads]
    native = [one for one in told if one.kind == "native"]
    return [len(found), sum(entry.operators for entry in found), len(native), len(told) - len(native)]

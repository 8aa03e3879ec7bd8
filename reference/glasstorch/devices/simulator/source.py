"""How is CUDA C++ source rewritten for a C++ compiler?

It is rewritten in two ways: a `__shared__` declaration, which C++ lacks, becomes a reference into the block's memory;
the include of a header that device code cannot use becomes an `#error`. Line numbers do not change.

Mirrors: NVRTC in which headers it finds
Differs: nvcc and NVRTC read CUDA C++ as it is; nvcc has the host's headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from glasstorch.devices.simulator.errors import CompileError

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DECLARATOR = re.compile(r"\s*(?P<stars>\**)\s*(?P<name>\w+)\s*(?P<sizes>(?:\[.*\])?)\s*")
KERNEL = re.compile(r'extern\s+"C"\s*(?:__global__|__launch_bounds__\s*\([^)]*\)|\s|void)+\s+(\w+)\s*\(')
LINKAGE_BLOCK = re.compile(r'extern\s+"C"\s*\{')
SHARED = re.compile(r"(?:\bextern\s+)?\b__shared__\b([^;=]*);")
ALIGNMENT = re.compile(r"\b(?:__align__|alignas)\s*\(")
INCLUDE = re.compile(r'^([ \t]*#[ \t]*)include[ \t]*[<"]([^>"\n]+)[>"].*$', re.MULTILINE)
HEADERS = Path(__file__).parent / "include"  # those that a kernel has
GLOBAL = re.compile(r"__global__[^;{(]*?\b(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:void\s+)?(\w+)\s*\(")


def blanked(text: str, strings: bool = True) -> str:
    """The source with comments, and on request strings, replaced by spaces, so that everything keeps its position.

    >>> blanked("a /* b */ c // d")
    'a         c     '
    """

    def spaces(match: re.Match[str]) -> str:
        if not strings and match[0][0] in "\"'":
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return NOT_CODE.sub(spaces, text)


def kernel_names(text: str) -> list[str]:
    """The kernels in `extern "C"`, in order.

    >>> kernel_names('extern "C" __global__ void f(int n) {} __global__ void g() {}')
    ['f']
    """
    plain = blanked(text, strings=False)
    names = [(match.start(), match[1]) for match in KERNEL.finditer(plain) if "__global__" in match[0]]
    for block in LINKAGE_BLOCK.finditer(plain):
        end = closing(plain, block.end() - 1, "{}")
        names += [(match.start(), match[1]) for match in GLOBAL.finditer(plain, block.end(), end)]
    return list(dict.fromkeys(name for _, name in sorted(names)))


def without_host_headers(text: str, folders: Sequence[str] = ()) -> str:
    """The source with an `#error` for each header that is neither ours nor in one of the folders.

    The compiler reports its line, and skips it if an `#if` excludes it.
    """

    def refused(match: re.Match[str]) -> str:
        start, header = match[1], match[2]
        if any(Path(folder, header).is_file() for folder in (str(HEADERS), *folders)):
            return match[0]
        return (
            f"{start}error cannot open {header}: a kernel has no host headers; "
            "printf and the math functions are there without"
        )

    plain, pieces, end = blanked(text, strings=False), [], 0
    for match in INCLUDE.finditer(plain):
        pieces += [text[end : match.start()], refused(match)]
        end = match.end()
    return "".join([*pieces, text[end:]])


def rewritten(text: str) -> str:
    """The source with its `__shared__` declarations turned into references.

    >>> rewritten("__shared__ float tile[16][17];")
    'auto& tile = sim::shared<float [16][17], 0>(SIM_HERE);'
    >>> rewritten("extern __shared__ double row[];")
    'auto* row = sim::dynamic<double>();'
    """
    plain = blanked(text)
    pieces, end = [], 0
    for number, match in enumerate(SHARED.finditer(plain)):
        declaration = text[match.start(1) : match.end(1)]
        code = plain[match.start(1) : match.end(1)]
        new = _dynamic(code) if match[0].startswith("extern") else _static(code, number * 100)
        pieces += [text[end : match.start()], new, "\n" * declaration.count("\n")]
        end = match.end()
    return "".join([*pieces, text[end:]])


def _dynamic(declaration: str) -> str:
    _, type_name, declarators = _parts(declaration)
    (name, _), *_ = declarators
    return f"auto* {name} = sim::dynamic<{type_name}>();"


def _static(declaration: str, number: int) -> str:
    alignment, type_name, declarators = _parts(declaration)
    return " ".join(
        f"auto& {name} = sim::shared<{f'{type_name} {sizes}'.strip()}, {number + i}{alignment and f', {alignment}'}>"
        "(SIM_HERE);"
        for i, (name, sizes) in enumerate(declarators)
    )


def _parts(declaration: str) -> tuple[str, str, list[tuple[str, str]]]:
    """The alignment (or ""), the type, and each name with its declarator: `float a[2], *b` gives float, a [2], b *."""
    alignment = ""
    while match := ALIGNMENT.search(declaration):
        end = closing(declaration, match.end() - 1, "()")
        alignment = declaration[match.end() : end].strip()
        declaration = declaration[: match.start()] + declaration[end + 1 :]
    declaration = re.sub(r"\bvolatile\b", " ", declaration)
    first, *others = _declarators(" ".join(declaration.split()))
    match = re.fullmatch(r"(?P<type>.*?[^*&\s])\s*(?P<rest>\**\s*\b\w+\s*(?:\[.*\])?)\s*", first)
    names = [DECLARATOR.fullmatch(each) for each in (match["rest"], *others)] if match else [None]
    if match is None or None in names:
        raise CompileError(f"cannot read the declaration `__shared__ {declaration.strip()};`")
    return alignment, match["type"].strip(), [(n["name"], f"{n['stars']}{n['sizes']}") for n in names if n]


def _declarators(text: str) -> Iterator[str]:
    """The source split at the commas outside brackets."""
    depth = start = 0
    for position, letter in enumerate(text):
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and not depth:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def closing(text: str, opening: int, pair: str) -> int:
    """The position of the bracket that closes the one at `opening`; the end of the source if there is none."""
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] == pair[0]) - (text[position] == pair[1])
        if not depth:
            return position
    return len(text)

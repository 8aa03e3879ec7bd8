"""Which files of the library import each other, directly or around several corners?

Every kind of import counts: at the top of a file, inside a function, for type checkers only, and of the packages that
Python imports on the way to a module. `Tensor`, our forward declaration, does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.architecture.layers import FORWARD_DECLARATION, imports

Graph = Mapping[str, Iterable[str]]


def cycles(package: Path) -> list[list[str]]:
    """Groups of modules of which each imports every other, directly or through others."""
    return sorted(sorted(group) for group in components(import_graph(package)) if len(group) > 1)


def import_graph(package: Path) -> dict[str, set[str]]:
    """Each module of a package, and the others that it imports."""
    files: dict[str, list[Path]] = {}
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = path.relative_to(package).with_suffix("").parts
        files.setdefault(".".join(part for part in parts if part != "__init__"), []).append(path)
    return {
        module: {
            entered
            for path in paths
            for other in _imported(path, package, files)
            for entered in (other, *_on_the_way(other, module))
            if entered in files
        }
        - {module}
        for module, paths in files.items()
    }


def _on_the_way(other: str, module: str) -> Iterator[str]:
    """The packages above a module, but for those that the importing one is in: they are being imported already."""
    package = other.rpartition(".")[0]
    while package and not f"{module}.".startswith(f"{package}."):
        yield package
        package = package.rpartition(".")[0]


def _imported(path: Path, package: Path, files: Mapping[str, object]) -> Iterator[str]:
    for taken in imports(path, package):
        if (taken.module, taken.name) == FORWARD_DECLARATION and taken.only_for_types:
            continue
        # `from glasstorch.core import keys` takes a module, `from glasstorch.core.keys import KEYS` what is in one.
        path_of_name = f"{taken.module}.{taken.name}".strip(".")
        module = path_of_name if path_of_name in files else taken.module
        if module in files:
            yield module


def components(graph: Graph) -> list[set[str]]:
    """The strongly connected components: Tarjan's algorithm, with a stack of its own in place of recursion."""
    found: list[set[str]] = []
    number: dict[str, int] = {}  # in the order in which the nodes were met
    low: dict[str, int] = {}  # the first node that is known to be reached from here and to lead here
    path: list[str] = []
    on_path: set[str] = set()
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in number:
                    number[other] = low[other] = len(number)
                    path.append(other)
                    on_path.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_path:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    start = path.index(node)
                    found.append(set(path[start:]))
                    on_path -= found[-1]
                    del path[start:]
    return found

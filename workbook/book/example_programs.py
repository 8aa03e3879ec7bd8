"""How does a cell use what a program in `examples/` defines?

The programs say `import torch`. Here they get glasstorch for it, whether torch is installed or not, and afterwards
`import torch` means what it did before: a section may train the same model with both libraries in one process.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from glasstorch import _as_torch
from workbook.book.errors import BookError
from workbook.book.project import project_root

EXAMPLES = "examples"


def example(name: str, **changes: tuple[str, str]) -> ModuleType:
    """A program of `examples/` as a module that was just imported, with glasstorch as its torch.

    Each change is a pair of a text and what stands in its place, in the program and in what it imports from its
    folder: `example("char_gpt", mask=("is_causal=True", "is_causal=False"))`. A text that is nowhere is an error.
    """
    folder = project_root() / EXAMPLES
    if not (folder / f"{name}.py").is_file():
        known = sorted(path.stem for path in folder.glob("*.py"))
        raise BookError(f"examples/ has no {name}.py\n  accepted: {', '.join(known)}")
    programs = Programs(folder, list(changes.values()))
    with glasstorch_as_torch(), programs.found_first():
        module = importlib.import_module(name)
    if missing := [old for old, _ in changes.values() if old not in programs.replaced]:
        raise BookError(f"neither examples/{name}.py nor what it imports from its folder has the text {missing[0]!r}")
    return module


class Programs:
    """Finds the modules of a folder, and changes their texts."""

    def __init__(self, folder: Path, changes: Sequence[tuple[str, str]]) -> None:
        self.folder, self.changes = folder, changes
        self.replaced: set[str] = set()

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """The spec of a program; Python calls this at each first import."""
        file = self.folder / f"{name}.py"
        if not file.is_file():
            return None
        return spec_from_file_location(name, file, loader=Changed(name, str(file), self))

    @contextmanager
    def found_first(self) -> Iterator[None]:
        """Find these programs, and no others of the same names; forget them afterwards."""
        names = {path.stem for path in self.folder.glob("*.py")}
        with modules_set_aside(names), first_finder(self):
            yield


class Changed(SourceFileLoader):
    """Loads a program with its changes. Nothing is cached: the next one may have others."""

    def __init__(self, name: str, path: str, programs: Programs) -> None:
        super().__init__(name, path)
        self.programs = programs

    def get_code(self, fullname: str) -> CodeType:
        """The compiled text."""
        source = Path(self.path).read_text(encoding="utf-8")
        for old, new in self.programs.changes:
            if old in source:
                source = source.replace(old, new)
                self.programs.replaced.add(old)
        return compile(source, self.path, "exec", dont_inherit=True)


class OurTorch:
    """Finds glasstorch's module for each module of torch."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """The spec of a module below torch."""
        return ModuleSpec(name, self) if name.partition(".")[0] == "torch" else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A stand-in with the names of glasstorch's module, whose own facts stay as they are."""
        ours = importlib.import_module("glasstorch" + spec.name.removeprefix("torch"))
        stand_in = module_from_spec(ModuleSpec(spec.name, None))
        stand_in.__path__ = []
        stand_in.__getattr__ = lambda wanted: getattr(ours, wanted)  # type: ignore[method-assign]
        return stand_in

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run."""


@contextmanager
def glasstorch_as_torch() -> Iterator[None]:
    """Within it, `import torch` and the modules below it give glasstorch, and a program that asks for that changes
    nothing more."""
    install = _as_torch.install
    _as_torch.install = lambda: None  # it would hold for the rest of the process
    try:
        with modules_set_aside({"torch"}), first_finder(OurTorch()):
            yield
    finally:
        _as_torch.install = install


@contextmanager
def first_finder(finder: object) -> Iterator[None]:
    """Ask this finder before all others."""
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]


@contextmanager
def modules_set_aside(tops: set[str]) -> Iterator[None]:
    """Modules of these names are imported anew within it; afterwards those are there that were before."""

    def there() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in tops]

    before = {name: sys.modules.pop(name) for name in there()}
    try:
        yield
    finally:
        for name in there():
            del sys.modules[name]
        sys.modules.update(before)

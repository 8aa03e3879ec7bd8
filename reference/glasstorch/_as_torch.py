"""How is `import torch` made to import glasstorch?

Mirrors: nothing; this is what lets an unchanged PyTorch program run
Differs: a finder in front of Python's own, so that an installed torch is left alone.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from multiprocessing import spawn
from types import ModuleType

import glasstorch
from glasstorch.core.unknown_names import advice, as_torch, offered_names

CANNOT_IMPORT = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>glasstorch[\w.]*)'")


class TorchFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds, for `torch` and everything below it, the module of glasstorch that has the same path."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec for a module below torch, None for any other; Python calls this at each first import."""
        if fullname.partition(".")[0] != "torch":
            return None
        found = importlib.util.find_spec(our_name(fullname))
        if found is None:
            raise ModuleNotFoundError(
                f"No module named '{fullname}' in glasstorch; {advice(fullname, torch_modules())}",
                name=fullname,
            )
        return ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of glasstorch itself, not a copy."""
        module = importlib.import_module(our_name(spec.name))
        # The import system writes its spec into the module it gets; exec_module puts the module's own back.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to run."""
        spec = module.__spec__
        if spec is not None and spec.loader is self:
            module.__spec__ = spec.loader_state


def install() -> None:
    """Make `import torch` import glasstorch from now on, in this process and in those that `multiprocessing` starts."""
    found = sys.modules.get("torch")
    if found is glasstorch:
        return
    if found is not None:
        raise ImportError("torch has been imported already; run `import torch` only after glasstorch took its place")
    sys.meta_path.insert(0, TorchFinder())
    prepare = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {"as_torch": InstalledWhenRead(), **prepare(name)}


class InstalledWhenRead:
    """Where it is unpickled, `import torch` imports glasstorch from then on.

    A process that is spawned reads what it needs to know, and then imports the program again, `import torch` and all.
    """

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        path = [*sys.path, os.path.dirname(os.path.dirname(glasstorch.__file__))]
        # Not `install` itself: the new process does not have our path of imports yet.
        return exec, (f"import sys; sys.path[:] = {path!r}; from {__name__} import install; install()",)


def our_name(torch_name: str) -> str:
    """The name of the glasstorch module that replaces a module of torch."""
    return "glasstorch" + torch_name.removeprefix("torch")


def torch_modules(root: ModuleType = glasstorch) -> Iterator[str]:
    """The modules that a program can import as `torch...`, by their names in PyTorch."""
    yield as_torch(root.__name__)
    late = {name for name in vars(root).get("_LATE", ()) if not name.startswith("_")}  # imported on first access
    for name in sorted({*offered_names(vars(root)), *late}):
        inner = getattr(root, name)
        if isinstance(inner, ModuleType) and inner.__name__ == f"{root.__name__}.{name}":
            yield from torch_modules(inner)


def import_hint(error: BaseException) -> str | None:
    """A hint for a failed `from torch import name`, whose message Python itself writes; None for other errors."""
    if not isinstance(error, ImportError) or isinstance(error, ModuleNotFoundError):
        return None
    match = CANNOT_IMPORT.match(str(error))
    if match is None:
        return None
    known = offered_names(vars(sys.modules[match["module"]]))
    return f"{match['name']} is not in glasstorch; {advice(match['name'], known)}"

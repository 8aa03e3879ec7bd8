"""How is `import torch` made to import glasstorch?

Mirrors: nothing; this is what lets an unchanged PyTorch program run
Differs: a finder in front of Python's own, so that an installed torch is left alone. Processes that the program starts
    with `multiprocessing` get one too (_spawned.py), and classes say where PyTorch has them (_class_paths.py).
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType

import glasstorch
from glasstorch import _class_paths, _spawned
from glasstorch.core.unknown_names import (
    LIST_COMMAND,
    advice,
    as_torch,
    is_of_torch,
    offered_names,
    torch_names,
    why_missing,
)

CANNOT_IMPORT = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>glasstorch[\w.]*)'")
SPAWNING = "multiprocessing.spawn"


class TorchFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds, for `torch` and everything below it, the module of glasstorch that has the same path."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec for a module below torch, None for most others; Python calls this at each first import."""
        top = fullname.partition(".")[0]
        if top == "glasstorch":
            return self._then(_class_paths.say_torch, fullname, path)
        if fullname == SPAWNING:
            return self._then(_spawned.install_in_children, fullname, path)
        if top != "torch":
            return None
        found = None
        with suppress(ModuleNotFoundError):  # of a folder on the way
            found = importlib.util.find_spec(our_name(fullname))
        if found is None:
            raise ModuleNotFoundError(f"No module named '{fullname}' in glasstorch; {_advice(fullname)}", name=fullname)
        return ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None)

    def _then(self, action: Callable[[ModuleType], None], name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """The spec that the next finder gives, with something to do after the module has run."""
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next(filter(None, (finder.find_spec(name, path) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_act(module: ModuleType) -> None:
                run(module)
                action(module)

            spec.loader.exec_module = run_and_act  # type: ignore[method-assign]
        return spec

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

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterable[Distribution]:
        """What `importlib.metadata.version("torch")` reads: packages ask it which PyTorch they run on."""
        asked = None if context is None else context.name
        return [TorchDistribution()] if asked is None or asked.lower() == "torch" else []


class TorchDistribution(Distribution):
    """The distribution that takes torch's place: it has a name, a version, and no files."""

    def read_text(self, filename: str) -> str | None:
        """The metadata, in place of the file."""
        text = f"Metadata-Version: 2.1\nName: torch\nVersion: {glasstorch.version.__version__}\n"
        return text if filename == "METADATA" else None

    def locate_file(self, path: object) -> Path:
        """Where a file of the distribution would be."""
        return Path(glasstorch.__file__).parent / str(path)


def install() -> None:
    """Make `import torch` import glasstorch from now on, in this process and in those that `multiprocessing` starts."""
    if any(isinstance(finder, TorchFinder) for finder in sys.meta_path):
        return
    found = sys.modules.get("torch")
    if found is not None and found is not glasstorch:
        raise ImportError("torch has been imported already; run `import torch` only after glasstorch took its place")
    sys.meta_path.insert(0, TorchFinder())
    _class_paths.say_torch_everywhere()
    if (spawning := sys.modules.get(SPAWNING)) is not None:
        _spawned.install_in_children(spawning)


def our_name(torch_name: str) -> str:
    """The name of the glasstorch module that replaces a module of torch."""
    return "glasstorch" + torch_name.removeprefix("torch")


def torch_modules() -> Iterator[str]:
    """The modules with public names that a program can import as `torch...`, by their names in PyTorch."""
    for name, names in torch_names().items():
        with suppress(ModuleNotFoundError):  # of a folder on the way
            if names and importlib.util.find_spec(our_name(name)) is not None:
                yield name


def _advice(missing: str) -> str:
    """What is said of a module that is not here."""
    parent = sys.modules.get(missing.rpartition(".")[0])
    known = [] if parent is None else offered_names(vars(parent))
    return why_missing(missing, known) if is_of_torch(missing) else advice(missing, torch_modules())


def hint_for(error: BaseException) -> str | None:
    """A hint for a missing name of the library, where Python itself wrote the message; None for other errors."""
    if isinstance(error, AttributeError):
        found = error.obj
        if not isinstance(found, ModuleType) or found.__name__.partition(".")[0] != "glasstorch":
            return None
        if LIST_COMMAND in str(error) or "glasstorch, because" in str(error):  # the module has said it
            return None
        return why_missing(f"{as_torch(found.__name__)}.{error.name}", offered_names(vars(found)))
    if isinstance(error, ModuleNotFoundError):
        # Python does not ask the finder for what is below a module that is no package, such as torch.distributed.
        below = str(error.name).startswith("torch.") and str(error).endswith("is not a package")
        return _advice(str(error.name)) if below else None
    if not isinstance(error, ImportError):
        return None
    match = CANNOT_IMPORT.match(str(error))
    if match is None:
        return None
    known = offered_names(vars(sys.modules[match["module"]]))
    return why_missing(f"{as_torch(match['module'])}.{match['name']}", known)

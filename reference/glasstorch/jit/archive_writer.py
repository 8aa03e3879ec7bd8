"""What does PyTorch's archive of a program hold?

Mirrors: torch/csrc/jit/serialization/export_module.cpp (ScriptModuleSerializer), python_print.cpp (printClass,
    printMethod), pickler.cpp (pushIValueImpl)
Differs: each module has a class of its own, and only the outermost has a method, as a traced module is one graph. There
    are no debug_pkl and traced_inputs, and source text is not compressed: equal programs give equal bytes. A function
    is the class `__torch__.NAME.PlaceholderModule`, where PyTorch forgets the name.

The records, in a folder:

    data.pkl            the outermost module: objects of the classes below, with their attributes as a dict
    data/0 ...          the bytes of the storages that it refers to
    code/__torch__.py   classes as source text: attributes with their types, and `forward`
    constants.pkl       a tuple of the tensors that the text calls CONSTANTS.c0 ...
    constants/0 ...     the bytes of their storages
    extra/...           the caller's extra files

and those that every archive of PyTorch has (`version`, `byteorder`; serialization/zip_writer.py).
"""

from __future__ import annotations

import io
import keyword
import pickle
import re
import textwrap
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.jit._script import Extra, ScriptFunction, ScriptModule
from glasstorch.jit.ir import Graph
from glasstorch.jit.printer import tensor_constants
from glasstorch.jit.python_print import print_method
from glasstorch.nn.modules.module import Module
from glasstorch.serialization.names import WRITTEN_AS
from glasstorch.serialization.pickler import PROTOCOL, STORAGES, SavedStorages, pickler
from glasstorch.serialization.zip_writer import ArchiveWriter

ROOT: Final = "__torch__"
FUNCTION: Final = "PlaceholderModule"  # PyTorch's name for the class that holds a function
HOOK_FLAG: Final = "_is_full_backward_hook"  # an attribute of every module of PyTorch


class ArchivedProgram:
    """The records of a program: made whole first, so that nothing is written of one that cannot be."""

    def __init__(self, m: Any, extra_files: Extra | None = None) -> None:
        """`m` is what `jit.trace` or `jit.load` gave."""
        if not isinstance(m, ScriptFunction | ScriptModule):
            raise ArgumentTypeError(
                f"jit.save: expected what jit.trace gave, a ScriptFunction or a ScriptModule, got {type(m).__name__}"
            )
        for name in extra_files or ():
            check_extra(name)
        self.extra_files = dict(extra_files or {})
        constants = _distinct(tensor_constants(m.graph))
        classes = _Classes()
        if isinstance(m, ScriptFunction):
            held: Any = classes.of_function(m.name, m.graph, constants)
        else:
            held = classes.of_module(m, m.graph, m.used_parameters, constants)
        self.sources = classes.sources
        self.pickles = {"data": _pickled(held), "constants": _pickled(tuple(map(classes.plain, constants)))}

    def write(self, file: Any, folder: str) -> None:
        """Write the archive to an open file."""
        archive = ArchiveWriter(file, folder)
        for name, (content, storages) in self.pickles.items():
            archive.write_record(f"{name}.pkl", content)
            for key, storage in storages.by_key.items():
                archive.write_record(f"{name}/{key}", storage.cpu().buffer)
        for path, text in self.sources.items():
            archive.write_record(path, text.encode())
        for name, given in self.extra_files.items():
            archive.write_record(f"extra/{name}", given.encode() if isinstance(given, str) else given)
        archive.finish()


def check_extra(name: Any) -> None:
    """Refuse a name with which a file would be unpacked outside its folder."""
    if not isinstance(name, str) or "\\" in name or not all(part.strip(".") for part in name.split("/")):
        raise ValueError(f"_extra_files: expected names such as 'notes/first.txt', got {name!r}")


def source_path(package: str) -> str:
    """The record with the source text of a package.

    >>> source_path("__torch__")
    'code/__torch__.py'
    """
    return f"code/{package.replace('.', '/')}.py"


class _Classes:
    """Gives each module a class, and writes the source text of it."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}  # path -> text
        self._objects: dict[int, tuple[Module, Any, str]] = {}  # by id: a module, what is pickled for it, its class
        self._plain: dict[int, tuple[Tensor, Tensor]] = {}  # by id: a tensor, and what is pickled for it
        self._taken: set[str] = set()

    def of_function(self, name: str, graph: Graph, constants: list[Tensor]) -> Any:
        """What is pickled for a function."""
        package = f"{ROOT}.{_identifier(name)}"
        path = f"{package}.{FUNCTION}"
        lines = ["__parameters__ = []", "__buffers__ = []", "training : bool", f"{HOOK_FLAG} : Optional[bool]"]
        self._add(package, FUNCTION, lines, print_method(graph, (), path, constants))
        return _object(package, FUNCTION, {"training": True, HOOK_FLAG: None})

    def of_module(
        self, module: Module, graph: Graph | None, used_parameters: tuple[str, ...], constants: list[Tensor]
    ) -> Any:
        """What is pickled for a module, with what is in it; `graph` is its forward, if it has one."""
        if id(module) in self._objects:
            return self._objects[id(module)][1]
        name = _identifier(getattr(module, "original_name", type(module).__name__))
        package = self._free_package(name)
        path = f"{package}.{name}"
        state: dict[str, Any] = {}
        types: dict[str, str] = {}
        for key, tensor in (*module._parameters.items(), *module._buffers.items()):
            state[key] = None if tensor is None else self.plain(tensor)
            types[key] = "NoneType" if tensor is None else "Tensor"
        state |= {"training": module.training, HOOK_FLAG: None}
        types |= {"training": "bool", HOOK_FLAG: "Optional[bool]"}
        made = _object(package, name, state)
        self._objects[id(module)] = (module, made, path)
        for key, child in module._modules.items():
            state[key] = None if child is None else self.of_module(child, None, (), constants)
            types[key] = "NoneType" if child is None else self._objects[id(child)][2]
        lines = [
            f"__parameters__ = [{''.join(f'{_quoted(key)}, ' for key in module._parameters)}]",
            f"__buffers__ = [{''.join(f'{_quoted(key)}, ' for key in module._buffers)}]",
            *(_declared(key, type) for key, type in types.items()),
        ]
        method = "" if graph is None else print_method(graph, used_parameters, path, constants)
        self._add(package, name, lines, method)
        return made

    def plain(self, tensor: Tensor) -> Tensor:
        """A parameter as a tensor: which attributes are parameters stands in the source text."""
        if id(tensor) not in self._plain:
            made = tensor if type(tensor) is Tensor else tensor.detach().requires_grad_(tensor.requires_grad)
            self._plain[id(tensor)] = (tensor, made)
        return self._plain[id(tensor)][1]

    def _free_package(self, name: str) -> str:
        """A package without a class of this name; PyTorch's own is the first."""
        package, number = ROOT, 0
        while f"{package}.{name}" in self._taken:
            package = f"{ROOT}.___torch_mangle_{number}"
            number += 1
        self._taken.add(f"{package}.{name}")
        return package

    def _add(self, package: str, name: str, lines: list[str], method: str) -> None:
        text = f"class {name}(Module):\n" + textwrap.indent("\n".join(lines) + "\n" + method, "  ")
        path = source_path(package)
        self.sources[path] = self.sources.get(path, "") + text


def _object(package: str, name: str, state: dict[str, Any]) -> Any:
    """An object that is pickled as one of a class in the archive, with these attributes."""
    made = type(name, (), {WRITTEN_AS: (package, name)})()
    made.__dict__ = state
    return made


def _distinct(tensors: list[Tensor]) -> list[Tensor]:
    return list({id(tensor): tensor for tensor in tensors}.values())


def _pickled(what: Any) -> tuple[bytes, SavedStorages]:
    storages = SavedStorages()

    def persistent_id(part: Any) -> Any:
        return storages.persistent_id(part) if isinstance(part, STORAGES) else None

    buffer = io.BytesIO()
    pickler(buffer, pickle, PROTOCOL, persistent_id).dump(what)
    return buffer.getvalue(), storages


def _identifier(name: str) -> str:
    """A name that the source text can hold."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    return f"_{text}" if text[0].isdigit() or keyword.iskeyword(text) else text


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _declared(name: str, type: str) -> str:
    """The line that gives an attribute its type."""
    if name.isidentifier() and not keyword.iskeyword(name):
        return f"{name} : {type}"
    return f"__annotations__[{_quoted(name)}] = {type}"

"""How is a program made from PyTorch's archive?

Mirrors: torch/csrc/jit/serialization/import.cpp (ScriptModuleDeserializer), torch/csrc/jit/serialization/unpickler.cpp
Differs: only programs whose `forward` our graphs can hold are read: traced functions and modules, ours and PyTorch's.
    Anything else in an archive is refused by name. A class that has no attributes and is called PlaceholderModule is a
    function.

The pickles go through the restricted machine of `torch.load`, which calls nothing that a file asks for; the source text
is read in `source_text` and becomes a graph in `source_graph`. Nothing of an archive is executed.
"""

from __future__ import annotations

from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import bool_, uint8
from glasstorch.core.errors import DeviceError
from glasstorch.jit._script import LoadedChild, RecursiveScriptModule, ScriptFunction
from glasstorch.jit.archive_writer import FUNCTION, HOOK_FLAG, ROOT, source_path
from glasstorch.jit.archived_object import ArchivedObject, unpickled
from glasstorch.jit.source_graph import graph_of
from glasstorch.jit.source_text import Sources
from glasstorch.jit.verify import LintError
from glasstorch.nn.parameter import Parameter
from glasstorch.serialization.rebuild import short
from glasstorch.serialization.zip_format import ArchiveError
from glasstorch.serialization.zip_reader import ArchiveReader

PLAIN: Final = (bool, int, float, str, type(None), Device)  # attributes that are constants of the program
OTHER_FILES: Final = {
    "program.json": (
        "it was written by glasstorch before its archives became PyTorch's, in a form that is no longer read; trace "
        "the program again and save that"
    ),
    "data.pkl": "it holds an object that torch.save wrote, not a program; torch.load reads it",
}


def read_program(archive: ArchiveReader, on: Device | None) -> ScriptFunction | RecursiveScriptModule:
    """The program in an archive, its tensors on the given device or on those that they were saved from."""
    if not archive.has_record("constants.pkl"):
        for name, what in OTHER_FILES.items():
            if archive.has_record(name):
                raise unreadable(what)
    try:
        constants = unpickled(archive, "constants", on)
        if type(constants) is not tuple or not all(isinstance(held, Tensor) for held in constants):
            raise ArchiveError(f"constants.pkl must hold a tuple of tensors, got {short(constants)}")
        outermost = unpickled(archive, "data", on)
        if not isinstance(outermost, ArchivedObject):
            raise ArchiveError(f"data.pkl must hold a module, got {short(outermost)}")
        return _Program(Sources(_source_reader(archive)), constants).made(outermost)
    except DeviceError as error:
        raise ArchiveError(
            f"the archive of a traced program has tensors on a device which is not here: {error}. Load it with "
            "map_location='cpu' to have them on the CPU"
        ) from error
    except LintError as error:
        raise unreadable(f"its graph is not one that can be run: {error}") from error
    except ArchiveError as error:
        raise unreadable(str(error)) from error
    except (LookupError, TypeError, ValueError, RuntimeError, UnpicklingError, EOFError, RecursionError) as error:
        raise unreadable(f"its parts do not fit together: {type(error).__name__}: {error}") from error


def unreadable(why: str) -> ArchiveError:
    """The error for an archive that cannot be read."""
    return ArchiveError(f"failed reading the archive of a traced program: {why}")


def _source_reader(archive: ArchiveReader) -> Callable[[str], tuple[str, bytes] | None]:
    def read(package: str) -> tuple[str, bytes] | None:
        record = source_path(package)
        return (record, archive.read_record(record)) if archive.has_record(record) else None

    return read


class _Program:
    """Makes modules from objects."""

    def __init__(self, sources: Sources, constants: tuple[Tensor, ...]) -> None:
        for tensor in constants:
            _check_bools(tensor)
        self.sources = sources
        self.constants = constants
        self._modules: dict[int, LoadedChild] = {}
        self._open: set[int] = set()  # the modules that are being made
        self._parameters: dict[int, Parameter] = {}

    def made(self, outermost: ArchivedObject) -> ScriptFunction | RecursiveScriptModule:
        """The function or module that the outermost object is."""
        graph, used = graph_of(outermost, self.sources, self.constants)
        graph.lint()
        package, _, name = outermost.path.rpartition(".")
        if name == FUNCTION and not any(
            isinstance(value, Tensor | ArchivedObject) for value in outermost.state.values()
        ):
            return ScriptFunction(package.rpartition(".")[2] if package != ROOT else "forward", graph)
        held = self._module(outermost)
        return RecursiveScriptModule(held, held.original_name, graph, used)

    def _module(self, held: ArchivedObject) -> LoadedChild:
        """A module with its tensors and its own children."""
        if id(held) in self._open:
            raise ArchiveError(f"a module of the class {held.path} is in itself")
        if id(held) in self._modules:
            return self._modules[id(held)]
        source = self.sources.of_class(held.path)
        module = LoadedChild(held.path.rpartition(".")[2])
        self._modules[id(held)] = module
        self._open.add(id(held))
        for name, value in held.state.items():
            if name == "training":
                if type(value) is not bool:
                    raise ArchiveError(f"{held.path}.training must be True or False, got {short(value)}")
                module.training = value
            elif name in source.parameters:
                module.register_parameter(name, None if value is None else self._parameter(held.path, name, value))
            elif name in source.buffers:
                if value is not None and not isinstance(value, Tensor):
                    raise ArchiveError(f"the buffer {held.path}.{name} must be a tensor, got {short(value)}")
                module.register_buffer(name, _check_bools(value))
            elif isinstance(value, ArchivedObject):
                module.add_module(name, self._module(value))
            elif isinstance(value, PLAIN):
                if name != HOOK_FLAG and value is None:
                    module.add_module(name, None)
            else:
                raise ArchiveError(
                    f"the attribute {held.path}.{name} is {short(value)}; known are parameters, buffers, modules and "
                    "numbers"
                )
        self._open.discard(id(held))
        return module

    def _parameter(self, path: str, name: str, value: Any) -> Parameter:
        if not isinstance(value, Tensor):
            raise ArchiveError(f"the parameter {path}.{name} must be a tensor, got {short(value)}")
        if id(value) not in self._parameters:
            _check_bools(value)
            self._parameters[id(value)] = Parameter(value.detach(), value.requires_grad)
        return self._parameters[id(value)]


def _check_bools(tensor: Tensor | None) -> Tensor | None:
    """Refuse a bool tensor with bytes that are neither 0 nor 1."""
    if tensor is None or tensor.dtype is not bool_ or tensor.is_meta:
        return tensor
    if tensor.view(uint8).gt(1).any():
        raise ArchiveError("the bytes of a bool tensor must be 0 or 1, and there are others")
    return tensor

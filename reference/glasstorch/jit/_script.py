"""How is a graph called as a function or a module?

Mirrors: torch/jit/_script.py (ScriptModule, RecursiveScriptModule), torch/csrc/jit/api/function_impl.h,
    aten/src/ATen/core/function_schema_inl.h (checkAndNormalizeInputs)
Differs: the graph of a module takes its parameters as further inputs, as PyTorch's does after the pass `lower_graph`.
    A module's children have no graph of their own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError
from glasstorch.jit.executor import GraphExecutor
from glasstorch.jit.ir import Graph, Value
from glasstorch.jit.python_print import print_function
from glasstorch.jit.types import ListType, TupleType, Type
from glasstorch.nn.modules.module import Module

Path = str | os.PathLike[str]
Extra = Mapping[str, str | bytes]


class Archives(Protocol):
    """What serialization.py, which reads this file, does with a program."""

    def save(self, m: Any, f: Path, extra_files: Extra | None) -> None:
        """Write it to a file."""

    def archive_of(self, m: Any, extra_files: Extra | None) -> bytes:
        """The bytes that `save` writes."""


archives: Archives


def set_archives(given: Archives) -> None:
    """Called once by serialization.py."""
    global archives
    archives = given


class ScriptFunction:
    """A function stored as a graph: calling it runs its `graph`, and no longer its source."""

    def __init__(self, name: str, graph: Graph) -> None:
        self.name = name
        self._executor = GraphExecutor(graph)  # first: refuses pickling
        self.graph = graph
        self._declaration = Declaration(name, graph.inputs)

    @property
    def code(self) -> str:
        """The traced graph, without passes, as the text of a Python function."""
        return print_function(self.name, self.graph)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._executor(*self._declaration.bind(args, kwargs))[0]

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph that a call with these arguments runs, after all passes."""
        return self._executor.graph_for(*self._declaration.bind(args, kwargs))

    def save(self, f: Path, _extra_files: Extra | None = None) -> None:
        """Write it to a file, as jit.save does."""
        archives.save(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: Extra | None = None) -> bytes:
        """The bytes that `save` writes."""
        return archives.archive_of(self, _extra_files)

    def __repr__(self) -> str:
        return f"<glasstorch.jit.ScriptFunction {self.name}({', '.join(self._declaration.names)})>"


class ScriptModule(Module):
    """A module stored as a graph: it has parameters, buffers and children, but calling it runs the graph.

    Its parameters are read at every call, so it can be trained. A traced module shares the original's
    parameter tensors; assigning another tensor to one of the two modules does not affect the other. The code paths that
    depend on `train` and `eval` were fixed when the graph was made.
    """

    def __init__(self, held: Module, original_name: str, graph: Graph, used_parameters: Sequence[str]) -> None:
        """`held` has the parameters, buffers and children that this module takes over."""
        super().__init__()
        self._executor = GraphExecutor(graph)  # before the graph: refuses pickling
        self.original_name = original_name
        self.training = held.training
        self._parameters = held._parameters
        self._buffers = held._buffers
        self._non_persistent_buffers_set = held._non_persistent_buffers_set
        self._modules = held._modules
        self.graph = graph
        self.used_parameters = tuple(used_parameters)  # their names in the module; the graph's last inputs
        self._sources = [_slot(self, name) for name in used_parameters]
        self._declaration = Declaration("forward", graph.inputs[: len(graph.inputs) - len(self._sources)])

    @property
    def code(self) -> str:
        """The traced graph, without passes, as the text of a Python method."""
        return print_function("forward", self.graph, self.used_parameters, "self")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the graph computes for these inputs."""
        return self._executor(*self._complete(args, kwargs))[0]

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph that a call with these arguments runs, after all passes."""
        return self._executor.graph_for(*self._complete(args, kwargs))

    def _complete(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments, followed by the parameters that the graph takes as inputs."""
        return *self._declaration.bind(args, kwargs), *(held[name] for held, name in self._sources)

    def save(self, f: Path, _extra_files: Extra | None = None) -> None:
        """Write it to a file, as jit.save does."""
        archives.save(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: Extra | None = None) -> bytes:
        """The bytes that `save` writes."""
        return archives.archive_of(self, _extra_files)

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class RecursiveScriptModule(ScriptModule):
    """A loaded module: its graph, parameters, buffers and children are known, and its Python class is not."""


class ModulePart(Module):
    """A child of a ScriptModule: it holds its tensors, and its computation is part of the whole module's graph."""

    def __init__(self, original_name: str) -> None:
        super().__init__()
        self.original_name = original_name

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class LoadedChild(ModulePart):
    """A child of a loaded module."""

    def _get_name(self) -> str:
        return RecursiveScriptModule.__name__

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: an archive has one graph, that of the whole module."""
        raise ArgumentError(
            f"Module [{self.original_name}] was loaded as a part of another: what it computes is in the graph of the "
            "whole module; call that, or save this one by itself"
        )


class TracedModule(ModulePart):
    """The parameters, buffers and children of a traced module, which shares their tensors with the original."""

    def __init__(self, original: Module, made: dict[int, TracedModule] | None = None) -> None:
        """`made` holds the parts made so far, by the original's id: a child may occur more than once."""
        kept = isinstance(original, ScriptModule | ModulePart)
        super().__init__(original.original_name if kept else type(original).__name__)
        made = {} if made is None else made
        made[id(original)] = self
        self.training = original.training
        self._parameters = dict(original._parameters)
        self._buffers = dict(original._buffers)
        self._non_persistent_buffers_set = set(original._non_persistent_buffers_set)
        for name, child in original._modules.items():
            if child is not None and id(child) not in made:
                TracedModule(child, made)
            self._modules[name] = None if child is None else made[id(child)]

    def _get_name(self) -> str:
        return self.original_name

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: the only graph is that of the whole module."""
        raise ArgumentError(
            f"Trace submodules cannot be called: what {self.original_name} computes is in the graph of the whole "
            "module; call that, or trace this one by itself"
        )


def _slot(module: Module, path: str) -> tuple[dict[str, Any], str]:
    """The dictionary that holds a parameter or buffer, and its key there."""
    *parents, name = path.split(".")
    for parent in parents:
        child = module._modules[parent]
        assert child is not None, f"{path} is a parameter of no module"
        module = child
    held: dict[str, Any] = module._parameters if name in module._parameters else module._buffers
    return held, name


class Declaration:
    """The signature of a program: the names and the types of its inputs."""

    def __init__(self, name: str, inputs: Sequence[Value]) -> None:
        self.name = name
        self.names = [value.debug_name for value in inputs]
        self._types = [value.type for value in inputs]

    def __str__(self) -> str:
        taken = ", ".join(f"{taken.unshaped()} {name}" for name, taken in zip(self.names, self._types, strict=True))
        return f"{self.name}({taken})"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the inputs; ArgumentError for too few, too many, or wrong types."""
        if len(args) + len(kwargs) > len(self._types):
            raise ArgumentError(
                f"{self.name}() expected at most {len(self._types)} argument(s) but received "
                f"{len(args) + len(kwargs)} argument(s). Declaration: {self}"
            )
        if kwargs:
            for name in self.names[len(args) :]:
                if name not in kwargs:
                    break
                args += (kwargs[name],)
        if len(args) < len(self._types):
            missing = self.names[len(args)]
            raise ArgumentError(f"{self.name}() is missing value for argument '{missing}'. Declaration: {self}")
        for i, (expected, given) in enumerate(zip(self._types, args, strict=True)):
            if not _fits(expected, given):
                raise ArgumentError(
                    f"{self.name}() Expected a value of type '{expected.unshaped()}' for argument '{self.names[i]}' "
                    f"but instead found type '{type(given).__name__}'.\nPosition: {i}\nValue: {given}\n"
                    f"Declaration: {self}"
                )
        return args


def _fits(type: Type, given: Any) -> bool:
    """Whether an argument has the structure of an input: a tensor, or a tuple or list of tensors."""
    if isinstance(type, TupleType):
        return isinstance(given, tuple) and len(given) == len(type.elements) and all(map(_fits, type.elements, given))
    if isinstance(type, ListType):
        return isinstance(given, list) and all(_fits(type.element, element) for element in given)
    return isinstance(given, Tensor)

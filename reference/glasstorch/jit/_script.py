"""What is a program that is kept as a graph, and how is it called?

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
from glasstorch.nn.module import Module

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
    """A function that is kept as a graph: calling it runs its `graph`, whatever its source says by now."""

    def __init__(self, name: str, graph: Graph) -> None:
        self.name = name
        self._executor = GraphExecutor(graph)  # first: it refuses to be pickled
        self.graph = graph
        self._declaration = Declaration(name, graph.inputs)

    @property
    def code(self) -> str:
        """The graph, as it was traced, as the text of a Python function."""
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
    """A module that is kept as a graph: its parameters, buffers and children are there, but calling it runs the graph.

    Its parameters are read at every call, so that training them trains this. Those of a traced module are the
    original's own tensors; another one put in place of one of them is put there in one of the two modules only. What
    `train` and `eval` change in a module's code was fixed when the graph was made.
    """

    def __init__(self, held: Module, original_name: str, graph: Graph, used_parameters: Sequence[str]) -> None:
        """`held` has the parameters, buffers and children, which this takes over."""
        super().__init__()
        self._executor = GraphExecutor(graph)  # before the graph: it refuses to be pickled
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
        """The graph, as it was traced, as the text of a Python method."""
        return print_function("forward", self.graph, self.used_parameters, "self")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the graph computes for these inputs."""
        return self._executor(*self._complete(args, kwargs))[0]

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph that a call with these arguments runs, after all passes."""
        return self._executor.graph_for(*self._complete(args, kwargs))

    def _complete(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments, and the parameters that the graph takes after them."""
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
    """A module that was loaded: all that is known of it is its graph and what it holds."""


class ModulePart(Module):
    """A child of a ScriptModule: what it held is there, and what it computed is part of the whole module's graph."""

    def __init__(self, original_name: str) -> None:
        super().__init__()
        self.original_name = original_name

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class LoadedChild(ModulePart):
    """A child of a module that was loaded."""

    def _get_name(self) -> str:
        return RecursiveScriptModule.__name__

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: an archive has one graph, which is the whole module's."""
        raise ArgumentError(
            f"Module [{self.original_name}] was loaded as a part of another: what it computes is in the graph of the "
            "whole module; call that, or save this one by itself"
        )


class TracedModule(ModulePart):
    """What a module held when it was traced, and what its children held. The tensors are the same."""

    def __init__(self, original: Module, made: dict[int, TracedModule] | None = None) -> None:
        """`made` has what there is already, by the id of the original: a child may have more than one place."""
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
        """Refused: the one graph is that of the whole module."""
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
    """What a program takes: how its inputs are called, and what they are made of."""

    def __init__(self, name: str, inputs: Sequence[Value]) -> None:
        self.name = name
        self.names = [value.debug_name for value in inputs]
        self._types = [value.type for value in inputs]

    def __str__(self) -> str:
        taken = ", ".join(f"{taken.unshaped()} {name}" for name, taken in zip(self.names, self._types, strict=True))
        return f"{self.name}({taken})"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the inputs; ArgumentError for too few, too many, or other things than these."""
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
    """Whether an argument has the structure of an input: a tensor, or a tuple or list of them."""
    if isinstance(type, TupleType):
        return isinstance(given, tuple) and len(given) == len(type.elements) and all(map(_fits, type.elements, given))
    if isinstance(type, ListType):
        return isinstance(given, list) and all(_fits(type.element, element) for element in given)
    return isinstance(given, Tensor)

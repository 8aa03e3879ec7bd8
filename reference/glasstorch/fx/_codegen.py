"""How is a graph written as a Python function?

Mirrors: torch/fx/graph.py (CodeGen, PythonCode)
Differs: a class writes the lines of one function, of which `CodeGen` keeps the parts that a program can replace. What a
    verbose source says of each value is in _annotations.py.
"""

from __future__ import annotations

import enum
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Reversible, Sequence
from dataclasses import dataclass
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx import _annotations
from glasstorch.fx._custom_builtins import CUSTOM_BUILTINS
from glasstorch.fx._names import Namespace, at, is_from_torch, qualified_name, type_repr
from glasstorch.fx._operator_texts import IN_PLACE, OPERATORS
from glasstorch.fx.node import Argument, Node
from glasstorch.fx.tensor_type import TensorType

TransformCode = Callable[[list[str]], list[str]]

INDENT: Final = "    "
COUNTER: Final = re.compile(r"# COUNTER: (\d+)")
OLD_NAMES: Final = {kind: getattr(typing, name) for kind, name in (
    (list, "List"), (dict, "Dict"), (set, "Set"), (frozenset, "FrozenSet"), (tuple, "Tuple"),
)}  # fmt: skip


@dataclass
class PythonCode:
    """The source of a graph's function, and what it takes to run it.

    `globals` are the objects that the source refers to by name. `_lineno_map` says for each line, counted from the
    function's first, which node wrote it.
    """

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0


class CodeGen:
    """Writes a graph as a function. A subclass may change the function's head, its return and its globals."""

    # How a size that is not known yet is printed.
    _sym_repr: Callable[[Any], str] = staticmethod(repr)

    def __init__(self) -> None:
        self._body_transformer: TransformCode | None = None
        self._func_name: str = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The head of the function, with `self` before the parameters; one on each line if `expanded_def`.

        >>> CodeGen().gen_fn_def(["a", "b"], "")
        'def forward(self, a, b):'
        """
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if expanded_def:
            return f"def {self._func_name}(\n{''.join(map(_on_a_line, free_vars))}){maybe_return_annotation}:"
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(
        self,
        output_args: Argument,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        """The return statement, without indentation; with `descs`, one value on each line, followed by its text."""
        written = repr if repr_fn is None else repr_fn
        if descs is None or not isinstance(output_args, list | tuple):
            return f"return {written(output_args)}"
        return lines_of(output_args, descs, "return ", written)

    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders, from the function's arguments: the same, unless a subclass packs them."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What the function returns, from the value of the output node: the same, unless a subclass packs it."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that a subclass's code uses, with their objects."""
        return []

    def _gen_python_code(
        self, nodes: Reversible[Node], root_module: str, namespace: Namespace, *, verbose: bool = False, **shown: Any
    ) -> PythonCode:
        return Writer(self, root_module, namespace, verbose, _annotations.Shown(**shown)).write(nodes)


def _on_a_line(parameter: str) -> str:
    text, mark, comment = parameter.partition("#")
    return f"{INDENT}{text.rstrip()},  # {comment.lstrip()}\n" if mark else f"{INDENT}{parameter},\n"


def lines_of(items: Sequence[Any], descs: Sequence[str], before: str, written: Callable[[object], str]) -> str:
    """A list or tuple with an item on each line, each followed by its description as a comment."""
    left, right = ("(", ")") if isinstance(items, tuple) else ("[", "]")
    rows = (f"{INDENT}{written(item)},  # {desc}\n" for item, desc in zip(items, descs, strict=False))
    return f"{before}{left}\n{''.join(rows)}{right}"


def format_target(base: str, path: str) -> str:
    """The expression that reaches a dotted path from an object.

    >>> format_target("self", "layers.0.weight")
    'getattr(self.layers, "0").weight'
    """
    for name in path.split("."):
        base = f"{base}.{name}" if name.isidentifier() else f'getattr({base}, "{name}")'
    return base


class Writer:
    """Writes one function: a line for each node, which also lets go of the values that no later node uses."""

    def __init__(
        self, codegen: CodeGen, root_module: str, namespace: Namespace, verbose: bool, shown: _annotations.Shown
    ) -> None:
        self.codegen = codegen
        self.root_module = root_module
        self.namespace = namespace
        self.notes = _annotations.Notes(shown) if verbose else None
        self.shown = shown
        self.globals: dict[str, Any] = {}
        self.parameters: list[str] = []
        self.body: list[str] = []
        self.returned = ""
        self.wrapped: dict[str, None] = {}

    def write(self, nodes: Reversible[Node]) -> PythonCode:
        """The whole function."""
        for name, builtin in CUSTOM_BUILTINS.items():
            self.global_name(name, builtin.obj)
        if self.shown.record_func:
            self.body.append(_entering("_rf", "ENTER_GRAPH_PLACEHOLDER_KEY"))
        ends = last_uses(nodes)
        for i, node in enumerate(nodes):
            if self.notes is not None:
                self.body += self.notes.above(node)
            self.body.append(f"# COUNTER: {i}\n")  # taken out again in `_assemble`
            recorded = self.shown.record_func and node.op in ("call_function", "call_method", "call_module")
            if recorded:
                self.body.append(_entering(f"_rf_{node.name}", str(i)))
            self.emit(node)
            self.let_go(node, ends.get(node, []))
            if recorded:
                self.body.append(f"_rf_{node.name}.__exit__(None, None, None)\n")
        if self.shown.record_func:
            self.body.append("_rf.__exit__(None, None, None)\n")
        return self._assemble()

    def _assemble(self) -> PythonCode:
        body = self.body or ["pass\n"]
        wraps = ""
        if self.wrapped:
            wrap = self.global_name("wrap", at("fx.wrap"))
            wraps = "\n".join(f'{wrap}("{name}")' for name in self.wrapped)
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        for name, value in self.codegen.additional_globals():
            self.global_name(name, value)
        head = self.codegen.gen_fn_def(self.parameters, self.returned, **self._expanded(self.codegen.gen_fn_def))
        node_of_line: dict[int, int | None] = {}
        before = head.count("\n") + 1
        lines: list[str] = []
        current = None
        for line in "".join(body).split("\n"):
            if (counter := COUNTER.search(line)) is not None:
                current = int(counter[1])
            else:
                node_of_line[len(lines) + before] = current
                lines.append(line)
        code = "\n".join(INDENT + line for line in "\n".join(lines).lstrip("\n").split("\n"))
        start = wraps.count("\n") + 4  # the empty lines around them
        return PythonCode(f"\n{wraps}\n\n{head}\n{code}", self.globals, node_of_line, start)

    def _expanded(self, method: Callable[..., Any]) -> dict[str, Any]:
        """The argument `expanded_def`, for a method that takes it: an older subclass's does not."""
        return {"expanded_def": self.shown.expanded_def} if _takes(method, "expanded_def") else {}

    # One node ----------------------------------------------------------------------------------------------------

    def emit(self, node: Node) -> None:
        """Write what a node does, without the end of its line."""
        typed = "" if node.type is None else f" : {self.type_name(node.type)}"
        comment = ""
        if self.notes is not None:
            typed = self.notes.annotation(node, self.codegen._sym_repr) or typed
            comment = self.notes.comment(node)
            self.body += self.notes.metadata(node)
        getattr(self, f"_{node.op}")(node, f"{node!r}{typed}", typed, comment)

    def _placeholder(self, node: Node, result: str, typed: str, comment: str) -> None:
        default = f" = {self.text(node.args[0])}" if node.args else ""
        self.parameters.append(f"{node.target}{typed}{default}{comment}")
        name = node.target.replace("*", "")
        if name != repr(node):
            self.body.append(f"{node!r} = {name}\n")

    def _call_method(self, node: Node, result: str, typed: str, comment: str) -> None:
        method = format_target(self.text(node.args[0]), node.target)
        self.body.append(f"{result} = {method}({self.arguments(node.args[1:], node.kwargs)})")

    def _call_function(self, node: Node, result: str, typed: str, comment: str) -> None:
        if form := OPERATORS.get(node.target):
            self.body.append(f"{result} = {form.format(*map(self.text, node.args))}")
            return
        if form := IN_PLACE.get(node.target):
            changed = form.format(*map(self.text, node.args))
            self.body.append(f"{changed};  {result} = {self.text(node.args[0])}")
            return
        name = self.global_name(qualified_name(node.target), node.target)
        if name == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            self.body.append(f"{result} = {format_target(self.text(node.args[0]), node.args[1])}")
            return
        self.body.append(f"{result} = {name}({self.arguments(node.args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)

    def _call_module(self, node: Node, result: str, typed: str, comment: str) -> None:
        module = format_target(self.root_module, node.target)
        self.body.append(f"{result} = {module}({self.arguments(node.args, node.kwargs)})")

    def _get_attr(self, node: Node, result: str, typed: str, comment: str) -> None:
        self.body.append(f"{result} = {format_target(self.root_module, node.target)}")

    def _output(self, node: Node, result: str, typed: str, comment: str) -> None:
        if node.type is not None:
            self.returned = f" -> {self.type_name(node.type)}"
        options: dict[str, Any] = {
            "descs": node.meta.get("desc") if self.shown.expanded_def and self.notes is not None else None,
            "repr_fn": self.text,
        }
        taken = {name: value for name, value in options.items() if _takes(self.codegen.generate_output, name)}
        self.body.append(self.codegen.generate_output(node.args[0], **taken))

    def let_go(self, node: Node, last_used: list[Node]) -> None:
        """End a node's line, and with it the life of the values that it is the last to use."""
        if node.op == "placeholder":
            return
        ended = last_used if node.users else [*last_used, node]  # what nothing uses is kept for its effect
        if node.op == "output" or not ended:
            self.body.append("\n")
            return
        names = " = ".join([*map(repr, ended), "None"])
        self.body.append(f";  {self.shown.paint('dim', names)}\n")

    # Parts of a line ---------------------------------------------------------------------------------------------

    def global_name(self, hint: str, obj: Any) -> str:
        """The name by which the code knows an object of the outside; the object becomes one of the globals."""
        if is_from_torch(obj) and obj is not device:
            return qualified_name(obj)
        name = self.namespace.create_name(hint, obj)
        known = self.globals.setdefault(name, obj)
        assert known is obj or known == obj, f"Global name {name} already assigned to different object"
        return name

    def type_name(self, annotation: Any) -> str:
        """An annotation as code."""
        if annotation == ():
            return "()"
        if isinstance(annotation, types.UnionType):
            return "|".join(map(self.type_name, typing.get_args(annotation)))
        origin = getattr(annotation, "__origin__", None)
        if origin is None:
            return self.global_name(type_repr(annotation), annotation)
        if not isinstance(annotation, types.GenericAlias):
            origin = OLD_NAMES.get(origin, origin)
        name = self.global_name(type_repr(origin), origin)
        parts = annotation.dims if isinstance(annotation, TensorType) else typing.get_args(annotation)
        return f"{name}[{','.join(map(self.type_name, parts))}]" if parts else name

    def arguments(self, args: Iterable[Argument], kwargs: dict[str, Argument]) -> str:
        """The arguments of a call."""
        return ", ".join([*map(self.text, args), *(f"{name} = {self.text(value)}" for name, value in kwargs.items())])

    def text(self, value: Any) -> str:
        """An argument as code."""
        if isinstance(value, Node):
            return repr(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.global_name(qualified_name(type(value)), type(value))}{tuple(value)!r}"
        if isinstance(value, OpOverload):
            return self.global_name(qualified_name(value), value)
        if isinstance(value, enum.Enum):
            return f"{self.global_name(type(value).__name__, type(value))}.{value.name}"
        if isinstance(value, Tensor):
            return f"torch.Tensor(size={[*value.size()]}, dtype={str(value.dtype).rpartition('.')[2]})"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, slice):
            return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
        return self.shown.paint("blue", repr(value))


def _takes(method: Callable[..., Any], name: str) -> bool:
    return name in inspect.signature(method).parameters


def _entering(variable: str, key: str) -> str:
    return f"{variable} = torch._C._profiler._RecordFunctionFast('## {key} ##'); {variable}.__enter__()\n"


def last_uses(nodes: Reversible[Node]) -> dict[Node, list[Node]]:
    """For each node, the nodes whose results it is the last to use."""
    seen: set[Node] = set()
    ends: dict[Node, list[Node]] = {}
    for user in reversed(nodes):
        for node in user._input_nodes:
            if node not in seen:
                seen.add(node)
                ends.setdefault(user, []).append(node)
    return ends

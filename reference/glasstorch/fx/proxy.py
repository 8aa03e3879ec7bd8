"""How does a value record what is done with it?

Mirrors: torch/fx/proxy.py
Differs: stacks are Python's own; a proxy of a value that does not exist yet has no fake tensor beside it. Assertions
    are recorded on all versions of Python, PyTorch's up to 3.10. Nodes have no `seq_nr`.

A `Proxy` stands for the result of a node. Whatever is done with it, an operator, a method, a function of the library,
becomes another node, and gives another proxy. What depends on the value itself, such as a branch, cannot be recorded.
"""

from __future__ import annotations

import copy
import dis
import enum
import inspect
import operator
import traceback
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import FrameType
from typing import Any, Final

import glasstorch.fx.traceback as fx_traceback
from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.core.pytree import tree_leaves
from glasstorch.core.symbols import SymInt
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx import config
from glasstorch.fx._names import is_method_or_property
from glasstorch.fx._operator_texts import OPERATORS, REFLECTABLE
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Argument, Node, Target, map_arg
from glasstorch.fx.operator_schemas import check_for_mutable_operation
from glasstorch.nn.parameter import Parameter

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
]

base_types: Final = (
    str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, OpOverload, SymInt,
)  # fmt: skip

COPIED_META: Final = (
    "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id", "has_backward_hook",
    "from_node", "custom", "partitioner_tag",
)  # fmt: skip

CANNOT_ITERATE: Final = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
    "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control "
    "flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
)


class TraceError(ValueError):
    """The program cannot be recorded: what it does next depends on a value that is not known yet."""


class Scope:
    """In which submodule a node was recorded: its path from the root, and its class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """Sets a tracer's scope, and restores it at the end."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before = copy.copy(scope)
        self._scope = scope
        vars(scope).update(vars(current_scope))

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *error: object) -> None:
        vars(self._scope).update(vars(self._before))


class TracerBase:
    """What makes nodes and proxies. A subclass can change how each is made, and what a proxy may be asked."""

    graph: Graph
    record_stack_traces: bool = False  # whether each node notes the stack that made it, from `forward` inwards
    _record_forward_stack_traces_only: bool = False
    check_mutable_operations: bool = False  # whether operators that write to their arguments are refused
    trace_asserts: bool = False  # whether `assert proxy` becomes a node
    proxy_buffer_attributes: bool = False  # whether buffers become proxies, as parameters do
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]  # the submodules that are being called
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Add a node to the graph, with the scope and the metadata of the moment."""
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if fx_traceback.has_preserved_node_meta():
            _copy_current_meta(node)
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not config.do_not_emit_stack_traces and not node.stack_trace:
            frames = self._filter_traceback_frames(traceback.extract_stack())
            if frames:
                node.stack_trace = "".join(frames.format()).strip()
        return node

    def _filter_traceback_frames(self, user_stack_summary: traceback.StackSummary) -> traceback.StackSummary:
        """The frames worth noting: from the first `forward` inwards, without those of this package."""
        frames = [frame for frame in user_stack_summary if not frame.filename.startswith(_OUR_FILES)]
        if self._record_forward_stack_traces_only:
            return traceback.StackSummary.from_list([frame for frame in frames if frame.name == "forward"])
        first = next((i for i, frame in enumerate(frames) if frame.name == "forward"), len(frames))
        return traceback.StackSummary.from_list(frames[first:])

    def proxy(self, node: Node) -> Proxy:
        """The proxy of a new node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Add a node with these arguments, in which proxies become nodes, and return its proxy."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Argument:
        """A value as an argument of a node: proxies become nodes, in containers too.

        NotImplementedError is raised for what a graph cannot hold.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice | range):
            return type(a)(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a) and not isinstance(a, type):
            values = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", a.__class__, (), values)
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        """A key of a dict, in which no node may be."""
        if isinstance(key, str):
            return key

        def refuse(node: Node) -> Any:
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}")

        made = self.create_arg(key)
        map_arg(made, refuse)
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """The truth of a proxy, which a branch asks for. Refused, unless a subclass knows it."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """The items of a proxy, for which a loop asks. Refused, unless a subclass knows them."""
        raise TraceError(CANNOT_ITERATE)

    def keys(self, obj: Proxy) -> Any:
        """The keys of a proxy, for which `**proxy` asks: a call of the method `keys`."""
        return Attribute(obj, "keys")()

    def _find_user_frame(self) -> FrameType | None:
        """The innermost frame that is not this package's."""
        frame = inspect.currentframe()
        while frame is not None and frame.f_code.co_filename.startswith(_OUR_FILES):
            frame = frame.f_back
        return frame


_OUR_FILES: Final = __file__.removesuffix("proxy.py")


def _copy_current_meta(node: Node) -> None:
    current = fx_traceback.get_current_meta()
    if stack := current.get("stack_trace"):
        node.stack_trace = stack
    node.meta.update({key: copy.copy(current[key]) for key in COPIED_META if key in current})
    if (replayed := fx_traceback.get_current_replay_node()) is not None:
        node.meta["is_functional_regenerated"] = True
        node.meta.update({key: replayed.meta[key] for key in ("custom", "stack_trace") if key in replayed.meta})


class GraphAppendingTracer(TracerBase):
    """The tracer of proxies that a program makes of nodes: it appends to their graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


def assert_fn(x: object) -> None:
    """Raise AssertionError unless `x` is true: what a traced `assert` becomes."""
    if not x:
        raise AssertionError("Assertion failed")


class Proxy:
    """Stands for the result of a node while a program is traced, and records what is done with it.

    Without a tracer, it appends to the node's graph, so that a pass can write `Proxy(node) + 1`. It cannot be iterated
    over, except to be unpacked into a fixed number of names, and has neither a length nor a truth value.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        return Attribute(self, k)  # not a node yet: most attributes are called, and become a call of a method

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        copied = Proxy.__new__(Proxy)  # __getattr__ would answer for whatever a copy is asked
        for key, value in self.__dict__.items():
            try:
                copied.__dict__[key] = copy.deepcopy(value, memo)
            except Exception:  # noqa: BLE001  # whatever cannot be copied is shared
                copied.__dict__[key] = copy.copy(value)
        return copied

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        instruction = _calling_instructions(inspect.currentframe())[0]
        if instruction.opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(instruction.argval))
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and _is_assertion(inspect.currentframe()):
            self.tracer.create_proxy("call_function", assert_fn, (self,), {})
            return True
        return self.tracer.to_bool(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def keys(self) -> Any:
        """What `**proxy` asks for; the tracer decides."""
        return self.tracer.keys(self)

    def __getitem__(self, index: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.getitem, (self, index), {})

    @classmethod
    def __torch_function__(
        cls,
        orig_method: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Proxy:
        """Record a call of one of the library's functions, or of a method of Tensor, with a proxy among its arguments.

        RuntimeError is raised if they belong to several tracers.
        """
        args, kwargs = args or (), kwargs or {}
        tracers = {leaf.tracer: None for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, cls)}
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        if is_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        name = tracer.graph._target_to_str(orig_method.__name__)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


def _calling_instructions(frame: FrameType | None) -> list[dis.Instruction]:
    """The instructions of the program from the one that called into a method of this class."""
    assert frame is not None
    assert frame.f_back is not None
    caller = frame.f_back
    instructions = list(dis.get_instructions(caller.f_code))
    return instructions[bisect_left(instructions, caller.f_lasti, key=lambda x: x.offset) :]


def _is_assertion(frame: FrameType | None) -> bool:
    """Whether the truth of a value is asked for by an `assert` statement: a jump over the raising of its error."""
    asking, *following = _calling_instructions(frame)[:2]
    return asking.opname.startswith("POP_JUMP") and any(i.opname == "LOAD_ASSERTION_ERROR" for i in following)


class Attribute(Proxy):
    """An attribute of a proxy: a node only when it is used as a value, since a call of it is a call of a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that fetches the attribute, made when it is first asked for."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """The proxy of a parameter whose sizes are taken as known: a branch on them is followed, not refused."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Parameter) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, Parameter):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's sizes."""
        return self.param.shape

    def size(self) -> Any:
        """The parameter's sizes."""
        return self.param.size()

    def dim(self) -> int:
        """The number of the parameter's dimensions."""
        return self.param.dim()

    @property
    def ndim(self) -> int:
        """The number of the parameter's dimensions."""
        return self.param.ndim

    def numel(self) -> int:
        """The number of the parameter's elements."""
        return self.param.numel()

    def nelement(self) -> int:
        """The number of the parameter's elements."""
        return self.param.nelement()


def _recording(function: Callable[..., Any], *, exchanged: bool) -> Callable[..., Proxy]:
    """The method by which an operator of Python records a call of the function of `operator`."""

    def record(self: Proxy, *others: Any) -> Proxy:
        args = (*others, self) if exchanged else (self, *others)
        return self.tracer.create_proxy("call_function", function, args, {})

    return record


for _function in OPERATORS:
    setattr(Proxy, f"__{_function.__name__.strip('_')}__", _recording(_function, exchanged=False))
for _function in REFLECTABLE:
    setattr(Proxy, f"__r{_function.__name__.strip('_')}__", _recording(_function, exchanged=True))


__getattr__ = refuse_unknown_names(__name__)

"""How is a program captured as the operators that it runs?

Mirrors: torch/fx/experimental/proxy_tensor.py
Differs: there is no tracing above autograd (`pre_dispatch`). What tracks tensors and symbols is in _tracked.py.

`symbolic_trace` runs a program with proxies and sees its Python calls. `make_fx` runs it with tensors, under a mode
below autograd: what it sees are operators, among them those of a backward pass. Each becomes a node, and the mode notes
which node stands for which tensor.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from itertools import count
from types import TracebackType
from typing import Any, Final, Literal, Self

from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch._subclasses.fake_tensor import CONSTANT_NUMEL_LIMIT, FAKE, LIFT_FRESH, FakeTensor, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.core.pytree import tree_flatten, tree_leaves, tree_map, tree_map_only, tree_unflatten
from glasstorch.core.symbols import SYMBOLS, is_symbol
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.dispatch import mode_stack
from glasstorch.dispatch.mode_stack import _TorchDispatchModeKey
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.tags import Tag
from glasstorch.fx._names import at
from glasstorch.fx._symbolic_trace import PH, Tracer
from glasstorch.fx.experimental._tracked import (
    SymbolTracker,
    TensorTracker,
    Trackers,
    extract_val,
    set_meta,
    track_tree,
)
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Argument, Node
from glasstorch.fx.proxy import Proxy
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter

__all__ = [
    "ProxyTorchDispatchMode",
    "PythonKeyTracer",
    "decompose",
    "disable_proxy_modes_tracing",
    "dispatch_trace",
    "extract_val",
    "fetch_object_proxy",
    "get_innermost_proxy_mode",
    "get_isolated_graphmodule",
    "get_proxy_mode",
    "make_fx",
    "maybe_handle_decomp",
    "set_meta",
    "track_tensor_tree",
]

Table = Mapping[Any, Callable[..., Any]]

PROXY: Final = _TorchDispatchModeKey.PROXY
HANDLED: Final = (Tensor, Parameter, FakeTensor)  # the classes of tensors that an operator may get here
ASKS_FOR_A_VALUE: Final = (
    "It appears that you're trying to get value out of a tracing tensor with {} - erroring out! It's likely that this "
    "is caused by data-dependent control flow or similar.  It may be possible to trace this with dynamic shapes; try "
    "setting tracing_mode='symbolic' in your make_fx call."
)


class PythonKeyTracer(Tracer):
    """Makes the nodes of `make_fx`: modules are run through, and parameters are themselves."""

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())
        self.tensor_tracker = TensorTracker()
        self.symbol_tracker = SymbolTracker()
        self.root = Module()

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the module's `forward` gives."""
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """The attribute itself."""
        return attr_val

    def create_arg(self, a: Any) -> Argument:
        """A value as an argument; a parameter that the program uses becomes one of the graph's module."""
        if is_symbol(a):
            return super().create_arg(self.symbol_tracker.proxy(a))
        if not isinstance(a, Parameter):
            return super().create_arg(a)
        for name, parameter in self.root.named_parameters():
            if a is parameter:
                return self.create_node("get_attr", name, (), {})
        name = self.get_fresh_qualname("_param_constant")
        setattr(self.root, name, a)
        return self.create_node("get_attr", name, (), {})

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: Any = None, type_expr: Any = None
    ) -> Node:
        """Add a node; one that fetches a tensor is noted with what it fetches."""
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if kind == "get_attr" and isinstance(value := getattr(self.root, target, None), Tensor):
            with disable_proxy_modes_tracing():
                node.meta["val"] = extract_val(value)
        return node

    @property
    def trackers(self) -> Trackers:
        """What stands for the tensors and the symbols of the trace."""
        return Trackers(self.tensor_tracker, self.symbol_tracker)

    def unwrap_proxy(self, e: Any) -> Any:
        """The proxy of a tensor or a symbol, or the value itself if none stands for it."""
        if is_symbol(e):
            return self.symbol_tracker.proxy(e)
        found = self.tensor_tracker.get(e) if isinstance(e, Tensor) else None
        return e if found is None else found.proxy


class ProxyTorchDispatchMode(TorchDispatchMode):
    """While it is on, each operator below autograd becomes a node of the tracer's graph, and runs.

    Operators in the decomposition table are replaced by what the table's function calls. Operators that ask for a
    tensor's value (`item`) are refused unless it is a constant, or `_error_on_data_dependent_ops` is false.
    """

    _mode_key = PROXY

    def __init__(
        self,
        tracer: PythonKeyTracer,
        tracing_mode: str,
        pre_dispatch: bool = False,
        _allow_fake_constant: bool = False,
        _error_on_data_dependent_ops: bool = True,
        decomposition_table: Table | None = None,
    ) -> None:
        super().__init__()
        if pre_dispatch:
            raise NotImplementedError("make_fx: pre_dispatch=True (tracing above autograd) is not in glasstorch")
        self.tracer = tracer
        self.tracing_mode = tracing_mode
        self.decomposition_table: Table = decomposition_table or {}
        self._error_on_data_dependent_ops = _error_on_data_dependent_ops
        self.enter_stack: list[Any] = []

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Yes: it belongs to the library."""
        return True

    def __enter__(self) -> Self:
        self.enter_stack.append(mode_stack.unset(PROXY))
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        if (outer := self.enter_stack.pop()) is not None:
            mode_stack.push(outer)

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Record one operator and run it."""
        named = dict(kwargs or {})
        tensors = [leaf for leaf in tree_leaves((args, named)) if isinstance(leaf, Tensor)]
        if any(type(t) not in HANDLED and t not in self.tracer.tensor_tracker for t in tensors):
            return NotImplemented
        result = maybe_handle_decomp(self, func, tuple(args), named)
        if result is not NotImplemented:
            return result
        with self:
            result = func.decompose(*args, **named)
        return self._record(func, tuple(args), named) if result is NotImplemented else result

    def _record(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, spec = tree_flatten((args, kwargs))
        tracked = [self.tracer.tensor_tracker.get(leaf) if isinstance(leaf, Tensor) else None for leaf in leaves]
        known = [one for one in tracked if one is not None]
        with_symbols = any(map(is_symbol, leaves))
        constants = None
        if not with_symbols and all(one.constant is not None for one in known):
            values = [leaf if one is None else one.constant for leaf, one in zip(leaves, tracked, strict=True)]
            constants = tree_unflatten(values, spec)
        if Tag.data_dependent_output in func.tags:
            if constants is not None and known:
                with _without_modes():
                    return func(*constants[0], **constants[1])
            if self._error_on_data_dependent_ops and not any(isinstance(leaf, FakeTensor) for leaf in leaves):
                raise RuntimeError(ASKS_FOR_A_VALUE.format(func))
        recorded = at("ops.aten.lift_fresh_copy.default") if func.name == LIFT_FRESH else func
        proxies = [
            (self.tracer.symbol_tracker.proxy(leaf) if with_symbols and is_symbol(leaf) else leaf)
            if one is None
            else one.proxy
            for leaf, one in zip(leaves, tracked, strict=True)
        ]
        given, named = tree_unflatten(proxies, spec)
        name = self.tracer.graph._target_to_str(recorded.overloadpacket.__name__)
        proxy = self.tracer.create_proxy("call_function", recorded, given, named, name=name)
        result = recorded(*args, **kwargs)
        constant = self._constant_of(recorded, args, result, constants if known else None)
        track_tree(result, proxy, constant, self.tracer.trackers)
        return result

    def computed(self, function: Callable[..., Any], operands: tuple[Any, ...], result: Any) -> None:
        """Record how a symbol was computed."""
        tracer = self.tracer
        given = [tracer.symbol_tracker.proxy(a) if is_symbol(a) else a for a in operands]
        name = tracer.graph._target_to_str(function)
        proxy = tracer.create_proxy("call_function", function, tuple(given), {}, name=name)
        proxy.node.meta["val"] = result
        tracer.symbol_tracker[result] = lambda: proxy

    def _constant_of(self, func: Any, args: tuple[Any, ...], result: Any, constants: Any) -> Any:
        """The values of a result that depends on a program's own small numbers only; None for any other."""
        if func is at("ops.aten.lift_fresh_copy.default"):
            with _without_modes():
                return args[0].clone() if result.numel() <= CONSTANT_NUMEL_LIMIT else None
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        if constants is None or Tag.nondeterministic_seeded in func.tags:
            return None
        if any(t.numel() > CONSTANT_NUMEL_LIMIT for t in made):
            return None
        with _without_modes():
            return func(*constants[0], **constants[1])


@contextmanager
def _without_modes() -> Iterator[None]:
    """Compute with real tensors, whatever modes are on."""
    fake = mode_stack.unset(FAKE)
    try:
        with disable_proxy_modes_tracing():
            yield
    finally:
        if fake is not None:
            mode_stack.push(fake)


@contextmanager
def disable_proxy_modes_tracing() -> Iterator[Any]:
    """Record nothing for a while; gives the mode that was on, or None."""
    mode = mode_stack.unset(PROXY)
    try:
        yield mode
    finally:
        if mode is not None:
            mode_stack.push(mode)


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode that records operators at the moment, or None."""
    found: ProxyTorchDispatchMode | None = mode_stack.mode_with(PROXY)
    return found


get_innermost_proxy_mode = get_proxy_mode


def maybe_handle_decomp(proxy_mode: ProxyTorchDispatchMode, op: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """What the decomposition table's function for an operator gives, recorded; NotImplemented if it has none."""
    if op not in proxy_mode.decomposition_table:
        return NotImplemented
    with proxy_mode:
        return proxy_mode.decomposition_table[op](*args, **kwargs)


def track_tensor_tree(inner_res: Any, proxy_res: Any, *, constant: Any, tracer: PythonKeyTracer) -> Any:
    """Let proxies stand for the tensors of a result; gives the result back."""
    track_tree(inner_res, proxy_res, constant, tracer.trackers)
    return inner_res


def fetch_object_proxy(tracer: PythonKeyTracer, t: Any) -> Any:
    """What stands for a tensor: a pair of its proxy and its constant, or the tensor itself."""
    found = tracer.tensor_tracker.get(t) if isinstance(t, Tensor) else None
    return t if found is None else found


def dispatch_trace(root: Module | Callable[..., Any], tracer: Tracer, concrete_args: Any = None) -> GraphModule:
    """The module of a tracer's graph; of values that nothing uses, those that only fetch something are removed."""
    graph = tracer.trace(root, concrete_args)
    graph.eliminate_dead_code(lambda node: node.is_impure() or not (node.op == "get_attr" or _is_of_sizes(node)))
    name = root.__class__.__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


def _is_of_sizes(node: Node) -> bool:
    """Whether a node asks for a size, or computes a symbol from others."""
    if not is_symbol(node.meta.get("val")):
        return False
    asks = isinstance(node.target, OpOverload) and node.target.family == "questions"
    return asks or all(is_symbol(argument.meta.get("val")) for argument in node.all_input_nodes)


def _tracking(f: Callable[..., Any], values: Any, tracer: PythonKeyTracer) -> Callable[..., Any]:
    """The function that a tracer calls with proxies: it calls `f` with values, and returns proxies of its results."""
    leaves, _ = tree_flatten(values)

    @functools.wraps(f)
    def wrapped(*proxies: Any, **unused: Any) -> Any:
        with disable_proxy_modes_tracing():
            track_tree(leaves, tree_flatten(proxies)[0], None, tracer.trackers)
        result = f(*values)
        return tree_map_only((Tensor, *SYMBOLS), tracer.unwrap_proxy, result)

    return wrapped


def _with_names(f: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of `arg0`, `arg1` and so on, for one whose parameters have no names."""
    names = ", ".join(f"arg{i}" for i in range(count))
    made: Callable[..., Any] = eval(f"lambda {names}: f({names})", {"f": f})  # the names are made here
    return made


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Table | None = None,
    tracing_mode: Literal["real", "fake", "symbolic"] = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
    record_stack_traces: bool = False,
    proxy_module_inputs: bool = False,
    _disable_torch_fn_metadata_mode: bool = False,
) -> Callable[..., GraphModule]:
    """A function that takes what `f` takes, and gives the module of the operators that `f` runs on it.

    With `tracing_mode="fake"`, nothing is computed. With "symbolic", sizes and int arguments are symbols, too: the
    graph is right for all sizes of which the guards in its `shape_env` are true. `decomposition_table` maps operators
    to functions that take their place. Tensors that `f` uses besides its arguments become attributes of the module, and
    so do parameters. Other numbers, branches and loops are what they were in this call: the graph is right for other
    arguments only if `f` would run the same operators on them. A branch on a tensor raises RuntimeError.
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode must be real/fake/symbolic, got {tracing_mode}")

    @functools.wraps(f)
    def traced(*args: Any) -> GraphModule:
        tracer = PythonKeyTracer()
        tracer.record_stack_traces = tracer._record_forward_stack_traces_only = record_stack_traces
        fake = None if tracing_mode == "real" else _fake_mode_for(args, _allow_non_fake_inputs, tracing_mode)
        values = args if fake is None else _faked(fake, args, tracing_mode)
        code = getattr(inspect.unwrap(f), "__code__", None)
        named = _with_names(f, len(args)) if code is None or code.co_flags & inspect.CO_VARARGS else f
        mode = ProxyTorchDispatchMode(
            tracer,
            tracing_mode,
            pre_dispatch,
            _allow_fake_constant,
            _error_on_data_dependent_ops,
            decomposition_table,
        )
        with ExitStack() as modes:
            modes.enter_context(fake or nullcontext())
            modes.enter_context(mode)
            modes.enter_context(_no_cached_casts())
            marks = tuple(tree_map(lambda _: PH, list(args)))
            module = dispatch_trace(_tracking(named, values, tracer), tracer, marks)
        if tracing_mode == "symbolic" and fake is not None:
            module.shape_env = fake.shape_env
        return module

    return traced


def _fake_mode_for(args: Any, allow_real: bool, tracing_mode: str) -> FakeTensorMode:
    """The mode of fake tensors among the arguments, or a new one."""
    found = next((leaf.fake_mode for leaf in tree_leaves(args) if isinstance(leaf, FakeTensor)), None)
    if tracing_mode != "symbolic":
        return found or FakeTensorMode(allow_fallback_kernels=True, allow_non_fake_inputs=allow_real)
    if found is None:
        shape_env = import_module("glasstorch.fx.experimental.symbolic_shapes").ShapeEnv()  # which needs sympy
        return FakeTensorMode(allow_fallback_kernels=False, allow_non_fake_inputs=allow_real, shape_env=shape_env)
    if found.shape_env is None:
        raise AssertionError("shape_env should be set if tracing with 'symbolic'")
    return found


def _has_symbols(tensor: Tensor) -> bool:
    """Whether a tensor is a fake one some of whose sizes are symbols already."""
    return isinstance(tensor, FakeTensor) and any(map(is_symbol, tensor._shape))


def _faked(fake: FakeTensorMode, args: Any, tracing_mode: str) -> Any:
    """The arguments as fake tensors; in symbolic mode an int is a symbol, of which each number is possible."""
    if tracing_mode != "symbolic":
        return tree_map_only(Tensor, lambda t: t if _has_symbols(t) else fake.from_tensor(t, static_shapes=True), args)
    sources = import_module("glasstorch.fx.experimental._symbols.sources")
    env, names = fake.shape_env, iter(f"input{i}" for i in count())
    source = sources.ConstantSource(next(names))

    def faked(value: Any) -> Any:
        nonlocal source
        if isinstance(value, Tensor):
            made, source = fake.from_tensor(value, source=source), sources.ConstantSource(next(names))
            return made
        if type(value) is int:
            return env.create_symintnode(env.create_symbol(value, source, positive=None), hint=value, source=source)
        return value

    return tree_map(faked, args)


@contextmanager
def _no_cached_casts() -> Iterator[None]:
    """Let autocast cast a parameter at each use: what it would keep belongs to the graph."""
    before = at("is_autocast_cache_enabled")()
    at("set_autocast_cache_enabled")(False)
    try:
        yield
    finally:
        at("set_autocast_cache_enabled")(before)


def get_isolated_graphmodule(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tracing_mode: Literal["real", "fake", "symbolic"] = "real",
    decomposition_table: Table | None = None,
) -> GraphModule:
    """The module of the operators of one call, which is not recorded in a trace that is going on."""
    leaves, spec = tree_flatten((args, kwargs))

    def of_leaves(leaves: list[Any]) -> Any:
        given, named = tree_unflatten(leaves, spec)
        return func(*given, **named)

    with disable_proxy_modes_tracing():
        return make_fx(of_leaves, decomposition_table=decomposition_table, tracing_mode=tracing_mode)(leaves)


@contextmanager
def decompose(decomposition_table: Table | None) -> Iterator[Table]:
    """Let the mode that records operators at the moment use another decomposition table."""
    mode, table = get_proxy_mode(), decomposition_table or {}
    if mode is None:
        yield table
        return
    before, mode.decomposition_table = mode.decomposition_table, table
    try:
        yield table
    finally:
        mode.decomposition_table = before


__getattr__ = refuse_unknown_names(__name__)

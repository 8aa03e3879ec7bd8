"""How is a function compiled together with its backward pass, ahead of time?

Mirrors: torch/_functorch/aot_autograd.py (aot_function, aot_module)
Differs: a graph is made for the arguments of the first call, and another one where sizes, dtypes, devices or what
    requires grad are others. `dynamic` and `keep_inference_input_mutations` change nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from types import EllipsisType
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import is_grad_enabled, no_grad
from glasstorch.compiler.boxed import call
from glasstorch.compiler.compiled import finish, node_of
from glasstorch.compiler.effects import ViewOf, observe
from glasstorch.compiler.joint import trace_forward, trace_joint
from glasstorch.compiler.partition import default_partition
from glasstorch.compiler.remembered import remembering
from glasstorch.compiler.shapes import by_size
from glasstorch.compiler.shared_arguments import Merged, by_sharing, groups_of, sharing_of
from glasstorch.compiler.symbolic import NeedsNumbers, Symbolic, by_guards
from glasstorch.compiler.watching import timed, told
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.core.pytree import tree_flatten, tree_unflatten
from glasstorch.core.symbols import is_symbol
from glasstorch.func.modules import functional_call
from glasstorch.fx.graph_module import GraphModule
from glasstorch.nn.modules.module import Module
from glasstorch.nn.utils.stateless import _reparametrize_module

Compiler = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]
Partition = Callable[..., tuple[GraphModule, GraphModule]]
Run = Callable[[Sequence[Any]], list[Any]]

PLAIN: Final = (bool, int, str, bytes, EllipsisType, Enum, device, dtype, layout, memory_format)


def aot_function(
    fn: Callable[..., Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Partition = default_partition,
    decompositions: dict[Any, Callable[..., Any]] | None = None,
    num_params_buffers: int = 0,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | None = None,
    *,
    dynamic: bool = False,
    enable_log: bool = True,
    disable_functionalization: bool = False,
) -> Callable[..., Any]:
    """A function that runs compiled graphs: one forward, and one backward if an argument requires grad.

    At the first call, `fn` is traced with its gradients, and the graph is cut in two by `partition_fn`. The compilers
    get a module and example inputs, and return a function that takes the module's inputs; `bw_compiler` is called at
    the first backward pass. Graphs write to nothing: what `fn` wrote to its arguments is written afterwards.
    """
    compiled: dict[Any, Callable[..., list[Any]]] = {}

    @wraps(fn)
    def compiled_fn(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten((args, kwargs))
        key = (spec, *map(_signature, leaves), is_grad_enabled(), sharing_of(leaves))
        if key not in compiled:
            out_specs: list[Any] = []

            def flat(*values: Any) -> list[Any]:
                given, named = tree_unflatten(list(values), spec)
                results, out_spec = tree_flatten(fn(*given, **named))
                out_specs[:] = [out_spec]
                return results

            run = compile_flat(
                flat, leaves, fw_compiler, bw_compiler or fw_compiler, partition_fn, decompositions, inference_compiler
            )
            compiled[key] = lambda values, out_specs=out_specs: tree_unflatten(run(values), out_specs[0])
        return compiled[key](leaves)

    return compiled_fn


def _signature(leaf: Any) -> Any:
    """What a graph depends on: of a tensor its geometry, dtype, device and whether it requires grad; else its value."""
    if isinstance(leaf, Tensor):
        return leaf.shape, leaf.stride(), leaf.dtype, leaf.device, leaf.requires_grad
    if isinstance(leaf, float | complex):
        return type(leaf), repr(leaf)  # -0.0 equals 0.0, and nan does not equal itself
    if leaf is None or isinstance(leaf, PLAIN):
        return type(leaf), leaf
    if isinstance(leaf, slice):
        return slice, _signature(leaf.start), _signature(leaf.stop), _signature(leaf.step)
    raise TypeError(
        f"aot_function: an argument has the type {type(leaf).__name__}, whose values a graph cannot depend on; all "
        "flat_args must be tensors, numbers, texts, enums, or torch's own types such as dtypes"
    )


def compile_flat(
    fn: Callable[..., Any],
    args: Sequence[Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler,
    partition_fn: Partition,
    decompositions: dict[Any, Callable[..., Any]] | None = None,
    inference_compiler: Compiler | None = None,
) -> Callable[[Sequence[Any]], list[Any]]:
    """`aot_function` for flat arguments, given examples of them, and for flat results.

    With symbols among the examples, the graphs are made at the first call: see symbolic.py.
    """
    options = Options(fw_compiler, bw_compiler, partition_fn, decompositions, inference_compiler)
    with paused_collection():
        return _compile_flat(fn, args, options)


@contextmanager
def paused_collection() -> Iterator[None]:
    """Let cycles be collected later: a compilation makes many objects, and few of them are garbage before it ends."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Options(NamedTuple):
    """Who compiles the graphs, and how they are made."""

    fw_compiler: Compiler
    bw_compiler: Compiler
    partition_fn: Partition
    decompositions: dict[Any, Callable[..., Any]] | None
    inference_compiler: Compiler | None


def _compile_flat(fn: Callable[..., Any], args: Sequence[Any], options: Options) -> Run:
    if any(map(is_symbol, args)):

        def with_symbols(values: Sequence[Any], symbolic: Symbolic) -> Run:
            return _graphs_of(fn, values, options, symbolic)  # refused where an argument that is written to is shared

        return by_guards(with_symbols, lambda values: _compile_flat(fn, values, options), fn, args)
    if groups := groups_of(args):
        written = observe(fn, args, may_share=True).written
        groups = [group for group in groups if not set(written).isdisjoint(group)]
    if groups:
        merged = Merged(args, groups)
        of_merged = _compile_flat(merged.function(fn), merged.values(args), options)
        others = {sharing_of(args): lambda values: of_merged(merged.values(values))}

        def run_merged(values: Sequence[Any]) -> list[Any]:
            key = sharing_of(values)
            if key not in others:
                others[key] = _compile_flat(fn, values, options)
            return others[key](values)

        return run_merged
    return _graphs_of(fn, args, options)


def _graphs_of(fn: Callable[..., Any], args: Sequence[Any], options: Options, symbolic: Symbolic | None = None) -> Run:
    """A function that runs the graphs that are made for these arguments, or for fake ones with symbols."""

    def compile_again(values: Sequence[Any]) -> Run:
        if symbolic is None:
            return _compile_flat(fn, values, options)
        return by_size(lambda values: _compile_flat(fn, values, options), symbolic.fakes)

    fakes = None if symbolic is None else symbolic.fakes
    program = remembering(fn)
    effects = observe(program, args, fakes=fakes)
    if symbolic is not None and (
        effects.shared or any(isinstance(one, ViewOf) and one.path for one in effects.results)
    ):
        raise NeedsNumbers("a result that is a view")
    if symbolic is not None and any(argument.geometry is not None for argument in effects.arguments):
        raise NeedsNumbers("an input whose sizes are changed")
    if not is_grad_enabled() or not any(effects.differentiable):
        with timed("forward graph"):
            module = trace_forward(program, args, effects, options.decompositions, fakes)
        told("forward", module=module)
        forward = (options.inference_compiler or options.fw_compiler)(module, _examples(module))

        def infer(values: Sequence[Any]) -> list[Any]:
            with no_grad():
                found = call(forward, list(values))
            return finish(effects, values, found)

        return by_sharing(infer, effects.written, compile_again)
    with timed("joint graph"):
        joint = trace_joint(program, args, effects, options.decompositions, fakes)
    told("joint", module=joint)
    examples = _examples(joint)
    inputs = [examples[: len(args)], examples[len(args) :]]
    count = len(effects.differentiable)
    with timed("partition"):
        fw_module, bw_module = options.partition_fn(joint, inputs, num_fwd_outputs=count)
    told("partition", forward=fw_module, backward=bw_module, results=count)
    forward = options.fw_compiler(fw_module, _examples(fw_module))
    backwards: list[Callable[..., Any]] = []

    def backward() -> Callable[..., Any]:
        if not backwards:
            backwards.append(options.bw_compiler(bw_module, _examples(bw_module)))
        return backwards[0]

    if symbolic is not None:
        if not all(tangent.is_contiguous() for tangent in inputs[1]):
            raise NeedsNumbers("a gradient that arrives in another order than that of its sizes")
        backward()  # what it decides about symbols is checked before forward runs
    strides = [None if symbolic is not None else tangent.stride() for tangent in inputs[1]]
    node = node_of(forward, backward, effects, strides)

    def run(values: Sequence[Any]) -> list[Any]:
        return finish(effects, values, node(*values))

    return by_sharing(run, effects.written, compile_again)


def _examples(module: GraphModule) -> list[Any]:
    """Fake tensors like the inputs of a graph."""
    return [node.meta.get("val") for node in module.graph.find_nodes(op="placeholder")]


def aot_module(mod: Module, *args: Any, **kwargs: Any) -> Module:
    """A module that runs compiled graphs of another one, whose parameters and buffers it shares.

    The other arguments are those of `aot_function`.
    """

    def functional(parameters: dict[str, Any], buffers: dict[str, Any], *given: Any, **named: Any) -> Any:
        return functional_call(mod, {**parameters, **buffers}, given, named)

    compiled = aot_function(functional, *args, **kwargs)

    class AOTModule(Module):
        def __init__(self) -> None:
            super().__init__()
            self.orig_module = mod

        def forward(self, *given: Any, **named: Any) -> Any:
            return compiled(dict(mod.named_parameters()), dict(mod.named_buffers()), *given, **named)

    return AOTModule()


def aot_module_simplified(
    mod: Module,
    args: Sequence[Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Partition = default_partition,
    decompositions: dict[Any, Callable[..., Any]] | None = None,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | None = None,
) -> Callable[..., Any]:
    """A function that runs compiled graphs of a module with flat arguments, like these, and flat results.

    The module's parameters and buffers are looked up once, now. The graphs get them in front of the arguments.
    """
    state = {**dict(mod.named_parameters()), **dict(mod.named_buffers())}
    names, values = list(state), list(state.values())
    run_module = remembering(mod)

    def flat(*given: Any) -> list[Any]:
        with _reparametrize_module(mod, dict(zip(names, given, strict=False))):
            return tree_flatten(run_module(*given[len(names) :]))[0]

    compilers = fw_compiler, bw_compiler or fw_compiler, partition_fn, decompositions, inference_compiler
    run = compile_flat(flat, [*values, *args], *compilers)
    return lambda *given: run([*values, *given])

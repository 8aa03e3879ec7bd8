"""How does a graph become a function that runs loops?

Mirrors: torch/_inductor/compile_fx.py (compile_fx, compile_fx_inner), torch/_inductor/output_code.py (CompiledFxGraph)
Differs: `mode` changes nothing.
"""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, Final

from glasstorch._tensor import Tensor, empty_strided
from glasstorch.compiler.aot import compile_flat
from glasstorch.compiler.bisecting import applies, limited_table
from glasstorch.compiler.boxed import make_boxed_func
from glasstorch.compiler.decompositions.table import Table, fusing_decompositions
from glasstorch.compiler.loops.cuda_launch import Loaded, cuda_kernel
from glasstorch.compiler.loops.cuda_text import cuda_source
from glasstorch.compiler.loops.lower import Lowered, Unlowered, lower, same_strides
from glasstorch.compiler.loops.machine_code import compiled, source, threads
from glasstorch.compiler.loops.numpy_blocks import numpy_kernel
from glasstorch.compiler.loops.products import matrix, multiply
from glasstorch.compiler.loops.schedule import Schedule, schedule
from glasstorch.compiler.loops.settings import checked, settings
from glasstorch.compiler.loops.wrapper import Kernel, WrapperText, plan, symbols_of
from glasstorch.compiler.min_cut import min_cut_rematerialization_partition
from glasstorch.compiler.patterns.custom import custom
from glasstorch.compiler.patterns.passes import after_autograd, before_autograd
from glasstorch.compiler.symbolic import NeedsNumbers
from glasstorch.compiler.watching import timed, told
from glasstorch.core.pytree import tree_leaves
from glasstorch.core.symbols import is_symbol
from glasstorch.devices.cpp_compiler import CompileError
from glasstorch.fx._names import at
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Interpreter

OF_ONE_SOURCE: Final = re.compile(r"\S*kernel\.(cpp|so)(:\d+)*")


class CompiledFxGraph:
    """A compiled graph: a function of the list of its inputs, which it empties.

    `source_code` is the Python that runs the kernels, `cpp_code` the kernels, and `fusion` what the scheduler tried.
    """

    _boxed_call = True

    def __init__(self, module: GraphModule, made_of: GraphModule | None = None) -> None:
        with written_symbols(module) as has_symbols:
            self._compile(module, has_symbols, made_of or module)

    def _compile(self, module: GraphModule, has_symbols: bool, made_of: GraphModule) -> None:
        with timed("loops"):
            lowered = lower(module)
            scheduled = schedule(lowered.items)
            self.has_symbols = has_symbols
            wrapper = self._planned(lowered, scheduled, blocks=not has_symbols)
        self.fusion = scheduled.tried
        self.externs = lowered.why
        on_cpu = [kernel for kernel in self.kernels if kernel.device == "cpu"]
        on_device = [kernel for kernel in self.kernels if kernel.device != "cpu"]
        self.cpp_code = source(on_cpu)
        self.cuda_code = cuda_source(on_device) if on_device else ""
        if unknown := set(symbols_of(self.source_code)) - wrapper.bound:
            raise NeedsNumbers(f"{', '.join(sorted(unknown))}, which no input says")
        names: dict[str, Any] = {name: tensor for name, (tensor, _) in lowered.constants.items()}
        names.update(runtime())
        try:
            with timed("C++"):
                names.update(compiled(on_cpu, self.cpp_code, self.symbols))
        except (CompileError, OSError) as error:  # such as a disk that is full, or that has no locks
            if has_symbols:
                raise NeedsNumbers("blocks of NumPy") from None
            tell(str(error))
            wrapper = self._planned(lowered, scheduled, blocks=False)
            on_cpu = [kernel for kernel in self.kernels if kernel.device == "cpu"]
            names.update(
                {kernel.name: numpy_kernel(kernel) for kernel in on_cpu}, pointer=_itself, const_pointer=_itself
            )
        loaded = Loaded(self.cuda_code)
        names.update({kernel.name: cuda_kernel(kernel, loaded) for kernel in on_device})
        names.update(wrapper.objects)
        exec(compile(self.source_code, "<compiled graph>", "exec"), names)  # text of our own
        self.call: Callable[[list[Any]], list[Any]] = names["call"]
        told("loops", module=module, made_of=made_of, lowered=lowered, order=scheduled.order, compiled=self)

    def __call__(self, args: list[Any]) -> list[Any]:
        return self.call(args)

    def _planned(self, lowered: Lowered, scheduled: Schedule, *, blocks: bool = True) -> WrapperText:
        """Plan the kernels, and write the Python around them."""
        planned = plan(lowered, scheduled, blocks)
        self.kernels = [item for item in planned.order if isinstance(item, Kernel)]
        if self.has_symbols and any(kernel.device != "cpu" for kernel in self.kernels):
            raise NeedsNumbers("kernels of a device")
        self.symbols = {kernel.name: symbols_of(kernel.text()) for kernel in self.kernels if self.has_symbols}
        wrapper = WrapperText(lowered, planned, self.symbols)
        self.source_code = wrapper.text()
        return wrapper


@contextmanager
def written_symbols(module: GraphModule) -> Iterator[bool]:
    """Let sizes that are symbols be written as code is; gives whether there are any."""
    values = (value for node in module.graph.nodes for value in tree_leaves(node.meta.get("val")))
    numbers: list[Any] = [n for value in values for n in (value.shape if isinstance(value, Tensor) else (value,))]
    env = next((number.node.shape_env for number in numbers if is_symbol(number)), None)
    if env is None:
        yield False
        return
    env.notation = import_module("glasstorch.compiler.loops.symbol_text").written
    try:
        yield True
    finally:
        env.notation = None


def runtime() -> dict[str, Any]:
    """What the names of a wrapper's text stand for."""
    return {
        "torch": at(""),
        "empty_strided": empty_strided,
        "as_strided": lambda x, sizes, strides, offset: x.as_strided(sizes, strides, x.storage_offset() + offset),
        "assert_size_stride": assert_size_stride,
        "as_planned": as_planned,
        "pointer": Tensor.data_ptr,
        "const_pointer": Tensor.const_data_ptr,
        "matrix": matrix,
        "multiply": multiply,
        "threads": _threads(settings.cpp.threads),
        "size_quotient": operator.floordiv,
        "size_remainder": operator.mod,
    }


def _threads(count: int) -> Callable[[], int]:
    """How many threads kernels use: as many as the setting says, or as the library uses."""
    return threads if count < 1 else lambda: count


def _itself(tensor: Tensor) -> Tensor:
    return tensor


def assert_size_stride(tensor: Any, sizes: Sequence[int], strides: Sequence[int]) -> None:
    """Refuse an input of other sizes or strides than those for which the loops were written."""
    if tensor._shape == sizes and tensor.stride() == strides:
        return
    if tensor._shape != sizes or not same_strides(sizes, tensor.stride(), strides):
        raise AssertionError(
            f"a compiled graph got an input of sizes {tuple(tensor.shape)} and strides {tensor.stride()}; it was "
            f"compiled for sizes {sizes} and strides {strides}"
        )


def as_planned(tensor: Any, sizes: Sequence[int], strides: Sequence[int]) -> Any:
    """What an operator gave, in the layout that loops expect."""
    if tensor.stride() == strides:
        return tensor
    return empty_strided(tuple(sizes), tuple(strides), tensor.dtype, tensor.device).copy_(tensor)


def tell(why: str) -> None:
    """Warn that there is no machine code, once for each reason, in whichever folder and line it was met."""
    tell_once(OF_ONE_SOURCE.sub("the source", why.partition("\n")[0]))


@cache
def tell_once(why: str) -> None:
    """Warn that there is no machine code."""
    warnings.warn(f"compiled graphs run in NumPy instead of C++: {why}", stacklevel=3)


def compile_fx_inner(module: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """A function of a list of inputs that runs a graph of operators.

    A graph that writes to its values, that loops cannot hold, or in which a value has no elements is run node by node.
    """
    values = (value for node in module.graph.nodes for value in tree_leaves(node.meta.get("val")))
    try:
        if any(isinstance(value, Tensor) and 0 in value.shape for value in values):
            raise Unlowered("loops over nothing gain nothing")
        made = custom("post_grad_custom_pre_pass", module)
        if settings.pattern_matcher and applies("post_grad_passes", "the patterns of a traced graph"):
            made = after_autograd(made)
        return CompiledFxGraph(custom("post_grad_custom_post_pass", made), module)
    except Unlowered as error:
        if any(is_symbol(node.meta.get("val")) for node in module.graph.nodes):
            raise NeedsNumbers(str(error)) from None
        told("hint", text=f"a graph runs node by node: {error}", module=module)
        return make_boxed_func(Interpreter(module).run)


@cache
def decompositions() -> Table:
    """The table with which graphs are traced that become loops."""
    return fusing_decompositions()


def smallest_cut(joint: GraphModule, inputs: Any, **options: Any) -> tuple[GraphModule, GraphModule]:
    """A joint graph cut where least is saved."""
    joint = custom("joint_custom_post_pass", custom("joint_custom_pre_pass", joint))
    return min_cut_rematerialization_partition(joint, inputs, **options)


def compile_fx(
    model_: Callable[..., Any],
    example_inputs_: Sequence[Any],
    inner_compile: Callable[..., Any] = compile_fx_inner,
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """A function like a module with a graph, which runs loops, forward and backward; it gives a list of results.

    `mode` says how much time a compilation may take, which here is always the same. `options` are settings of
    `torch._inductor.config` for this graph.
    """
    given = checked(options or {})

    def inner(module: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        with settings.patch(given):
            run: Callable[..., Any] = inner_compile(module, inputs)
            return run

    def cut(joint: GraphModule, inputs: Any, **kept: Any) -> tuple[GraphModule, GraphModule]:
        with settings.patch(given):
            return smallest_cut(joint, inputs, **kept)

    with settings.patch(given):
        looks = settings.pattern_matcher and applies("pre_grad_passes", "the patterns of a captured graph")
        model = before_autograd(model_) if looks else model_
        model = custom("pre_grad_custom_pass", model, is_traced=False)
    run = compile_flat(model, example_inputs_, inner, inner, cut, limited_table(decompositions()))
    return lambda *values: run(values)


compile_fx.compiler_name = "inductor"  # type: ignore[attr-defined]  # what errors call it

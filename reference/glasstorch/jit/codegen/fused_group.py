"""How is a fusion group compiled and run, and what happens if it cannot be compiled?

Mirrors: torch/csrc/jit/codegen/fuser/compiler.cpp, executor.cpp (runFusion, runFallback), kernel_cache.cpp;
    torch/csrc/jit/tensorexpr/kernel.cpp (TensorExprKernel::run, fallback)
Differs: a group is planned again for other sizes and strides, which takes less than a millisecond; the source of a loop
    does not contain them, so that compiled C++ serves them all.

# Note [When a group is interpreted]
A loop computes what the CPU kernels compute, and nothing else. If an operator would do more (record a gradient or a
trace, batch, run on another device), or if no loop supports the inputs (half precision, numbers), the subgraph is
interpreted, operator by operator. The same holds if an operator refuses its inputs, so that the error is that of eager
mode.

# Note [Small groups]
If all elements fit into one block, there is nothing to split, and NumPy itself handles broadcasting and strides. Such a
group calls its loop's function on the tensors' arrays as they are. `_run` is the plain twin.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor, empty, wrap
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.dtype import dtype, get_default_dtype
from glasstorch.core.geometry import Shape, expand_strides
from glasstorch.core.keys import ADINPLACEORVIEW, AUTOGRAD_AND_NESTED, FUNCTIONALITY_BIT, key_set_of
from glasstorch.core.tensor_impl import Array
from glasstorch.devices.cpp_compiler import CompileError
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.jit.codegen.cpp_loop import CppLoop
from glasstorch.jit.codegen.lower import lower
from glasstorch.jit.codegen.numpy_loop import BLOCK, NumpyLoop
from glasstorch.jit.codegen.program import Loop, Program, UnfusableError
from glasstorch.jit.codegen.walk import Walk, plan_walk
from glasstorch.jit.interpreter import Code, register_operation
from glasstorch.jit.ir import Graph, Node
from glasstorch.jit.log import log_unfused
from glasstorch.jit.printer import SUBGRAPH
from glasstorch.jit.settings import fuser_name
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly

MAX_PLANS: Final = 64  # plans of one group, each for inputs of certain sizes, strides and dtypes
CPP_THRESHOLD: Final = 1 << 15  # elements from which "default" calls the C++ compiler, which takes some 0.2 s, once

# The keys for which a loop does all that its operators would: Note [When a group is interpreted].
PLAIN: Final = key_set_of("CPU") | ADINPLACEORVIEW | AUTOGRAD_AND_NESTED | FUNCTIONALITY_BIT["BackendSelect"]


class CompiledLoop(NamedTuple):
    """A loop, and the walk over its arrays: the inputs, then the outputs."""

    run: Callable[[Shape, Sequence[Array]], None]
    slots: tuple[int, ...]
    sizes: Shape
    strides: tuple[Shape | None, ...]  # of each array, in bytes; None if it is contiguous


class Plan(NamedTuple):
    """The loops for inputs of certain dtypes, sizes and strides."""

    program: Program
    loops: tuple[CompiledLoop, ...]
    temporaries: tuple[int, ...]  # slots that one loop writes and another reads, and that are no outputs
    short: Callable[[Sequence[Tensor]], tuple[Any, ...]] | None  # see Note [Small groups]


class FusedGroup:
    """A fusion group that can be called: `group(*inputs)` gives the outputs as a tuple. `Code` runs these."""

    def __init__(self, subgraph: Graph, tell: Callable[[str], None] = lambda why: None) -> None:
        self.subgraph = subgraph.copy()
        self._tell = tell  # called with the reason why the group is interpreted, or not in C++
        self._plans: dict[tuple[Any, ...], Plan | None] = {}
        self._lock = threading.Lock()
        self._interpreted: Callable[..., tuple[Any, ...]] | None = None
        self._told: set[str] = set()
        self._fuser = fuser_name.get()

    def __call__(self, *inputs: Tensor) -> tuple[Any, ...]:  # hot path: benchmarks/fusion.py
        plan = self.plan(*inputs)
        if plan is None:
            return self.interpret(*inputs)
        return _run(plan, inputs) if plan.short is None else plan.short(inputs)

    def plan(self, *inputs: Tensor) -> Plan | None:
        """The plan for these inputs; None if the group is interpreted."""
        included, allowed = active_keys.get()
        keys = included
        records = grad_mode.get()
        signature: list[Any] = [get_default_dtype()]
        for tensor in inputs:
            if tensor._number is not None or (records and tensor._autograd_meta is not None and tensor.requires_grad):
                return None
            keys |= tensor.key_set
            signature += tensor.dtype, tensor._shape, tensor._strides
        keys &= allowed
        if keys & ~PLAIN:
            return None
        key = tuple(signature)
        try:
            return self._plans[key]
        except KeyError:
            return self._new_plan(key, inputs)

    def _new_plan(self, key: tuple[Any, ...], inputs: Sequence[Tensor]) -> Plan | None:
        """Make a plan and cache it; the oldest is dropped when there are too many."""
        plan = self._compile(inputs)
        with self._lock:
            if len(self._plans) >= MAX_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = plan
        return plan

    def interpret(self, *inputs: Tensor) -> tuple[Any, ...]:
        """Run the operators one by one."""
        if self._interpreted is None:
            self._interpreted = Code(self.subgraph)
        return self._interpreted(*inputs)

    def _compile(self, inputs: Sequence[Tensor]) -> Plan | None:
        try:
            program = lower(self.subgraph, inputs)
        except UnfusableError as error:
            self._tell_once(f"interpreted: {error}")
        except (TypeError, ValueError, RuntimeError) as error:  # an operator refuses: interpreting raises its error
            self._tell_once(f"interpreted: {type(error).__name__}: {error}")
        else:
            return compile_program(program, self._fuser, self._tell_once)
        return None

    def _tell_once(self, why: str) -> None:
        if why not in self._told:
            self._told.add(why)
            self._tell(why)


def compile(subgraph: Graph) -> FusedGroup:
    """A fusion group's subgraph as a callable; its loops are generated when the inputs are known."""
    return FusedGroup(subgraph)


def _operation(node: Node) -> FusedGroup:
    return FusedGroup(node.attributes[SUBGRAPH], lambda why: log_unfused(node, why))


register_operation("prim::FusionGroup", _operation)


def compile_program(program: Program, fuser: str, tell: Callable[[str], None]) -> Plan:
    """Compile the loops of a program with one of `settings.FUSERS`; `tell` is called with the reason if C++ cannot."""
    loops = tuple(_compile_loop(program, loop, fuser, tell) for loop in program.loops if prod(loop.shape))
    written = [slot for loop in program.loops for slot in loop.writes]
    temporaries = tuple(slot for slot in written if slot not in program.outputs)
    return Plan(program, loops, temporaries, _short(program, loops))


def _compile_loop(program: Program, loop: Loop, fuser: str, tell: Callable[[str], None]) -> CompiledLoop:
    slots = (*loop.reads, *loop.writes)
    shapes, dtypes = program.shapes, program.dtypes
    strides = [expand_strides(shapes[slot], program.strides[slot], loop.shape) for slot in slots]
    walk = plan_walk(loop.shape, strides)
    in_bytes = (
        None if one == (1,) else tuple(stride * dtypes[slot].itemsize for stride in one)
        for slot, one in zip(slots, walk.strides, strict=True)
    )
    run = _in_cpp(loop, dtypes, walk, tell) if _wants_cpp(loop, fuser) else None
    return CompiledLoop(run or NumpyLoop(loop, dtypes), slots, walk.sizes, tuple(in_bytes))


def _wants_cpp(loop: Loop, fuser: str) -> bool:
    return fuser == "cpp" or (fuser == "default" and prod(loop.shape) >= CPP_THRESHOLD)


def _in_cpp(loop: Loop, dtypes: Sequence[dtype], walk: Walk, tell: Callable[[str], None]) -> CppLoop | None:
    """The loop in C++; None, after a call of `tell` with the reason, if that is not possible."""
    try:
        return CppLoop(loop, dtypes, walk)
    except UnfusableError as error:
        tell(f"in NumPy: {error}")
    except CompileError as error:
        tell(f"in NumPy: {str(error).partition(chr(10))[0]}")
    return None


def _run(plan: Plan, inputs: Sequence[Tensor]) -> tuple[Any, ...]:
    program = plan.program
    held: dict[int, Tensor] = dict(enumerate(inputs))
    outputs = tuple(map(allocate_output, program.results))
    held.update(zip(program.outputs, outputs, strict=True))
    for slot in plan.temporaries:
        held[slot] = empty(program.shapes[slot], program.dtypes[slot])
    for run, slots, sizes, strides in plan.loops:
        run(sizes, [_view(held[slot], sizes, moves) for slot, moves in zip(slots, strides, strict=True)])
    return outputs


def _short(program: Program, loops: Sequence[CompiledLoop]) -> Callable[[Sequence[Tensor]], tuple[Any, ...]] | None:
    """The fast path for a single small NumPy loop with row-major results; None for anything else."""
    run = loops[0].run if len(loops) == len(program.loops) == 1 else None
    (shape,) = {loop.shape for loop in program.loops} if run is not None else {()}
    row_major = all(result.strides is None for result in program.results)
    if not (isinstance(run, NumpyLoop) and shape and prod(shape) <= BLOCK and row_major):
        return None
    body, reads, writes = run.body, program.loops[0].reads, program.loops[0].writes
    made = [program.dtypes[slot].numpy for slot in writes] + [of.numpy for of in run.scratch]
    outputs = [(len(reads) + writes.index(slot), program.dtypes[slot]) for slot in program.outputs]

    def short(inputs: Sequence[Tensor]) -> tuple[Any, ...]:  # hot path: benchmarks/fusion.py
        arrays = [inputs[i].array() for i in reads]
        arrays += [np.empty(shape, of) for of in made]
        quietly(body, *arrays)
        return tuple([wrap(arrays[i], of) for i, of in outputs])

    return short


def _view(tensor: Tensor, sizes: Shape, strides: Shape | None) -> Array:
    """A tensor's elements in the order of a walk; strides of None mean that this is their order in memory."""
    array = tensor.array()
    if strides is None and array.flags.c_contiguous:
        return array.reshape(-1)
    if strides is None:
        strides = (array.itemsize,)
    storage = tensor._storage
    if storage is None:
        return np.ndarray(sizes, array.dtype, array, 0, strides)
    return np.ndarray(sizes, array.dtype, storage.memory, tensor._offset * array.itemsize, strides)

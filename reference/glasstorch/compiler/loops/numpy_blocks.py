"""How does NumPy run a kernel where there is no C++ compiler?

Mirrors: what torch/_inductor/codegen/cpp.py does, for a machine whose instructions are ufuncs
Differs: loops without reductions work on blocks that fit into the cache; a reduction is one pass over arrays of full
    size for each of its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch.compiler.loops.ir import POSITIONS, REDUCTIONS, Access, Buffer, span
from glasstorch.compiler.loops.nest import Dims, Placed
from glasstorch.compiler.loops.wrapper import Kernel
from glasstorch.core.dtype import dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.jit.codegen.numpy_loop import NumpyLoop
from glasstorch.jit.codegen.program import Constant, Operand, Step
from glasstorch.jit.codegen.program import Loop as Steps
from glasstorch.kernels.pointwise.vocabulary import VOCABULARY
from glasstorch.kernels.quiet import quietly

Memory = dict[Buffer, Array]  # the elements of each buffer in the order of memory


def numpy_kernel(kernel: Kernel) -> Callable[..., None]:
    """A function of tensors like the kernel in C++: of parameters, workspace and number of threads."""
    groups = [(group.dims, [(member, _loop(member)) for member in group.members]) for group in kernel.groups]
    own = [m.write.buffer for _, members in groups for m, _ in members if m.write.buffer not in kernel.stored]

    def run(*given: Any) -> None:
        memory = {buffer: _elements(tensor, buffer) for buffer, tensor in zip(kernel.parameters, given, strict=False)}
        memory |= {buffer: np.empty(_length(buffer), buffer.dtype.numpy) for buffer in [*kernel.inner, *own]}
        memory |= {buffer: np.empty_like(memory[old]) for buffer, old in kernel.over.items()}
        for dims, members in groups:
            for member, loop in members:
                quietly(_run, dims, member, loop, memory)
        for buffer, old in kernel.over.items():
            memory[old][...] = memory[buffer]

    return run


def _elements(tensor: Any, buffer: Buffer) -> Array:
    flat: Array = tensor.as_strided((_length(buffer),), (1,), tensor.storage_offset()).detach().array()
    return flat


def _length(buffer: Buffer) -> int:
    return span(buffer.sizes, buffer.strides)


def _loop(member: Placed) -> NumpyLoop:
    """The steps of a loop as a function of blocks, which writes the result to its last array."""
    loop = member.loop
    dtypes: list[dtype] = [*loop.read_dtypes, *(step.dtype for step in loop.steps)]
    steps, result = list(loop.steps), loop.result
    if isinstance(result, Constant) or result < len(loop.read_dtypes):
        of = result.dtype if isinstance(result, Constant) else dtypes[result]
        steps.append(Step("copy", (result,), len(dtypes), of))
        result = len(dtypes)
        dtypes.append(of)
    reads = tuple(range(len(loop.read_dtypes)))
    return NumpyLoop(Steps(loop.sizes, tuple(steps), reads, (result,)), dtypes)


def _run(dims: Dims, member: Placed, body: NumpyLoop, memory: Memory) -> None:
    loop = member.loop
    sizes = dims.sizes if member.inner else tuple(1 if gone else size for size, gone in zip(*dims, strict=True))
    sizes = sizes or (1,)
    reads = [_as(_array(memory, read, sizes), of) for read, of in zip(member.reads, loop.read_dtypes, strict=True)]
    target = _array(memory, member.write, sizes)
    of = _result_dtype(loop.result, loop.read_dtypes, loop.steps).numpy
    if loop.reduction is None and target.dtype == of:
        body(sizes, [*reads, target])
        return
    found = np.empty(sizes, of)
    body(sizes, [*reads, found])
    if loop.reduction is None:
        np.copyto(target, found, casting="unsafe")
        return
    gone = tuple(dim for dim, reduced in enumerate(dims.reduced) if reduced)
    word = REDUCTIONS[loop.reduction].word
    ufunc = np.logaddexp if word == "logaddexp" else VOCABULARY[word].numpy
    assert isinstance(ufunc, np.ufunc)
    if loop.scans:
        lines = np.moveaxis(found, gone, range(-len(gone), 0))
        flat = np.ascontiguousarray(lines).reshape(*lines.shape[: -len(gone)], -1)
        lines[...] = ufunc.accumulate(flat, axis=-1, dtype=of).reshape(lines.shape)
        np.copyto(target, found, casting="unsafe")
        return
    kept = target[tuple(slice(0, 1) if reduced else slice(None) for reduced in dims.reduced)]
    np.copyto(kept, ufunc.reduce(found, axis=gone, keepdims=True, dtype=of), casting="unsafe")


def _as(array: Array, of: dtype) -> Array:
    return array if array.dtype == of.numpy else array.astype(of.numpy)


def _array(memory: Memory, access: Access, sizes: Sequence[int]) -> Array:
    """The elements that an access reaches, one for each place of the nest."""
    if access.buffer.made_by == POSITIONS:
        steps = (np.arange(size) * stride for size, stride in zip(sizes, access.strides, strict=True))
        return sum(np.ix_(*steps), np.zeros(tuple(sizes), np.int64)) if access.strides else np.zeros((1,), np.int64)
    flat = memory[access.buffer]
    strides = tuple(stride * flat.itemsize for stride in access.strides) or (flat.itemsize,)
    return np.lib.stride_tricks.as_strided(flat[access.offset :], tuple(sizes), strides)


def _result_dtype(result: Operand, reads: Sequence[dtype], steps: Sequence[Step]) -> dtype:
    if isinstance(result, Constant):
        return result.dtype
    return reads[result] if result < len(reads) else steps[result - len(reads)].dtype

"""How is a step of Adam taken for many parameters at once, in blocks that stay in cache?

Mirrors: aten/src/ATen/native/cpu/FusedAdamKernel.cpp
Differs: a dozen NumPy calls update a block. Small parameters are gathered into one and put back; large ones are cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import float32, float64
from glasstorch.core.keys import CPU_KEYS
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import foreach as plain
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.composite import foreach as composite

BENCHMARK = "Adam, 200 tensors of (64,)"
WHEN = "all parameters have one dtype, single or double, are row-major, and have taken as many steps"

Tensors = Sequence[Tensor]
Job = list[list[Array]]  # for each list of tensors, arrays of one dimension that lie within one block together


class Update:
    """A step of Adam on arrays of one dimension, with room for what is computed in between.

    The numbers of the step are arrays without dimensions: NumPy converts a Python number anew in every call.
    """

    def __init__(self, rule: plain.Adam, step: float, dtype: np.dtype[Any]) -> None:
        def number(value: float) -> Array:
            return np.array(value, dtype)

        factor, divisor = rule.corrections(step)
        self.rule = rule
        self.factor, self.divisor, self.eps = number(factor), number(divisor), number(rule.eps)
        self.decay = number(1 - rule.lr * rule.weight_decay if rule.is_decoupled else rule.weight_decay)
        self.is_near = abs(1 - rule.beta1) < 0.5  # which end of the interpolation is exact: as in lerp
        self.weight = number(1 - rule.beta1 if self.is_near else 1 - (1 - rule.beta1))
        self.kept, self.added = number(rule.beta2), number(1 - rule.beta2)

    def run(self, p: Array, g: Array, mean: Array, square_mean: Array, *largest_and_room: Array) -> None:
        *largest, a, b = largest_and_room
        rule = self.rule
        if rule.maximize:
            g = np.negative(g, b)
        if rule.weight_decay != 0 and rule.is_decoupled:
            np.multiply(p, self.decay, p)
        elif rule.weight_decay != 0:
            np.multiply(p, self.decay, a)
            g = np.add(g, a, b)
        np.subtract(g, mean, a)
        np.multiply(a, self.weight, a)
        if self.is_near:
            np.add(mean, a, mean)
        else:
            np.subtract(g, a, mean)
        np.multiply(square_mean, self.kept, square_mean)
        np.multiply(g, self.added, a)
        np.multiply(a, g, a)
        np.add(square_mean, a, square_mean)
        for most in largest:
            square_mean = np.maximum(most, square_mean, out=most)
        np.sqrt(square_mean, a)
        np.divide(a, self.divisor, a)
        np.add(a, self.eps, a)
        np.multiply(mean, self.factor, b)
        np.divide(b, a, b)
        np.add(p, b, p)


@fast("_fused_adam_", when=WHEN, benchmark=BENCHMARK, exact="bits")
def fused_adam(keys: int, *arguments: Any) -> None:
    """Adam in blocks."""
    if not _in_blocks(False, arguments[:5], arguments[5], arguments[6:]):
        plain.fused_adam(keys, *arguments)


@fast("_fused_adamw_", when=WHEN, benchmark=BENCHMARK, exact="bits")
def fused_adamw(keys: int, *arguments: Any) -> None:
    """Adam with decoupled weight decay, in blocks."""
    if not _in_blocks(True, arguments[:5], arguments[5], arguments[6:]):
        plain.fused_adamw(keys, *arguments)


@fast(
    composite.add_number,
    when="no tensor has a record of gradients, all are floats on the CPU, and nothing but the kernels sees the call",
    benchmark=BENCHMARK,
    exact="bits",
)
def add_number(self: Tensors, scalar: Any) -> None:
    """The work of `add_` alone: no hops, no conversion of the number."""
    if (
        type(scalar) not in (int, float)
        or active_keys.get() != BY_DEFAULT
        or not all(t.key_set == CPU_KEYS and t._autograd_meta is None and t.dtype in (float32, float64) for t in self)
    ):
        composite.add_number.plain(self, scalar)
        return
    quietly(_add_to_each, self, scalar)


def _add_to_each(tensors: Tensors, scalar: float) -> None:
    for tensor in tensors:
        storage = tensor._storage
        if storage is not None and storage.lazy is not None:
            storage.materialize()
        array = tensor.array()
        array += scalar
        tensor.bump_version()


def _in_blocks(is_decoupled: bool, lists: Sequence[Tensors], state_steps: Tensors, options: Sequence[Any]) -> bool:
    """Take the step if it can be taken in blocks."""
    *numbers, grad_scale, found_inf = options
    if grad_scale is not None or found_inf is not None or not lists[0]:
        return False
    rule = plain.Adam._make((*numbers, is_decoupled))
    used = lists if rule.amsgrad else lists[:-1]
    steps = set(plain.counts(state_steps))
    if len(steps) != 1 or not _are_alike(used):
        return False
    arrays = [[plain.own_array(tensor) for tensor in tensors] for tensors in used]
    quietly(_run, Update(rule, steps.pop(), arrays[0][0].dtype), list(_jobs(arrays)))
    return True


def _are_alike(lists: Sequence[Tensors]) -> bool:
    """Whether all are row-major and of one dtype, and those of a place have one shape."""
    dtype, shapes = lists[0][0].dtype, [tensor._shape for tensor in lists[0]]
    return dtype in (float32, float64) and all(
        [tensor._shape for tensor in tensors] == shapes
        and {tensor.dtype for tensor in tensors} == {dtype}
        and all(tensor._strides is None or tensor.is_row_major() for tensor in tensors)
        for tensors in lists
    )


def _jobs(arrays: list[list[Array]]) -> Iterator[Job]:
    """The arrays in pieces of at most a block: several small ones together, or a part of a large one."""
    block = thresholds.STEP_BLOCK
    flat = [[array if array.ndim == 1 else array.reshape(-1) for array in each] for each in arrays]
    sizes = [array.size for array in flat[0]]
    first, gathered = 0, 0
    for i, size in enumerate(sizes):
        if gathered + size > block and gathered:
            yield [each[first:i] for each in flat]
            first, gathered = i, 0
        if size > thresholds.STEP_GATHERED_UP_TO:
            if gathered:
                yield [each[first:i] for each in flat]
            for start in range(0, size, block):
                yield [[each[i] if size <= block else each[i][start : start + block]] for each in flat]
            first, gathered = i + 1, 0
        else:
            gathered += size
    if gathered:
        yield [each[first:] for each in flat]


def _run(update: Update, jobs: list[Job]) -> None:
    """Update the arrays of all jobs, one after the other: threads would contend for the lock between short calls."""
    if not jobs:
        return
    room = np.empty((len(jobs[0]) + 2, thresholds.STEP_BLOCK), jobs[0][0][0].dtype)
    a = b = room[0, :0]
    for job in jobs:
        if len(job[0]) == 1:
            arrays = [each[0] for each in job]
            if arrays[0].size != a.size:
                a, b = room[-2:, : arrays[0].size]
            update.run(*arrays, a, b)
            continue
        count = sum(array.size for array in job[0])
        rows = list(room[:, :count])
        for row, each in zip(rows, job, strict=False):
            np.concatenate(each, out=row)
        update.run(*rows)
        for row, each in zip(rows, job, strict=False):
            if each is job[1]:
                continue  # gradients stay as they are
            start = 0
            for array in each:
                stop = start + array.size
                array[...] = row[start:stop]
                start = stop

"""How is a LAPACK routine applied to each matrix of a batch, and how are its results handed over?

Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h (batchCount), BatchLinearAlgebra.cpp (_linalg_check_errors)
Differs: SciPy calls LAPACK, for one matrix after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial, wraps
from itertools import repeat
from math import prod
from typing import Any, TypeVar

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable, place
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.structured import add_structured, shape_function
from glasstorch.operators.shapes.linalg.decompositions import check_lapack
from glasstorch.operators.shapes.result import Result

F = TypeVar("F", bound=Callable[..., Any])
Routine = Callable[..., Any]
Kind = tuple[tuple[int, ...], Any]  # the sizes of one result for one matrix, and its dtype
INFO: Kind = ((), np.int32)  # 0, or what went wrong


@cache
def lapack(name: str, dtype: np.dtype[Any]) -> Routine:
    """The LAPACK or BLAS routine for a dtype. SciPy is imported on first use."""
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    found: Routine = (get_blas_funcs if name == "trsm" else get_lapack_funcs)(name, dtype=dtype)
    return found


@lru_cache
def workspaces(name: str, dtype: np.dtype[Any], *sizes: Any) -> tuple[int, ...]:
    """The size of each workspace that a routine asks for, given the sizes of a matrix, and its options."""
    *asked, _ = lapack(f"{name}_lwork", dtype)(*sizes)
    return tuple([int(size.real) for size in asked])


def spaced(routine: Routine, *arrays: Array) -> Routine:
    """A routine with the workspace that it asks for with the first matrices, since all of one size need the same."""
    space = routine(*[array[(0,) * (array.ndim - 2)] for array in arrays], lwork=-1)[-2]
    return partial(routine, lwork=int(space[0].real))


@slot
def each(routine: Routine, kinds: Sequence[Kind], *arrays: Array, **options: Any) -> tuple[Array, ...]:
    """What a routine returns for each matrix of a batch, to which smaller batches of matrices are broadcast.

    Results beyond `kinds` are dropped. Vectors are given as matrices of one row, which SciPy takes for vectors too.
    Without an element in one of the arrays the routine is not called, and all results are 0.
    """
    batch = np.broadcast_shapes(*[array.shape[:-2] for array in arrays])
    empty = 0 in [array.size for array in arrays]
    found = [(np.zeros if empty else np.empty)((*batch, *sizes), dtype) for sizes, dtype in kinds]
    lines = [np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(prod(batch), *x.shape[-2:]) for x in arrays]
    if not empty:
        for index, parts in zip(np.ndindex(*batch), map(partial(routine, **options), *lines), strict=True):
            for whole, part in zip(found, parts, strict=False):
                whole[index] = part
    return tuple(found)


def kind(array: Array) -> Kind:
    """That of a result as large as the matrices of a batch."""
    return array.shape[-2:], array.dtype


def identities(shape: tuple[int, ...], dtype: Any) -> Array:
    """An identity matrix, or some of its rows or columns, for each of a batch. Read-only."""
    return np.broadcast_to(np.eye(*shape[-2:], dtype=dtype), shape)


def adjoint_of(array: Array) -> Array:
    """The conjugate transpose of each matrix."""
    return array.conj().swapaxes(-1, -2)


def refuse(error: type[Exception], name: str, info: Any, reason: str) -> None:
    """Raise an error for the first matrix for which LAPACK reported something, which the reason contains as `{at}`."""
    if info.any():
        batch = int(np.flatnonzero(info)[0])
        prefix = f"(Batch element {batch}): " if info.ndim else ""
        raise error(f"{name}: {prefix}{reason.format(at=info.reshape(-1)[batch])}")


def kernel(name: str, refused_as: str | None = None, warning: str | None = None) -> Callable[[F], F]:
    """A decorator: the function below computes, from an operator's arguments, the values of its results.

    The operator's shape function checks the arguments and declares the results; one that it declares empty needs no
    value. `refused_as` is what an error calls a computation that LAPACK has not for the first tensor's dtype, and
    `warning` is given once, before anything else.
    """
    shape = shape_function(name)

    def register(function: F) -> F:
        @wraps(function)
        def run(keys: int, *arguments: Any, out: Any = None) -> Any:
            if warning is not None:
                warn_once(warning)
            results = shape(*arguments)
            if refused_as is not None:
                check_lapack(arguments[0], refused_as)
            values = function(*arguments)
            if isinstance(results, Result):
                return written(results, values, out)
            return named_result(name, map(written, results, values, repeat(None) if out is None else out))

        code = function.__code__
        add_structured(KernelTable("CPU"), name, run, place(code.co_filename, code.co_firstlineno))
        return function

    return register


def written(result: Result, values: Any, out: Tensor | None = None) -> Tensor:
    """Values as a new tensor of the sizes and strides that were declared, or copied into `out`."""
    made = allocate_output(result) if out is None else out
    array: Any = made.array()
    if array.size:
        array[...] = values
    return made

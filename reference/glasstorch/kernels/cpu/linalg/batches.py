"""How is a LAPACK routine applied to each matrix of a batch, and how are its results handed over?

Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h (batchCount), BatchLinearAlgebra.cpp (_linalg_check_errors)
Differs: SciPy calls LAPACK, for one matrix after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.iterator import allocate_output
from glasstorch.operators.shapes.result import Result

Outputs = tuple[Tensor, ...]
Routine = Callable[..., Any]
Kind = tuple[tuple[int, ...], Any]  # the sizes of one result for one matrix, and its dtype
INFO: Kind = ((), np.int32)  # 0, or what went wrong


def lapack(name: str, array: Array) -> Routine:
    """The LAPACK or BLAS routine for the array's dtype. SciPy is imported on first use."""
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    return (get_blas_funcs if name == "trsm" else get_lapack_funcs)((name,), (array,))[0]


def spaces_for(name: str, array: Array, *arguments: Any, **options: Any) -> list[int]:
    """The size of each workspace that a routine asks for, given the sizes of a matrix."""
    *asked, _ = lapack(f"{name}_lwork", array)(*arguments, **options)
    return [int(np.real(size)) for size in asked]


def with_space(routine: Routine) -> Routine:
    """The routine with as large a workspace as it asks for; that is the same for all matrices of one size."""
    space: list[int] = []

    def call(*arguments: Any) -> Any:
        if not space:
            space.append(int(routine(*arguments, lwork=-1)[-2].flat[0].real))
        return routine(*arguments, lwork=space[0])

    return call


def each(routine: Routine, batch: tuple[int, ...], kinds: Sequence[Kind], *arrays: Array) -> tuple[Array, ...]:
    """What a routine returns for each matrix of a batch, to which smaller batches of matrices are broadcast.

    Without an element in one of the arrays the routine is not called, and all results are 0.
    """
    found = tuple([np.zeros((*batch, *sizes), dtype) for sizes, dtype in kinds])
    if all(array.size for array in arrays):
        wide = [a if a.shape[:-2] == batch else np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]
        for index in np.ndindex(*batch):
            for whole, part in zip(found, routine(*map(itemgetter(index), wide)), strict=True):
                whole[index] = part
    return found


def kind(array: Array) -> Kind:
    """That of a result as large as the matrices of a batch."""
    return array.shape[-2:], array.dtype


def identities(batch: tuple[int, ...], rows: int, columns: int, dtype: Any) -> Array:
    """An identity matrix, or some of its rows or columns, for each of a batch. Read-only."""
    return np.broadcast_to(np.eye(rows, columns, dtype=dtype), (*batch, rows, columns))


def adjoint_of(array: Array) -> Array:
    """The conjugate transpose of each matrix."""
    return array.conj().swapaxes(-1, -2)


def refuse(error: type[Exception], name: str, info: Array, reason: str) -> None:
    """Raise an error for the first matrix for which LAPACK reported something, which the reason contains as `{at}`."""
    if info.any():
        batch = int(np.flatnonzero(info)[0])
        prefix = f"(Batch element {batch}): " if info.ndim else ""
        raise error(f"{name}: {prefix}{reason.format(at=info.reshape(-1)[batch])}")


def written(results: Result | Sequence[Result], values: Any, out: Any, name: str | None = None) -> Any:
    """Values as new tensors of the sizes and strides that were declared, or copied to those given as out=.

    Several have names if that of the operator's results is given. A result that is declared empty has no value.
    """
    if isinstance(results, Result):
        made = allocate_output(results) if out is None else out
        array = made.array()
        if array.size:
            array[...] = values
        return made
    tensors = tuple(map(written, results, values, repeat(None) if out is None else out))
    return tensors if name is None else named_result(name, tensors)

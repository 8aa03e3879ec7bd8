"""When is a product of matrices computed in blocks of rows, with what follows applied while a block is in the cache?

Mirrors: torch/_inductor/codegen/cpp_gemm_template.py (CppGemmTemplate, epilogue_nodes)
Differs: BLAS computes each block; PyTorch's template has kernels of its own.

# Note [Where blocks pay off]
Calls for blocks cost BLAS some of its speed, and save a pass over the product to memory and back. With one thread, a
product of (8192, 64) and (64, 512) with bias and activation took 5.2 ms in blocks of 512 rows, and 7.0 as a whole; of
(20000, 32) and (32, 512) 9.1 and 14.3; of (8192, 128) and (128, 512) 9.9 and 11.6. With 256 in the middle both took the
same, with 512 blocks took longer (18.4 against 17.8), as they did for products that fit into the cache: of (4096, 64)
and (64, 64) 0.35 against 0.33.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.compiler.loops.ir import Buffer, Extern
from glasstorch.compiler.loops.nest import common, refined
from glasstorch.compiler.loops.schedule import Group
from glasstorch.core.dtype import float32, float64
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.quiet import quietly

MOST_INNER: Final = 128  # columns of the first matrix: see Note [Where blocks pay off]
LEAST_BYTES: Final = 8 << 20  # of the product
BYTES_OF_BLOCK: Final = 512 << 10


def in_blocks(extern: Extern, groups: Sequence[Group]) -> tuple[Group, int] | None:
    """The group that follows a product, with its rows outermost, and how many rows a block has; or None.

    The caller has made sure that nothing else reads the product, which with None is computed whole. See
    Note [Where blocks pay off].
    """
    product = product_of(extern)
    if product is None or len(groups) != 1 or groups[0].device != "cpu" or groups[0].kind not in ("flat", "rows"):
        return None
    rows, columns = product.sizes
    inner = extern.node.args[0].meta["val"].shape[1]
    if product.strides != (columns, 1) or product.nbytes < LEAST_BYTES or inner > MOST_INNER:
        return None
    group = groups[0]
    finer = common(group.dims.sizes, (rows, prod(group.dims.sizes) // rows)) if rows > 1 else None
    if finer is None or finer[0] != rows:
        return None
    dims, members = refined(group.dims, finer, group.members)
    if dims.reduced[0]:
        return None
    reads = [read for member in members for read in member.reads if read.buffer is product]
    if any(read.strides[0] != columns or read.offset + _width(dims.sizes, read.strides) > columns for read in reads):
        return None
    if any(member.write.strides[0] == 0 for member in members):
        return None
    return Group(dims, members, group.phases), max(BYTES_OF_BLOCK // (columns * product.dtype.itemsize), 1)


def _width(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """How many elements lie from the first to the last that a row reads."""
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes[1:], strides[1:], strict=True))


def product_of(extern: Extern) -> Buffer | None:
    """The buffer of the product of two matrices; None if an operator is another one."""
    if str(extern.node.target) != "aten.mm.default" or len(extern.gives) != 1:
        return None
    given = [node.meta.get("val") for node in extern.node.args]
    product = extern.gives[0][0]
    of = product.dtype
    plain = all(isinstance(one, Tensor) and one.dtype is of for one in given)
    return product if plain and of in (float32, float64) else None


def matrix(tensor: Tensor) -> Array:
    """What BLAS multiplies, or writes to."""
    found: Array = tensor.detach().array()
    return found


def multiply(one: Array, other: Array, into: Array) -> None:
    """Compute a product in memory that is there already."""
    quietly(np.matmul, one, other, into)

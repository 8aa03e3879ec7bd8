"""Which strided tensors are compared where two tensors of another layout are?

Mirrors: torch/testing/_comparison.py (_equalize_attributes, _compare_sparse_coo_values,
    _compare_sparse_compressed_values)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import promote_types
from glasstorch.core.layout import jagged, sparse_coo, strided
from glasstorch.core.sparse_parts import ROW_COMPRESSED

Compared = tuple[str, Any, Any, bool]  # what the tensors are called, both, and whether they are compared for equality


def parts_compared(actual: Tensor, expected: Tensor, options: Any, place: tuple[Any, ...]) -> Iterator[Compared]:
    """The tensors themselves, or what they consist of: first how many elements are specified, and where."""
    if actual.layout is not expected.layout:  # where layouts are not checked
        actual, expected = (one if one.layout is strided else one.to_dense() for one in (actual, expected))
    if actual.layout is strided:
        yield "Tensor-likes", actual, expected, False
    elif actual.layout is jagged:
        yield "Tensor-likes", actual.values(), expected.values(), False
    else:
        is_coo = actual.layout is sparse_coo
        name = "COO" if is_coo else actual.layout.name.removeprefix("sparse_").upper()
        counted = {"sparse dimensions": (actual.sparse_dim(), expected.sparse_dim())} if is_coo else {}
        counted["specified values"] = actual._nnz(), expected._nnz()
        for what, (ours, theirs) in counted.items():
            if ours != theirs:
                words = f"The number of {what} in sparse {name} tensors does not match: {ours} != {theirs}"
                options.fail(AssertionError, words, place)
        yield from (_coo_parts if is_coo else _compressed_parts)(name, actual, expected)


def _coo_parts(name: str, actual: Tensor, expected: Tensor) -> Iterator[Compared]:
    yield f"Sparse {name} indices", actual._indices(), expected._indices(), True
    yield f"Sparse {name} values", actual._values(), expected._values(), False


def _compressed_parts(name: str, actual: Any, expected: Any) -> Iterator[Compared]:
    by_row = actual.layout in ROW_COMPRESSED
    for part in ("crow_indices", "col_indices") if by_row else ("ccol_indices", "row_indices"):
        mine, theirs = getattr(actual, part)(), getattr(expected, part)()
        common = promote_types(mine.dtype, theirs.dtype)  # one tensor's may be int32 where the other's are int64
        yield f"Sparse {name} {part}", mine.to(common), theirs.to(common), True
    yield f"Sparse {name} values", actual.values(), expected.values(), False

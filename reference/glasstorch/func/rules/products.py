"""What do products of matrices, and what solves equations, do to a batch?

Mirrors: aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.func.batching import Batch
from glasstorch.func.layers import call, rebuilt, running
from glasstorch.func.rules.decompositions import added
from glasstorch.func.wrapped import wrapping_by
from glasstorch.operators.generated import functions as f


def dot(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Of two vectors (n,): a number for each example."""
    if not all(vector.ndim == 1 for vector in arguments):
        raise RuntimeError("Got wrong shapes for dot")
    left, right = (batch.in_front(vector)[0] for vector in arguments)
    return batch.around((left * right).sum(-1))


def mv(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """A matrix (n, m) and a vector (m,), of each example or shared: (n,)."""
    matrix, vector = _of_ranks(batch, "mv", arguments, (2, 1))
    return batch.around(f.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1))


def mm(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Two matrices (n, k) and (k, m), of each example or shared: (n, m)."""
    return batch.around(f.matmul(*_of_ranks(batch, "mm", arguments, (2, 2))))


def addmm(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The product of two matrices, added to a tensor that broadcasts to it."""
    self, left, right, beta, alpha = arguments
    product = f.matmul(*_of_ranks(batch, "mm", [left, right], (2, 2)))
    value, is_batched = batch.in_front(self)
    if is_batched:
        value = value.reshape((batch.size, *[1] * (2 - self.ndim), *value._shape[1:]))
    result = added(value, product, beta, alpha)
    if operator.schema.is_inplace:
        batch.check_writable(operator, arguments)
        batch.in_front(self)[0].copy_(result)
    elif beta == 0 and not any(wrapping_by(batch, factor) is not None for factor in (left, right)):
        return result  # the same for all examples
    return batch.finished(operator, arguments, result)


def bmm(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Two batches of matrices (b, n, k) and (b, k, m), of each example or shared: (b, n, m)."""
    return batch.around(f.matmul(*_of_ranks(batch, "bmm", arguments, (3, 3))))


def _of_ranks(batch: Batch, name: str, arguments: list[Any], ranks: tuple[int, int]) -> list[Tensor]:
    """The values with the batch in front; RuntimeError unless an example has so many dimensions."""
    found = tuple(tensor.ndim for tensor in arguments)
    if found != ranks:
        raise RuntimeError(
            f"Shape mismatch: Got incorrect dims for {name}(a, b). a has dim {found[0]}and b has dim {found[1]}but "
            f"expected them to have dim {ranks[0]} and dim {ranks[1]}"
        )
    return [batch.in_front(tensor)[0] for tensor in arguments]


def linear(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """A layer that all examples share sees them as one more dimension in front; others are products of matrices.

    A weight may be a vector (n,) where the product is added to with no addmm, as in PyTorch's PyTorchOperatorHacks.cpp.
    """
    input, weight, bias = arguments
    is_shared = not any(wrapping_by(batch, tensor) is not None for tensor in (weight, bias))
    if is_shared and input.ndim and weight.ndim == 2 and (bias is None or bias.ndim < 2):
        return batch.around(call(operator, [batch.in_front(input)[0], weight, bias]))
    if bias is None or input.ndim in (2, 3):
        return NotImplemented
    with running(batch):
        return f.matmul(input, weight.t()) + bias


def attention(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Attention of rows (batch, heads, length, width): the examples count as one batch."""
    if not any(wrapping_by(batch, tensor) is not None for tensor in tensors_of(arguments)):
        return call(operator, arguments)
    names = [argument.name for argument in operator.schema.arguments]
    count = arguments[names.index("query")]._shape[0]

    def folded(tensor: Any, name: str) -> Any:
        if not isinstance(tensor, TensorImpl):
            return tensor
        if name != "attn_mask":
            return batch.expanded(tensor).flatten(0, 1)
        value, is_batched = batch.in_front(tensor)
        value = value.reshape((batch.size if is_batched else 1, *[1] * (4 - tensor.ndim), *tensor._shape))
        return value.expand((batch.size, count, -1, -1, -1)).flatten(0, 1)

    results = call(operator, list(map(folded, arguments, names)))
    return batch.around(rebuilt(results, (one.unflatten(0, (batch.size, count)) for one in results)))


VECTORS = ("pivots", "LU_pivots", "tau")  # the arguments that are a vector for each matrix


def matrices(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An operator of matrices, of which an example may have several, broadcast."""
    own = [1 if argument.name in VECTORS else 2 for argument in operator.schema.arguments]
    pairs = list(zip(arguments, own, strict=True))
    rank = max(value.ndim - trailing for value, trailing in pairs if isinstance(value, TensorImpl))

    def aligned(tensor: Tensor, trailing: int) -> Tensor:
        value = batch.expanded(tensor)
        return value.reshape((batch.size, *[1] * (rank + trailing - tensor.ndim), *value._shape[1:]))

    return batch.around(
        call(operator, [aligned(value, n) if isinstance(value, TensorImpl) else value for value, n in pairs])  # type: ignore[arg-type]
    )


def solved(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The solution of equations, and what it was computed with; the right side may be a vector for each matrix."""
    left, right = arguments[:2]
    is_vector = right.ndim == 1 or (right.ndim == left.ndim - 1 and right._shape == left._shape[:-1])
    left, right = batch.expanded(left), batch.expanded(right)
    if is_vector:
        right = right.unsqueeze(-1)
    lacking = left.ndim - right.ndim
    left, right = (
        tensor.reshape((batch.size, *[1] * max(0, more), *tensor._shape[1:]))
        for tensor, more in ((left, -lacking), (right, lacking))
    )
    result, *factors = call(operator, [left, right, *arguments[2:]])
    return batch.around((result.squeeze(-1) if is_vector else result, *factors))

"""Which operators on matrices, statistics and spectra copy their result into out=, and which may cast it?

Some cast as a sum or product would, others want the result's own dtype. See Note [The ways to write to out=].

Mirrors: the `_out` functions in aten/src/ATen/native/BatchLinearAlgebra.cpp, LinearAlgebra.cpp, ReduceOps.cpp
    (std_var_out, logsumexp_out, diff_out), SpectralOps.cpp, TensorAdvancedIndexing.cpp (take_out)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import check_can_cast
from glasstorch.core.errors import no_gradient
from glasstorch.core.return_types import named_result
from glasstorch.kernels.out.copied import COMPOSED, copy_out, copy_outs
from glasstorch.kernels.structured import check_no_overlap, resize_output
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated.functions import take
from glasstorch.operators.operator_row import OperatorRow
from glasstorch.operators.shapes.result import castable

# Words of the operator table: the result is cast; autograd sees the form itself; out= keeps the gradient.
CAST, LEAF, RECORDED = "cast", "leaf", "recorded"
LSTSQ: Final = ("solution", "residuals", "rank", "singular_values")


def composed_out(row: OperatorRow, words: Sequence[str]) -> Callable[..., Any]:
    """The kernel of the out= form of an operator that computes its results, which are copied."""
    operator: Callable[..., Any] = on_tensors(str(row.functional))
    keeps_gradients, casts = RECORDED in words, CAST in words
    count = row.schema.rpartition(" -> ")[2].count("!")  # of results: the schema is parsed later, on first use

    def with_out(*arguments: Any) -> Tensor:
        *inputs, out = arguments
        result: Tensor = operator(*inputs)
        if not keeps_gradients:
            refuse_gradients(row.name, [result])
        return cast_out(result, out) if casts else copy_out(result, out)

    def with_outs(*arguments: Any) -> Any:
        results: Sequence[Tensor] = operator(*arguments[:-count])
        refuse_gradients(row.name, results)
        return named_result(str(row.functional), copy_outs(results, arguments[-count:]))

    return with_out if count == 1 else with_outs


def cast_out(result: Tensor, out: Tensor) -> Tensor:
    """Copy a result that may be cast."""
    check_can_cast(result.dtype, out.dtype)
    resize_output(out, result._shape)
    out.copy_(result)
    return out


def refuse_gradients(form: str, results: Sequence[Tensor]) -> None:
    """Refuse results with a gradient, which out= does not keep; a leaf given as out= refuses for itself."""
    if any(result.requires_grad for result in results):
        raise no_gradient(form)


@COMPOSED.impl("linalg_lstsq.out")
def lstsq_out(*arguments: Any) -> Any:
    """The solution and what else is known of it, each cast where its tensor holds more than it."""
    results, outs = on_tensors("linalg_lstsq")(*arguments[:-4]), arguments[-4:]
    cast = []
    for name, result, out in zip(LSTSQ, results, outs, strict=True):
        castable("torch.linalg.lstsq", name)(result.dtype, out.dtype)
        cast.append(result.to(out.dtype))
    return named_result("linalg_lstsq", copy_outs(cast, outs))


@COMPOSED.impl("take.out")
def take_out(self: Tensor, index: Tensor, out: Tensor) -> Tensor:
    """Elements by their number; `out` may share no memory with what is read, also where it is resized."""
    check_no_overlap(out, (index, self))
    return copy_out(take(self, index), out)

"""How do composed operators copy their results to out=, and which of them cast?

Some cast as a sum or product does; others require the result's own dtype. See Note [The ways to write to out=].

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

# Words of the operator table: the result is cast; autograd treats the form as one operator; out= keeps the gradient.
CAST, LEAF, RECORDED = "cast", "leaf", "recorded"
LSTSQ: Final = ("solution", "residuals", "rank", "singular_values")


def composed_out(row: OperatorRow, words: Sequence[str]) -> Callable[..., Any]:
    """The out= kernel of an operator whose results are computed and then copied."""
    operator: Callable[..., Any] = on_tensors(str(row.functional))
    keeps_gradients, casts = RECORDED in words, CAST in words
    count = row.schema.rpartition(" -> ")[2].count("!")  # number of results; the schema is only parsed on first use

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
    """Copy a result to `out`, cast to its dtype."""
    check_can_cast(result.dtype, out.dtype)
    resize_output(out, result._shape)
    out.copy_(result)
    return out


def refuse_gradients(form: str, results: Sequence[Tensor]) -> None:
    """Refuse results that require a gradient, because out= would lose it; a leaf given as out= is refused elsewhere."""
    if any(result.requires_grad for result in results):
        raise no_gradient(form)


@COMPOSED.impl("linalg_lstsq.out")
def lstsq_out(*arguments: Any) -> Any:
    """The solution, residuals, rank and singular values, each cast to the dtype of its `out`."""
    results, outs = on_tensors("linalg_lstsq")(*arguments[:-4]), arguments[-4:]
    cast = []
    for name, result, out in zip(LSTSQ, results, outs, strict=True):
        castable("torch.linalg.lstsq", name)(result.dtype, out.dtype)
        cast.append(result.to(out.dtype))
    return named_result("linalg_lstsq", copy_outs(cast, outs))


@COMPOSED.impl("take.out")
def take_out(self: Tensor, index: Tensor, out: Tensor) -> Tensor:
    """Elements by their flat index; `out` must not share memory with an input, even if it is resized."""
    check_no_overlap(out, (index, self))
    return copy_out(take(self, index), out)

"""Do operators that are made of others write into the tensor given as out=?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.dispatch.operator import registry
from glasstorch.operators.gen.model import load_functions

random = np.random.default_rng(0)
A, B, C = random.standard_normal((2, 3)), random.standard_normal((5, 3, 4)), random.standard_normal((4, 3))
CALLS: dict[str, Callable[..., Any]] = {
    "matmul of vectors": lambda t, f, out: t.matmul(f(A[0]), f(A[1]), **out),
    "matmul of a matrix and a vector": lambda t, f, out: t.matmul(f(A), f(C[0]), **out),
    "matmul of a vector and a matrix": lambda t, f, out: t.matmul(f(C[0]), f(B[0]), **out),
    "matmul of matrices": lambda t, f, out: t.matmul(f(A), f(B[0]), **out),
    "matmul of batches": lambda t, f, out: t.matmul(f(A), f(B), **out),
    "matmul, folded": lambda t, f, out: t.matmul(f(B), f(B[0].T.copy()), **out),
    "linear": lambda t, f, out: t.nn.functional.linear(f(A), f(C), f(B[0, 0]), **out),
    "linear of batches": lambda t, f, out: t.nn.functional.linear(f(A[None]), f(C), f(B[0, 0]), **out),
    "linear without bias": lambda t, f, out: t.nn.functional.linear(f(A), f(C), **out),
    "softmax": lambda t, f, out: t.softmax(f(A), 1, **out),
    "log_softmax": lambda t, f, out: t.log_softmax(f(A), 0, dtype=t.float64, **out),
    "max of two": lambda t, f, out: t.max(f(A), f(C[0]), **out),
    "min of two": lambda t, f, out: t.min(f(A), f(C[0]), **out),
    "square": lambda t, f, out: t.square(f(A).t(), **out),
    "mean of all": lambda t, f, out: t.mean(f(A), **out),
}


@pytest.mark.parametrize("case", CALLS)
def test_the_result_is_written_and_returned(torch: Any, case: str) -> None:
    plain = CALLS[case](torch, torch.from_numpy, {})
    out = torch.empty(0, dtype=torch.float64)
    assert CALLS[case](torch, torch.from_numpy, {"out": out}) is out
    np.testing.assert_allclose(out.numpy(), plain.numpy())


@pytest.mark.parametrize("case", CALLS)
def test_out_may_have_gaps(case: str) -> None:
    plain = CALLS[case](glasstorch, glasstorch.from_numpy, {})
    out = glasstorch.zeros([2 * n for n in plain.shape], dtype=glasstorch.float64)
    whole = out
    for d in range(plain.dim()):
        out = out.narrow(d, 0, plain.shape[d])
    assert CALLS[case](glasstorch, glasstorch.from_numpy, {"out": out}) is out
    np.testing.assert_allclose(out.numpy(), plain.numpy())
    np.testing.assert_allclose(whole.sum().item(), plain.sum().item())  # nothing was written beside it


# PyTorch resizes out on the way where a vector comes first, and back, which counts too.
@pytest.mark.parametrize("case", [case for case in CALLS if case != "matmul of a vector and a matrix"])
def test_out_is_counted_as_changed_once_below_autograd_too(torch: Any, case: str) -> None:
    out = torch.empty_like(CALLS[case](torch, torch.from_numpy, {}))
    CALLS[case](torch, torch.from_numpy, {"out": out})
    assert out._version == 1
    with torch._C._AutoDispatchBelowAutograd():
        CALLS[case](torch, torch.from_numpy, {"out": out})
    assert out._version == 2


def test_a_form_made_of_others_leaves_the_counting_to_them() -> None:
    forms = [registry.find(f"aten::{f.name}") for f in load_functions() if f.schema.is_out]
    made_of_others = [f for f in forms if f.has_kernel_for("CompositeImplicitAutograd")]
    assert len(made_of_others) >= 4
    assert not [f for f in made_of_others if f.has_kernel_for("ADInplaceOrView")]


def test_a_gradient_cannot_pass_through_out(torch: Any) -> None:
    x, out = torch.ones(2, 2).requires_grad_(), torch.zeros(2, 2)
    with pytest.raises(RuntimeError, match=r"out=... arguments don't support automatic differentiation"):
        torch.matmul(x, x, out=out)


# out= and memory ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("size", [(0,), (4,), (3, 2), (2, 3)])
@pytest.mark.parametrize(
    "call",
    [
        lambda t, x, out: t.maximum(x, x.contiguous(), out=out),
        lambda t, x, out: t.exp(x, out=out),
        lambda t, x, out: t.where(x > 0, x, x, out=out),
        lambda t, x, out: t.sum(x, 1, out=out),
        lambda t, x, out: t.mm(x, x.t(), out=out),
        lambda t, x, out: t.cat([x, x], out=out),
        lambda t, x, out: t.softmax(x, 0, out=out),
    ],
)
def test_a_resized_out_has_the_strides_that_pytorch_gives_it(
    require: Callable[[str], Any], call: Callable[..., Any], size: tuple[int, ...]
) -> None:
    strides = []
    for library in (glasstorch, require("torch")):
        out = library.empty(size)
        call(library, library.ones(2, 3).t(), out)
        strides.append((tuple(out.shape), out.stride()))
    assert strides[0] == strides[1]


@pytest.mark.parametrize("size", [(5,), (3, 2)])
def test_an_expanded_out_is_refused_whatever_its_size(torch: Any, size: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.maximum(torch.ones(3, 2), torch.ones(3, 2), out=torch.empty(1).expand(size))


def test_a_square_is_written_in_the_inputs_order_and_not_over_what_it_reads(torch: Any) -> None:
    x = torch.from_numpy(A)
    assert torch.square(x.t(), out=torch.empty(0, dtype=torch.float64)).stride() == x.t().stride()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        torch.square(x[0, 1:], out=x[0, :-1])


def test_the_product_of_everything_has_no_out_form(torch: Any) -> None:
    with pytest.raises(TypeError):
        torch.prod(torch.ones(2), out=torch.empty(()))

"""Where do the gradients of reductions and scans go: to ties, NaN, nothing and infinity?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.steps import lines_run

Require = Callable[[str], Any]
NAN, INF = float("nan"), float("inf")

# What is differentiated, and where.
CASES: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "both extrema of everything": (lambda t, x: sum(t.aminmax(x)), [[3.0, 0.0], [2.0, 0.0]]),
    "both extrema of rows": (lambda t, x: t.aminmax(x, dim=1).max.sum(), [[1.0, 3.0, 3.0], [1.0, 2.0, NAN]]),
    "one of both extrema": (lambda t, x: t.aminmax(x, dim=0, keepdim=True).min.sum(), [[1.0, 3.0], [1.0, 2.0]]),
    "an extremum so far": (lambda t, x: (t.cummax(x, 0).values * t.arange(1.0, 6)).sum(), [1.0, 2.0, 2.0, 0.0, NAN]),
    "a sum without NaN": (lambda t, x: t.nansum(x, 0).sum(), [[1.0, NAN], [INF, 2.0]]),
    "a mean without NaN": (lambda t, x: t.nanmean(x, 1, keepdim=True).sum(), [[1.0, NAN], [3.0, 2.0]]),
    "a deviation of equal elements": (lambda t, x: t.std_mean(x, 1)[0].sum(), [[2.0, 2.0], [1.0, 3.0]]),
    "a mean alone": (lambda t, x: t.var_mean(x, 0)[1].sum(), [[2.0, 2.0], [1.0, 3.0]]),
    "a logarithm of sums": (lambda t, x: (t.logcumsumexp(x, 0) * t.tensor([1.0, -2.0, 0.0])).sum(), [1.0, 0.0, 5.0]),
    "a distance of 0": (lambda t, x: t.dist(x, x.detach()), [1.0, 2.0]),
    "a distance of order 1": (lambda t, x: t.dist(x, t.zeros(2), 1), [0.0, -2.0]),
    "a largest distance": (lambda t, x: t.dist(t.zeros(3), x, INF), [2.0, -2.0, 1.0]),
    "parts of limited norm": (lambda t, x: t.renorm(x, 2, 0, 1.0).sum(), [[3.0, 4.0], [0.1, 0.2]]),
    "a largest norm beside NaN": (lambda t, x: t.linalg.vector_norm(x, INF), [1.0, NAN, 3.0]),
    "a running product past zeros": (lambda t, x: (t.cumprod(x, 1) * t.arange(1.0, 6)).sum(),
        [[2.0, 0.0, 3.0, 0.5, 4.0], [0.0, 2.0, 0.0, INF, 3.0], [2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0, 0.0]]),
    "a complex running product past a zero": (lambda t, x: t.cumprod(x, 0).sum().abs(), [1j, 2 + 1j, 0j, 3 - 1j]),
    "a variance that divides by 0": (lambda t, x: t.var(x, dim=0, correction=3), [1.0, 2.0, 4.0]),
    "a variance that divides by less than 0": (lambda t, x: t.var(x, dim=0, correction=4), [1.0, 2.0, 4.0]),
    "a variance of everything that divides by 0": (lambda t, x: t.var(x, correction=3), [1.0, 2.0, 3.0]),
    "a deviation that divides by 0": (lambda t, x: t.std(x, dim=0, correction=3), [1.0, 2.0, 4.0]),
    "a norm with a dtype": (lambda t, x: t.ops.aten.norm.ScalarOpt_dim_dtype(x, None, [0], False, dtype=t.float64)[0],
        [[3.0, 1.0], [4.0, 1.0]]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_pytorchs(require: Require, case: str) -> None:
    function, values = CASES[case]
    gradients = []
    for library in (glasstorch, require("torch")):
        x = library.tensor(values, requires_grad=True)
        function(library, x).backward()
        gradients.append(x.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-6)


def test_a_norm_of_order_0_has_no_gradient() -> None:
    x, y = (glasstorch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    glasstorch.dist(x, y, 0).backward()
    glasstorch.linalg.vector_norm(x, 0).backward()
    assert x.grad is None
    assert y.grad is None


def test_only_the_results_that_were_used_send_a_gradient() -> None:
    x = glasstorch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    variance, mean = glasstorch.var_mean(x)
    (gradient,) = glasstorch.autograd.grad(mean, x, retain_graph=True)
    np.testing.assert_allclose(gradient.numpy(), [1 / 3] * 3, rtol=1e-6)
    (gradient,) = glasstorch.autograd.grad(variance + mean, x)
    np.testing.assert_allclose(gradient.numpy(), x.detach().numpy() - 7 / 3 + 1 / 3, rtol=1e-6)


def test_the_largest_complex_element_is_found_in_single_precision() -> None:
    numbers = np.random.default_rng(0).standard_normal((3, 4, 2)) @ [1, 1j]
    gradients = []
    for dtype in (glasstorch.complex64, glasstorch.complex128):
        x = glasstorch.from_numpy(numbers).to(glasstorch.complex64).to(dtype).requires_grad_()
        glasstorch.view_as_real(glasstorch.renorm(x, float("inf"), 1, 0.5)).sum().backward()
        gradients.append(x.grad.numpy())  # PyTorch's is NaN in single precision
    np.testing.assert_allclose(*gradients, rtol=1e-5, atol=1e-6)


def test_a_zero_in_a_long_line_costs_a_running_product_no_loop() -> None:
    def backward(size: int) -> int:
        x = glasstorch.ones(size)
        x[size // 2] = 0
        product = x.requires_grad_().cumprod(0)
        return lines_run(lambda: product.backward(glasstorch.ones(size)))

    backward(8)  # whatever is made once
    assert backward(512) == backward(8)


def test_the_gradient_of_the_gradient_of_a_running_product_sees_zeros(require: Require) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        x = library.tensor([2.0, 0.0, 3.0, 0.0, 4.0], requires_grad=True)
        (gradient,) = library.autograd.grad((x.cumprod(0) * library.arange(1.0, 6)).sum(), x, create_graph=True)
        (gradient * library.arange(2.0, 7)).sum().backward()
        found.append((gradient.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


def test_the_gradient_of_a_running_product_on_meta_has_its_sizes() -> None:
    x = glasstorch.ones((2, 3), device="meta", requires_grad=True)
    x.cumprod(1).sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (2, 3)


# --- on the way forward ---

SCRIPT = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's own use of it


def along(torch: Any, function: Callable[..., Any], values: Any, tangents: Any) -> Any:
    """The tangent of a function's result."""
    x, t = (torch.tensor(one, dtype=torch.float64) for one in (values, tangents))
    return torch.func.jvp(function, (x,), (t,))[1]


@SCRIPT
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1, (0, 1), (-1, 0)])
def test_the_tangent_of_logsumexp_is_a_mean_weighted_by_softmax(torch: Any, dim: Any, keepdim: bool) -> None:
    values, tangents = [[1.0, -2.0, 0.5], [3.0, 0.0, 0.0]], [[1.0, 10.0, -4.0], [2.0, 7.0, 0.5]]
    found = along(torch, lambda x: torch.logsumexp(x, dim, keepdim), values, tangents)
    x, t = (torch.tensor(one, dtype=torch.float64) for one in (values, tangents))
    accepted = (x.exp() * t).sum(dim, keepdim) / x.exp().sum(dim, keepdim)
    assert found.shape == accepted.shape
    assert found.flatten().tolist() == pytest.approx(accepted.flatten().tolist())


@SCRIPT
def test_the_tangent_of_logsumexp_does_not_overflow(torch: Any) -> None:
    found = along(torch, lambda x: torch.logsumexp(x, 0), [3000.0, 3000.0, -3000.0], [1.0, 3.0, 100.0])
    assert found.item() == pytest.approx(2.0)


@SCRIPT
def test_what_is_masked_by_minus_infinity_has_no_part_in_the_tangent(torch: Any) -> None:
    found = along(torch, lambda x: torch.logsumexp(x, 1), [[-INF, 1.0], [2.0, -INF]], [[5.0, 3.0], [4.0, 7.0]])
    assert found.tolist() == [3.0, 4.0]


def test_a_row_of_minus_infinities_has_a_tangent_of_0() -> None:
    found = along(glasstorch, lambda x: glasstorch.logsumexp(x, 0), [-INF, -INF], [5.0, 3.0])
    assert found.item() == 0.0  # PyTorch: NaN


@SCRIPT
def test_the_tangent_of_logsumexp_is_differentiated_backward(torch: Any) -> None:
    x, t = torch.tensor([0.0, 1.0], dtype=torch.float64), torch.tensor([1.0, 0.0], dtype=torch.float64)
    slope = torch.func.grad(lambda x: torch.func.jvp(lambda x: torch.logsumexp(x, 0), (x,), (t,))[1])(x)
    share = torch.softmax(x, 0)[0].item()
    assert slope.tolist() == pytest.approx([share * (1 - share), -share * (1 - share)])

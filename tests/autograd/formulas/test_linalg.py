"""Are the gradients of decompositions, powers and norms of matrices there, named and refused as PyTorch's are?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

X = [[1.0 + 1.0j, 2.0 - 1.0j, 0.5j], [0.25 + 2.0j, -1.0 + 0.0j, 3.0 + 1.0j], [1.0j, 2.0 + 0.5j, 1.5 + 0.0j]]


def singular_vectors(t: Any, x: Any, loss: Callable[[Any, Any], Any]) -> Any:
    left, _, right = t.linalg.svd(x, full_matrices=False)
    return loss(left, right)


EIGENVECTORS, SINGULAR_VECTORS = "The eigenvectors in the complex case", "The singular vectors in the complex case"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda t, x: t.linalg.eigh(x)[1].real, f"linalg_eigh_backward: {EIGENVECTORS}"),
        (lambda t, x: t.linalg.eigh(t.stack([x, x]))[1].imag, f"linalg_eigh_backward: {EIGENVECTORS}"),
        (lambda t, x: t.linalg.eig(x)[1].real, f"linalg_eig_backward: {EIGENVECTORS}"),
        (lambda t, x: singular_vectors(t, x, lambda u, v: u.real), f"svd_backward: {SINGULAR_VECTORS}"),
        (lambda t, x: singular_vectors(t, x[:2], lambda u, v: v.real), f"svd_backward: {SINGULAR_VECTORS}"),
        (lambda t, x: singular_vectors(t, x, lambda u, v: u.real + v.imag), f"svd_backward: {SINGULAR_VECTORS}"),
    ],
)
def test_a_loss_may_not_depend_on_the_phase_of_complex_vectors(torch: Any, loss: Any, message: str, dtype: str) -> None:
    x = torch.tensor(X, dtype=getattr(torch, dtype)).requires_grad_()
    with pytest.raises(RuntimeError, match=rf"{message} are .* e\^\{{i phi\}}\. The .* loss function depends on"):
        loss(torch, x).sum().backward()


@pytest.mark.parametrize(
    "loss",
    [
        lambda t, x: t.linalg.eigh(x)[1].abs(),
        lambda t, x: t.linalg.eig(x)[1].abs(),
        lambda t, x: singular_vectors(t, x, lambda u, v: (u[:, :2] @ v[:2]).real),
        lambda t, x: t.linalg.eigh(x.real)[1],  # real vectors have a sign, and no phase
        lambda t, x: singular_vectors(t, x.real, lambda u, v: u + v),
    ],
)
def test_a_loss_without_the_phase_has_a_gradient(torch: Any, loss: Any) -> None:
    x = torch.tensor(X, dtype=torch.complex128).requires_grad_()
    loss(torch, x).sum().backward()
    assert x.grad.isfinite().all()


def test_singular_values_alone_have_a_gradient(torch: Any) -> None:
    x = torch.tensor([[3.0, 0.0], [0.0, 2.0]]).requires_grad_()
    torch.svd(x, compute_uv=False)[1].sum().backward()
    assert x.grad.abs().tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("mode", ["r", "complete"])
def test_what_qr_keeps_too_little_for_is_said(torch: Any, mode: str) -> None:
    message = {
        "r": r"not computed when mode='r'\. Please use linalg\.qr\(A, mode='reduced'\) if you are going to diff",
        "complete": r"not differentiable when mode='complete' and nrows > ncols\.$",
    }[mode]
    with pytest.raises(Exception, match=message):
        torch.linalg.qr(torch.ones(3, 2).requires_grad_(), mode)[1].sum().backward()


def test_geqrf_has_a_node_and_no_derivative(torch: Any) -> None:
    for result in torch.geqrf(torch.eye(2).requires_grad_()):
        assert result.grad_fn.name() == "GeqrfBackward0"
        with pytest.raises(NotImplementedError, match=r"the derivative for 'geqrf' is not implemented\."):
            result.sum().backward()
    with pytest.raises(RuntimeError, match="geqrf does not support automatic differentiation for outputs with complex"):
        torch.geqrf(torch.eye(2, dtype=torch.complex64).requires_grad_())


@pytest.mark.parametrize(
    ("call", "node"),
    [
        (lambda t, x: t.linalg.matrix_power(x, -1), "LinalgInvExBackward0"),
        (lambda t, x: t.linalg.matrix_power(x, 1), "CloneBackward0"),
        (lambda t, x: t.linalg.vecdot(x[0], x[1]), "VdotBackward0"),
        (lambda t, x: t.linalg.vecdot(x, x), "SumBackward1"),
        (lambda t, x: t.linalg.matrix_norm(x[:, :0], 1), None),  # nothing it could depend on
        (lambda t, x: t.linalg.norm(x[:0], float("inf")), None),
    ],
)
def test_the_last_step_is_pytorchs(torch: Any, call: Any, node: str | None) -> None:
    result = call(torch, torch.eye(3).requires_grad_())
    assert (result.grad_fn and result.grad_fn.name()) == node


@pytest.mark.parametrize("power", [-1, 0, 1, 2])
def test_a_power_of_a_transposed_batch_is_laid_out_as_pytorchs(torch: Any, power: int) -> None:
    x = (torch.eye(2) + torch.zeros(3, 2, 2)).mT
    assert torch.linalg.matrix_power(x, power).stride() == ((4, 1, 2) if power == -1 else (4, 2, 1))


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, math.inf])
@pytest.mark.parametrize("first", [0.0, 1.0])
def test_the_second_derivative_of_a_norm_where_elements_are_zero(torch: Any, order: float, first: float) -> None:
    x = torch.tensor([first, 0.0], dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(torch.linalg.vector_norm(x, order), x, create_graph=True)
    assert grad.tolist() == [first, 0.0]
    (again,) = torch.autograd.grad(grad.sum(), x)
    unknown = [math.isnan(value) for value in (again + 0).tolist()]  # PyTorch may have given zeros without memory
    assert unknown == ([first == 0, True] if order == 1.5 else [first == 0 and order == 2] * 2)

"""Are norms, conditions and logarithms of determinants PyTorch's where matrices are singular, empty or refused?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import inf, isnan
from typing import Any

import pytest

import glasstorch
from glasstorch.core.errors import ArgumentError, ShapeError


def test_the_condition_of_a_singular_matrix_is_infinite(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
    for p in (1, -1, inf, "fro"):
        assert torch.linalg.cond(x, p).item() == inf
    assert (
        torch.linalg.cond(torch.zeros(2, 0, 0), 1).tolist()
        == torch.linalg.cond(torch.zeros(2, 0, 0)).tolist()
        == [0, 0]
    )


def test_the_logarithm_of_a_negative_determinant_is_nan(torch: Any) -> None:
    x = torch.tensor([[[0.0, 1.0], [1.0, 0.0]], [[2.0, 0.0], [0.0, 2.0]]])
    negative, positive = torch.logdet(x).tolist()
    assert isnan(negative)
    assert positive == pytest.approx(1.3862944)
    assert torch.logdet(torch.zeros(2, 2)).item() == -inf


def test_without_an_order_the_norm_is_that_of_all_elements(torch: Any) -> None:
    x = torch.ones(2, 2, 4)
    assert torch.linalg.norm(x).item() == torch.linalg.norm(x.reshape(4, 4), "fro").item() == 4
    assert torch.linalg.norm(x, dim=(0, 1)).tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, o: m.norm(o(3, 3, 3), 2), "If dim is not specified but ord is, the input must be 1D or 2D. Got 3D."),
        (lambda m, o: m.norm(o(3, 3, 3), 2, (0, 1, 2)), "it must be of length 1 or 2. Got [0, 1, 2]"),
        (lambda m, o: m.norm(o(3, 3), "x"), "linalg.matrix_norm: Order x not supported."),
        (lambda m, o: m.norm(o(3, 3), 5), "linalg.matrix_norm: Order 5 not supported."),
        (lambda m, o: m.norm(o(3, 3), 2, (0, 0)), "linalg.matrix_norm: dims must be different. Got (0, 0)"),
        (lambda m, o: m.cond(o(3)), "linalg.cond: The input tensor must have at least 2 dimensions."),
        (lambda m, o: m.cond(o(3, 3), 3), "linalg.cond got an invalid norm type: 3"),
        (lambda m, o: m.cond(o(3, 3), "x"), "linalg.cond got an invalid norm type: x"),
        (lambda m, o: m.cond(o(3, 2), "fro"), "A must be batches of square matrices, but they are 3 by 2 matrices"),
        (lambda m, o: m.cond(o(1, 2), "nuc"), "A must be batches of square matrices, but they are 1 by 2 matrices"),
        (lambda m, o: m.cond(o(0, 1, 2), "fro"), "A must be batches of square matrices, but they are 1 by 2 matrices"),
    ],
)
def test_what_has_no_norm_is_refused(torch: Any, call: Any, message: str) -> None:
    with pytest.raises(RuntimeError) as refused:
        call(torch.linalg, torch.ones)
    assert message in str(refused.value)


@pytest.mark.parametrize("order", [1, 2, float("inf")])
def test_the_norm_of_an_empty_matrix_is_0(torch: Any, order: float) -> None:
    for shape in ((2, 0), (0, 2)):
        assert torch.linalg.matrix_norm(torch.ones(shape), order).item() == 0
        assert torch.linalg.matrix_norm(torch.ones(3, *shape), order, keepdim=True).shape == (3, 1, 1)


@pytest.fixture
def first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasstorch.core.warn_once._given", set())


OLD_NORMS: dict[str, Callable[[Any, Any], Any]] = {
    "frobenius": lambda t, x: t.frobenius_norm(x, 1),
    "frobenius over two": lambda t, x: t.frobenius_norm(x, (0, 1), True),
    "frobenius over all": lambda t, x: t.frobenius_norm(x, ()),
    "frobenius with out": lambda t, x: t.frobenius_norm(x, dim=0, out=t.empty(0, dtype=t.float64)),
    "nuclear": lambda t, x: t.nuclear_norm(x),
    "nuclear, kept": lambda t, x: t.nuclear_norm(x, True),
    "nuclear over two": lambda t, x: t.nuclear_norm(x[None], (0, 2)),
    "nuclear with out": lambda t, x: t.nuclear_norm(x, out=t.empty(0, dtype=t.float64)),
    "nuclear over two with out": lambda t, x: t.nuclear_norm(x, (1, 0), out=t.empty(0, dtype=t.float64)),
}


@pytest.mark.parametrize("name", OLD_NORMS)
def test_the_old_names_of_norms_give_pytorchs_results_with_a_warning(
    name: str, first_call: None, require: Callable[[str], Any]
) -> None:
    torch = require("torch")
    with pytest.warns(UserWarning, match="is deprecated and it is just left for JIT compatibility"):
        ours = OLD_NORMS[name](glasstorch, glasstorch.tensor([[1.0, 2, 3], [4, 5, -6]], dtype=glasstorch.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = OLD_NORMS[name](torch, torch.tensor([[1.0, 2, 3], [4, 5, -6]], dtype=torch.float64))
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert ours.flatten().tolist() == pytest.approx(theirs.flatten().tolist())


@pytest.mark.filterwarnings("ignore:at..:UserWarning")
def test_the_old_names_of_norms_refuse_other_dimensions() -> None:
    x = glasstorch.ones(2, 3, 4)
    with pytest.raises(ShapeError, match="Expected at most 2 dimensions, but got 3 dimensions instead"):
        glasstorch.frobenius_norm(x, (0, 1, 2))
    with pytest.raises(ArgumentError, match="dim must be a 2-tuple"):
        glasstorch.nuclear_norm(x, (0, 1, 2))

"""Are parameters broadcast, probabilities and logits computed, properties kept, and triangles filled as in PyTorch?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch


def test_numbers_take_dtype_and_shape_of_the_tensors(torch: Any) -> None:
    broadcast_all = torch.distributions.utils.broadcast_all
    a, b, c = broadcast_all(1, torch.zeros(2, 1, dtype=torch.float64), torch.ones(3))
    assert [x.shape for x in (a, b, c)] == [(2, 3)] * 3
    assert [x.dtype for x in (a, b, c)] == [torch.float64, torch.float64, torch.float32]
    assert broadcast_all(1, 2.5)[0].dtype == torch.float32
    with pytest.raises(ValueError, match="Input arguments must all be instances of Number"):
        broadcast_all("1", 2)


def test_probabilities_and_logits_are_each_others_inverse(torch: Any) -> None:
    utils = torch.distributions.utils
    probs = torch.tensor([0.2, 0.3, 0.5])
    assert torch.allclose(utils.logits_to_probs(utils.probs_to_logits(probs)), probs)
    assert torch.allclose(utils.logits_to_probs(utils.probs_to_logits(probs, True), is_binary=True), probs)
    clamped = utils.clamp_probs(torch.tensor([0.0, 1.0]))
    assert 0 < clamped[0] < 1e-6
    assert 1 - 1e-6 < clamped[1] < 1
    assert utils.euler_constant == 0.5772156649015329


def test_a_lazy_property_is_computed_once_and_with_gradients(torch: Any) -> None:
    lazy_property = torch.distributions.utils.lazy_property

    class Squares:
        calls = 0

        def __init__(self) -> None:
            self.root = torch.ones(2, requires_grad=True)

        @lazy_property
        def square(self) -> Any:
            """The square."""
            self.calls += 1
            return self.root**2

    squares = Squares()
    with torch.no_grad():
        first = squares.square
    assert first.requires_grad
    assert squares.square is first
    assert (squares.calls, "square" in vars(squares)) == (1, True)
    assert isinstance(Squares.square, property)
    assert isinstance(Squares.square, lazy_property)
    assert lazy_property(Squares.__init__).__name__ == "__init__"


@pytest.mark.parametrize("diag", [-2, -1, 0, 1, 2])
def test_triangles_become_vectors_and_back(torch: Any, diag: int) -> None:
    utils = torch.distributions.utils
    matrices = torch.arange(18.0).reshape(2, 3, 3)
    vectors = utils.tril_matrix_to_vec(matrices, diag)
    assert vectors.shape == (2, int(torch.ones(3, 3).tril(diag).sum()))
    if diag <= 0:
        assert torch.equal(utils.vec_to_tril_matrix(vectors, diag), matrices.tril(diag))


def test_what_is_no_triangle_is_refused(torch: Any) -> None:
    utils = torch.distributions.utils
    with pytest.raises(ValueError, match=r"diag \(3\) provided is outside \[-3, 2\]"):
        utils.tril_matrix_to_vec(torch.ones(3, 3), 3)
    with pytest.raises(ValueError, match="The size of last dimension is 5 which cannot be expressed as"):
        utils.vec_to_tril_matrix(torch.ones(5))


def test_a_little_too_much_for_a_triangle_is_refused_too() -> None:
    with pytest.raises(ValueError, match="The size of last dimension is 4 which cannot be expressed as"):
        glasstorch.distributions.utils.vec_to_tril_matrix(glasstorch.ones(4))

"""Are functions of each element, sums and products of the compressed layouts PyTorch's, and what is refused?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

TWO = r"""
r + r2
r + k2
r + p2
r + d2
k + r2
k + k2
k + o2
k + p2
k + d2
o + k2
o + p2
p + r2
p + k2
p + o2
p + p2
d + r2
d + k2
r * r2
r * k2
r * c2
r * d2
k * r2
k * k2
k * o2
k * p2
k * c2
k * d2
o * r2
o * k2
o * o2
o * p2
o * c2
o * d2
p * r2
p * k2
p * o2
p * p2
p * c2
p * d2
c * r2
c * k2
c * o2
c * p2
d * r2
d * k2
d * o2
d * p2
torch.add(r, r2, alpha=2)
torch.add(r, k2, alpha=2)
torch.add(r, p2, alpha=2)
torch.add(k, r2, alpha=2)
torch.add(k, k2, alpha=2)
torch.add(k, o2, alpha=2)
torch.add(k, p2, alpha=2)
torch.add(o, k2, alpha=2)
torch.add(o, p2, alpha=2)
torch.add(p, r2, alpha=2)
torch.add(p, k2, alpha=2)
torch.add(p, o2, alpha=2)
torch.add(p, p2, alpha=2)
torch.add(d, r2, alpha=2)
torch.add(d, k2, alpha=2)
r*2
k*2
o*2.5
m*2
r*T(2.)
r*T([1., 2.])
r*T([[1.], [2.]])
e*r
2*r
r.mul_(2)
k.mul_(2)
r.mul_(r2)
r.add_(r2)
r+torch.zeros(2, 2).to_sparse_csr()
torch.zeros(2, 2).to_sparse_csr()+r
r+m
r+e[0]
r+1
r-r2
e.add_(r)
e.clone().add_(k)
torch.add(r, r2, out=torch.empty(2, 2).to_sparse_csr())
torch.mul(r, r2, out=torch.empty(2, 2).to_sparse_csr())
torch.sin(r, out=torch.zeros(2, 2).to_sparse_csr())
torch.sin(r, out=r2.clone())
torch.neg(r.to(torch.int64)).dtype
torch.sin(r.to(torch.int64)).dtype
r.sin_()
r.to(torch.int64).sin_()
torch.sparse.softmax(r, 0)
torch.threshold(r, 0, 0)
torch.relu(r)
torch.nn.functional.relu(k)
torch.ops.aten.threshold_backward(r, r, 0.)
torch.ops.aten.threshold_backward(e, r, 0.)
r.exp()
r>0
r.any()
r.abs().layout
r.angle()
r.to(torch.complex64).conj()
r.to(torch.complex64).conj_physical()
r.to(torch.complex64).abs().dtype
torch.positive(r)
r.isnan()
r.signbit()
r.pow(2)
r/2
r.clamp(0)
""".strip().splitlines()


@pytest.mark.parametrize("expression", TWO)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


# fmt: off
FUNCTIONS = [
    "abs", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1", "floor", "frac", "isinf",
    "isnan", "isneginf", "isposinf", "log1p", "neg", "positive", "rad2deg", "relu", "round", "sgn", "sign", "signbit",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "angle", "conj_physical",
]
IN_PLACE = [
    "abs_", "asin_", "atan_", "ceil_", "erf_", "expm1_", "floor_", "neg_", "relu_", "sgn_", "sign_", "sin_", "sinh_",
    "sqrt_", "tan_", "tanh_", "trunc_",
]
# fmt: on


@pytest.mark.parametrize("name", FUNCTIONS + IN_PLACE)
def test_a_function_of_each_element_is_there_for_all_four_layouts(require: Callable[[str], Any], name: str) -> None:
    for layout in ("r", "k", "o", "p", "m", "y"):
        expression = f"({layout} * 0.25).{name}()"
        assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.parametrize("other", ["to_sparse_csc", "to_sparse", "to_sparse_csr"])
def test_a_product_with_another_layout_is_csr(other: str) -> None:
    x, y = glasstorch.tensor([[1.0, 0.0], [-2.0, 3.0]]), glasstorch.tensor([[2.0, 4.0], [0.0, 8.0]])
    made = x.to_sparse_csr() * getattr(y, other)()
    assert made.is_sparse_csr
    assert made.to_dense().tolist() == [[2.0, 0.0], [0.0, 24.0]]


def test_alpha_multiplies_the_second_one() -> None:
    """PyTorch multiplies the sparse one."""
    x, sparse = glasstorch.ones(2, 2), glasstorch.eye(2).to_sparse_csr()
    assert glasstorch.add(sparse, x, alpha=3).tolist() == [[4.0, 3.0], [3.0, 4.0]]
    assert glasstorch.add(x, sparse, alpha=3).tolist() == [[4.0, 1.0], [1.0, 4.0]]


def test_a_sum_of_blocks_has_blocks() -> None:
    """PyTorch's result has lost a dimension of its values, and blocks that are no squares are refused."""
    x = glasstorch.tensor([[1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 3.0, 0.0]])
    y = glasstorch.tensor([[4.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    made = x.to_sparse_bsr((1, 2)) + y.to_sparse_bsr((1, 2))
    assert made.values().shape == (3, 1, 2)
    assert made.to_dense().tolist() == (x + y).tolist()


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("r + o2", "blocks of the same size are expected"),
        ("r + c2", "two tensors of compressed layouts are expected, or a strided one"),
        ("c + r2", "two tensors of compressed layouts are expected, or a strided one"),
        ("d + o2", "a CSR or CSC tensor is expected beside a strided one, got one of torch.sparse_bsr"),
    ],
)
def test_what_pytorch_stumbles_over_is_refused_by_name(expression: str, words: str) -> None:
    said_here = said(glasstorch, expression)
    assert said_here.startswith("RuntimeError: add: ")
    assert words in said_here

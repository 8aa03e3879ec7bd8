"""Do functions of each element, sums, products and quotients of COO tensors give what PyTorch's give?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

UNARY = """
abs asin asinh atan atanh ceil conj_physical deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf log1p
nan_to_num neg rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc positive conj exp cos reciprocal
angle sigmoid
""".split()  # noqa: SIM905
IN_PLACE = "abs asin ceil erf floor log1p neg relu round sgn sin sqrt tan tanh trunc nan_to_num".split()  # noqa: SIM905
COMPUTED = """
b.neg()
n.clone().sin_()
torch.sin(c, out=S((2, 2)))
torch.sin(c, out=torch.zeros(2, 2))
torch.neg(u, out=S((2, 2)))
c.pow(2)
c**0
c**-1
u**2
c + c
(c + c).is_coalesced()
(u + c).to_dense()
(u + c).is_coalesced()
c - c
c + z
(c + z).is_coalesced()
d + c
d - c
c + d
c - d
c + 1
1 + c
1 - c
c * 2
2 * c
u * 2
(u * 2).is_coalesced()
c * T(2.0)
c * T([2.0])
c * T(2.0, dtype=torch.float64)
n * 1.5
n * 2
b * 2
c * c
u * c
c * u
(u * c).is_coalesced()
(u * u).to_dense()
c * d
d * c
u * d
c * T([1.0, 2.0])
T([1.0, 2.0]) * c
c * torch.ones(2, 2, 2)
c * torch.ones(3)
h * h
h * torch.ones(2, 2, 2)
h * torch.ones(2)
h * T([[1.0], [2.0]])
h * c
c * torch.ones(1, 2).to_sparse()
c / 2
u / 2
(u / 2).is_coalesced()
2 / c
c / c
c / d
c / T(2.0)
c / T([2.0])
n / 2
n // 2
c // 2
u // 2
n.div(2, rounding_mode="floor")
u.div(2, rounding_mode="trunc")
c.clone().add_(c)
c.clone().add_(u).to_dense()
c.clone().sub_(c)
c.clone().mul_(2)
c.clone().mul_(c)
c.clone().mul_(d)
c.clone().div_(2)
d.clone().add_(c)
d.clone().sub_(c, alpha=2)
d.clone().mul_(c)
c.add(c, alpha=3)
c.sub(c, alpha=3)
d.add(c, alpha=3)
d.double().add(c)
n + c
c + n
n.clone().add_(c)
c + torch.eye(3).to_sparse()
d + torch.eye(3).to_sparse()
T([[1.0, 2.0]]) + c
n + n
b + b
b * b
b + n
h + h
h + c
torch.ones(2, 2, 2) + h
q * q
q.conj_physical()
q + c
c.any()
z.any()
""".strip().splitlines()


def test_the_table_has_functions_that_are_there_and_functions_that_are_not() -> None:
    answers = [said(glasstorch, f"c.{name}()").startswith("NotImplementedError") for name in UNARY]
    assert 0 < sum(answers) < 10


@pytest.mark.parametrize("operand", ["c", "u", "h", "n", "q"])
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_each_element_is_pytorchs(require: Callable[[str], Any], name: str, operand: str) -> None:
    expression = f"{operand}.{name}()"
    assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.parametrize("operand", ["c", "u"])
@pytest.mark.parametrize("name", IN_PLACE)
def test_its_form_in_place_is_pytorchs(require: Callable[[str], Any], name: str, operand: str) -> None:
    expression = f"{operand}.clone().{name}_()"
    assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.parametrize("expression", COMPUTED)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_gradients_are_sparse_where_the_leaf_is(torch: Any) -> None:
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().requires_grad_()
    (-(x * 3).relu() * 2).to_dense().sum().backward()
    assert x.grad.is_sparse
    assert x.grad.to_dense().tolist() == [[0.0, -6.0], [-6.0, 0.0]]


def test_sums_of_sparse_gradients_stay_sparse(torch: Any) -> None:
    x = torch.eye(2).to_sparse().requires_grad_()
    (x.to_dense() + (x * 2).to_dense()).sum().backward()
    assert x.grad.is_sparse
    assert x.grad.to_dense().tolist() == [[3.0, 0.0], [0.0, 3.0]]


def test_a_sparse_dimension_of_one_element_is_repeated() -> None:
    product = glasstorch.tensor([[2.0, 3.0]]).to_sparse() * glasstorch.tensor([[1.0, 0.0], [5.0, 7.0]])
    assert product.to_dense().tolist() == [[2.0, 0.0], [10.0, 21.0]]  # PyTorch loses the second row

"""Is a function of each element computed of nested tensors as in PyTorch, with its gradient?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.tags import Tag
from tests.nested.expressions import said

POINTWISE = """
a + a2
a * 2
2 * a
1 - a
2 / a
a / 2
a - 1.5
a ** 2
2 ** a
a + c
a * s
a + r
a + d
d + a
a * T([1.0, 2.0, 3.0])
a + torch.ones(1, 1, 3)
a + torch.ones(3, 3)
a + torch.ones(1, 3)
a + torch.ones(4, 1, 3)
a + torch.ones(3, 7, 3)
a + torch.ones(1, 3, 1, 3)
a + torch.ones(3, 1, 1)
v + torch.ones(3, 1)
v + T(2.0)
r + torch.ones(3, 3, 1)
q + torch.ones(4)
q + torch.ones(2, 4)
q + torch.ones(3, 1, 2, 4)
c + d
a + i
a > 0
a == a2
a != c
-a
abs(a)
a.sin()
torch.exp(a)
F.relu(a)
F.gelu(a)
F.silu(a)
F.leaky_relu(a, 0.1)
F.elu(a)
F.sigmoid(a)
torch.sigmoid(h)
torch.tanh(r)
a.clamp(-1, 1)
a.clamp(min=0.5)
a.pow(2)
a.add(a2, alpha=2)
a.sub(1)
a.add_(1)
a.mul_(a2)
a.mul_(d)
(a.mul_(2), a)
a.neg_()
a.relu_()
a.zero_()
a.fill_(3)
a.fill_(T(3))
a.copy_(c)
a.copy_(s)
a.copy_(a2)
a.masked_fill(b, 0.0)
a.masked_fill(a > 1, 7.0)
a.masked_fill(T([True, False, True]), 7.0)
a.masked_fill_(a > 1, 7.0)
torch.where(a > 0, a, a2)
torch.where(a > 0, a, T(0.0))
torch.where(a > 0, a, 0.0)
torch.where(a > 0, T([1.0, 2.0, 3.0]), a)
torch.where(a > 0, a, c)
torch.where(a > 0, a, d)
torch.maximum(a, a2)
torch.minimum(a, T(0.0))
torch.fmod(a, 2)
torch.remainder(a, 0.75)
torch.lerp(a, a2, 0.5)
torch.lerp(a, a2, a)
torch.addcmul(a, a, a)
torch.frexp(a)
torch.isnan(a)
torch.logical_not(b)
~b
b & b
b | b
i + 1
i // 2
i % 2
i / 2
i << 1
torch.atan2(a, a2)
torch.nan_to_num(a)
torch.sign(a)
torch.sqrt(a.abs())
torch.rsqrt(q.abs() + 1)
torch.pow(a, a2)
torch.round(a)
torch.bitwise_not(i)
torch.allclose(a, a)
torch.isclose(a, a)
a.eq(a2)
a[T([0, 1])]
F.mse_loss(a, a2)
F.cross_entropy(a, i)
F.pad(a, (1, 1))
torch.nn.ReLU()(a)
a[T([0,1])]
gradient(lambda x: x * 2, a)
gradient(lambda x: x + d, a)
gradient(lambda x, y: x * y, a, a2)
gradient(lambda x, y: x * y, a, d)
gradient(lambda x, y: x * y, a, T([1.0, 2.0, 3.0]))
gradient(lambda x, y: x * y, a, torch.ones(1, 1, 3))
gradient(lambda x, y: x + y, v, torch.ones(3, 1))
gradient(lambda x, y: y * x, q, torch.ones(2, 4))
gradient(lambda x, y: y * x, q, torch.ones(3, 1, 2, 4))
gradient(lambda x: x.sin().exp(), a)
gradient(lambda x: F.gelu(x), a)
gradient(lambda x: F.relu(x), a)
gradient(lambda x: F.silu(x), h)
gradient(lambda x, y: torch.where(x > 0, x, y), a, a2)
gradient(lambda x: x.masked_fill(x > 0, 0.0), a)
gradient(lambda x: nested.as_nested_tensor(x, layout=jagged), torch.ones(2, 4, 3))
type((a.detach().requires_grad_() * 2).grad_fn).__name__
type((a.detach().requires_grad_().sin()).grad_fn).__name__
a.apply_(lambda x: x + 1)
torch.nn.Parameter(a)
gradient(lambda x: F.relu(x * 2, inplace=True), a)
gradient(lambda x: (x * 2).zero_(), a)
gradient(lambda x: (x * 2).fill_(2), a)
gradient(lambda x, y: (x * 2).copy_(y), a, a2)
gradient(lambda x: (x * 2).masked_fill_(x > 0, 0.0), a)
gradient(lambda x: (x * x).add_(x), a)
""".strip().splitlines()


@pytest.mark.parametrize("expression", POINTWISE)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


OFFSETS = glasstorch.tensor([0, 2, 6, 7])
CANNOT = {"rrelu"}  # draws numbers by an operator that has several results


def operands_of(operator: Operator) -> list[Any] | None:
    """Arguments that an operator of one or two tensors takes, the first of three kinds that it does; else None."""
    parameters = [a for a in operator.schema.arguments if a.default is None]
    kinds = [str(a.type) for a in parameters]
    if kinds.count("Tensor") not in (1, 2) or not {*kinds} <= {"Tensor", "Scalar", "int", "float"}:
        return None
    base = glasstorch.arange(14.0).reshape(7, 2) * 0.13 + 0.05
    for of_kind in (lambda x: x.double(), lambda x: (x * 10).long(), lambda x: x > 0.7):
        given = [of_kind(base + 0.1 * i) if kind == "Tensor" else 1 for i, kind in enumerate(kinds)]
        try:
            result = operator(*given)
        except (RuntimeError, NotImplementedError):
            continue
        return given if isinstance(result, glasstorch.Tensor) else None
    return None


def nested_of(given: list[Any]) -> list[Any]:
    made = glasstorch.nested.nested_tensor_from_jagged
    return [made(x.detach().clone(), OFFSETS) if isinstance(x, glasstorch.Tensor) else x for x in given]


POINTWISE_OPERATORS = {
    operator.qualified_overload: given
    for name, operator in registry.operators.items()
    if name.startswith("aten::") and Tag.pointwise in operator.tags and operator.qualified_overload not in CANNOT
    and not (operator.schema.is_out or operator.schema.is_inplace)
    and (given := operands_of(operator)) is not None
}  # fmt: skip


def test_the_operators_of_each_element_are_found() -> None:
    assert len(POINTWISE_OPERATORS) > 200


@pytest.mark.parametrize("name", POINTWISE_OPERATORS)
def test_an_operator_of_each_element_computes_on_the_values_with_its_gradient(name: str) -> None:
    operator, given = registry.find(f"aten::{name}"), POINTWISE_OPERATORS[name]
    leaves = [x.clone() if isinstance(x, glasstorch.Tensor) else x for x in given]
    nested = nested_of(given)
    wanted, found = operator(*leaves), operator(*nested)
    assert found.is_nested
    assert glasstorch.allclose(found.values(), wanted, equal_nan=True)
    tensors = [(x, y) for x, y in zip(leaves, nested, strict=True) if isinstance(x, glasstorch.Tensor)]
    if not (wanted.dtype.is_floating_point and tensors[0][0].dtype.is_floating_point):
        return
    for pair in tensors:
        for x in pair:
            x.requires_grad_()
    wanted = operator(*leaves)
    try:
        wanted.sum().backward()
    except RuntimeError:  # it has no derivative, or none of these
        return
    operator(*nested).sum().backward()
    for x, y in tensors:
        assert (x.grad is None) == (y.grad is None)
        assert x.grad is None or glasstorch.allclose(x.grad, y.grad.values(), equal_nan=True)

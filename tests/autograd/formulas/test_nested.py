"""Do gradients flow through values, and through padding, to where they belong?"""

from __future__ import annotations

import glasstorch
from glasstorch.autograd.gradcheck import gradcheck, gradgradcheck

OFFSETS = glasstorch.tensor([0, 2, 2, 6])


def test_padding_and_its_opposite_have_each_others_gradient() -> None:
    values = glasstorch.rand(6, 2, dtype=glasstorch.float64, requires_grad=True)
    rows = glasstorch.rand(3, 4, 2, dtype=glasstorch.float64, requires_grad=True)
    for check in (gradcheck, gradgradcheck):
        assert check(lambda x: glasstorch.ops.aten._jagged_to_padded_dense_forward(x, [OFFSETS], [5], 0.5), values)
        assert check(lambda x: glasstorch.ops.aten._padded_dense_to_jagged_forward(x, [OFFSETS]), rows)


def test_a_nested_tensor_passes_gradients_to_its_values_and_back() -> None:
    values = glasstorch.rand(6, 2, dtype=glasstorch.float64, requires_grad=True)

    def there_and_back(x: glasstorch.Tensor) -> glasstorch.Tensor:
        nested = glasstorch.nested.nested_tensor_from_jagged(x, OFFSETS)
        return (nested.sin() * nested).values().exp()

    assert gradcheck(there_and_back, values)
    assert gradgradcheck(there_and_back, values)

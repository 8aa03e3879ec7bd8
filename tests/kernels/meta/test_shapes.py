"""Does every operator with a shape function work without data, and say the sizes that the CPU's result has?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.operator import registry
from glasstorch.kernels.structured import FORMS
from glasstorch.operators.generated.registry import OPERATORS


def test_every_operator_with_a_shape_function_has_a_kernel_and_so_have_its_forms() -> None:
    checked = 0
    for row in OPERATORS:
        if row.shape is not None and row.functional is None:
            for form in (row.name, *FORMS.get(row.name, ())):
                assert registry.find(f"aten::{form}").has_kernel_for("Meta"), form
                checked += 1
    assert checked > 150


CALLS: dict[str, Any] = {
    "broadcasting": lambda t, x: x + x[:1] * 2,
    "promotion": lambda t, x: x.long() + x,
    "a comparison": lambda t, x: x < 3,
    "a reduction": lambda t, x: x.sum(1, keepdim=True),
    "two results": lambda t, x: x.max(1),
    "a matrix product": lambda t, x: x @ x.t(),
    "joining": lambda t, x: t.cat([x, x.double()], 1),
    "stacking": lambda t, x: t.stack([x, x], 1),
    "channels last": lambda t, x: t.cat([x.new_zeros(2, 3, 4, 5).to(memory_format=t.channels_last)] * 2),
    "gather": lambda t, x: x.gather(1, t.zeros(2, 1, dtype=t.int64, device=x.device)),
    "indices": lambda t, x: x[:, t.zeros(4, dtype=t.int64, device=x.device)],
    "indices with data": lambda t, x: x[t.tensor([0, 1, 0])],
    "a mask with data": lambda t, x: x[t.tensor([False, True])],
    "views": lambda t, x: x.t().unsqueeze(0).expand(4, 3, 2)[1:, ::2],
    "a view that needs a copy": lambda t, x: x.t().reshape(6),
    "writing at indices": lambda t, x: x.index_put((t.zeros(1, dtype=t.int64, device=x.device),), x[0]),
    "in place": lambda t, x: x.add_(1).mul_(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_sizes_dtypes_and_strides_are_those_of_the_cpu(name: str) -> None:
    results = []
    for device in ("cpu", "meta"):
        result = CALLS[name](glasstorch, glasstorch.zeros(2, 3, device=device))
        parts = result if isinstance(result, tuple) else (result,)
        assert all(part.device.type == device for part in parts)
        results.append([(part.shape, part.dtype, part.stride()) for part in parts])
    assert results[0] == results[1]


def test_a_result_is_written_nowhere_and_resized_all_the_same() -> None:
    x, out = glasstorch.zeros(2, 3, device="meta"), glasstorch.empty(0, device="meta")
    assert glasstorch.add(x, x, out=out) is out
    assert out.shape == (2, 3)
    assert glasstorch.cat([x, x], out=out.resize_(0)).shape == (4, 3)


def test_checks_are_those_of_the_cpu() -> None:
    x = glasstorch.zeros(2, 3, device="meta")
    with pytest.raises(RuntimeError, match=r"tensor a \(3\) must match the size of tensor b \(2\)"):
        x + x.new_zeros(2)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x.long().add_(x)
    with pytest.raises(IndexError, match="broadcast together"):
        x[glasstorch.tensor([0, 1]), glasstorch.tensor([0, 1, 2])]


def test_data_and_no_data_do_not_mix() -> None:
    x = glasstorch.zeros(2, 3, device="meta")
    assert (x + 1).device.type == "meta"
    assert (x + glasstorch.tensor(1.0)).device.type == "meta"
    for call in (lambda: x + glasstorch.zeros(2, 3), lambda: glasstorch.cat([x, glasstorch.zeros(2, 3)])):
        with pytest.raises(RuntimeError, match="Tensor on device cpu is not on the expected device meta!"):
            call()


def test_gradients_flow_without_data() -> None:
    x = glasstorch.zeros(2, 3, device="meta", requires_grad=True)
    (x[:, 1:] @ x[0, 1:]).exp().sum().backward()
    assert (x.grad.shape, x.grad.device.type) == ((2, 3), "meta")


def test_only_indices_may_have_data_and_only_of_operators_that_say_so() -> None:
    x, row = glasstorch.zeros(2, 3, device="meta"), glasstorch.tensor([1])
    assert x.index_select(0, row).shape == (1, 3)
    assert x.index_add_(0, row, x.new_zeros(1, 3)).index_fill_(1, row, 2.0) is x
    calls = (
        lambda: x.gather(1, row[:, None]),
        lambda: x.index_add(0, row, glasstorch.zeros(1, 3)),
        lambda: x.scatter(1, row[:, None], 1.0),
    )
    for call in calls:
        with pytest.raises(RuntimeError, match="Tensor on device cpu is not on the expected device meta!"):
            call()


PRODUCTS = {
    "mm": lambda torch, first, second: torch.ones(2, 3, device=first) @ torch.ones(3, 1, device=second),
    "bmm": lambda torch, first, second: torch.ones(4, 2, 3, device=first) @ torch.ones(4, 3, 1, device=second),
    "folded": lambda torch, first, second: torch.ones(4, 2, 3, device=first) @ torch.ones(3, 1, device=second),
    "baddbmm": lambda torch, first, second: torch.baddbmm(
        torch.ones(4, 2, 1, device=first), torch.ones(4, 2, 3, device=second), torch.ones(4, 3, 1, device=first)
    ),
}


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("places", [("cpu", "meta"), ("meta", "cpu")])
def test_products_of_data_and_no_data_are_uninitialised_where_pytorch_puts_them(
    torch: Any, product: str, places: tuple[str, str]
) -> None:
    result = PRODUCTS[product](torch, *places)
    assert result.device.type == places[product == "bmm"]
    assert result.shape == ((2, 1) if product == "mm" else (4, 2, 1))

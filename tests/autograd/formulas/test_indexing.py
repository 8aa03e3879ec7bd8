"""Do elements that were placed and reduced at indices have PyTorch's gradients?"""

from __future__ import annotations

from typing import Any

import pytest


def test_equal_elements_share_the_gradient_of_the_largest(torch: Any) -> None:
    x = torch.tensor([1.0, 5.0], requires_grad=True)
    source = torch.tensor([5.0, 5.0, 0.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([1, 1, 0]), source, "amax").sum().backward()
    assert x.grad.tolist() == pytest.approx([1, 1 / 3])
    assert source.grad.tolist() == pytest.approx([1 / 3, 1 / 3, 0])


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_a_product_with_two_zeros_has_no_second_derivative(torch: Any, name: str, recwarn: Any) -> None:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    source = torch.tensor([0.0, 0.0, 4.0], requires_grad=True)
    result = getattr(x, name)(0, torch.tensor([0, 0, 1]), source, "prod")
    first, ours = torch.autograd.grad(result.sum(), [source, x], create_graph=True)
    assert first.tolist() == [0, 0, 3]
    assert ours.tolist() == [0, 4]
    with pytest.raises(RuntimeError, match=f"{name}.*: Double backward is unsupported for .* when >1 zeros"):
        first.sum().backward()


def test_a_product_with_one_zero_has_the_product_of_the_others(torch: Any) -> None:
    source = torch.tensor([0.0, 5.0], requires_grad=True)
    x = torch.tensor([2.0], requires_grad=True)
    (first,) = torch.autograd.grad(x.scatter_reduce(0, torch.tensor([0, 0]), source, "prod"), source, create_graph=True)
    assert first.tolist() == [10, 0]
    assert torch.autograd.grad(first.sum(), x)[0].item() == 5


def test_what_was_overwritten_has_no_gradient(torch: Any) -> None:
    x, source = torch.zeros(4, requires_grad=True), torch.ones(2, requires_grad=True)
    x.put(torch.tensor([1, -1]), source).sum().backward()
    assert (x.grad.tolist(), source.grad.tolist()) == ([1, 0, 1, 0], [1, 1])
    value = torch.tensor(2.0, requires_grad=True)
    x.index_fill(0, torch.tensor([0, 2, 0]), value).sum().backward()
    assert value.grad.item() == 2  # a place that is named twice is one place


def test_unused_elements_of_a_source_have_zeros(torch: Any) -> None:
    source = torch.ones(2, 2, requires_grad=True)
    torch.zeros(3).masked_scatter(torch.tensor([True, False, True]), source).sum().backward()
    assert source.grad.tolist() == [[1, 1], [0, 0]]


def test_the_older_way_to_reduce_has_no_derivative(torch: Any, recwarn: Any) -> None:
    x = torch.zeros(2, requires_grad=True)
    result = x.scatter(0, torch.tensor([0]), 2.0, reduce="multiply")
    assert result.requires_grad
    with pytest.raises(RuntimeError, match="derivative for aten::scatter is not implemented"):
        result.sum().backward()


def test_taking_is_one_step_backwards(torch: Any) -> None:
    x = torch.zeros(2, 2, requires_grad=True)
    taken = x.take(torch.tensor([-1, 3, 0]))
    assert taken.grad_fn.name() == "TakeBackward0"
    taken.sum().backward()
    assert x.grad.tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_the_gradient_of_a_product_on_meta_has_its_sizes(torch: Any, name: str, recwarn: Any) -> None:
    source = torch.ones(3, device="meta", requires_grad=True)
    index = torch.zeros(3, dtype=torch.int64, device="meta")
    getattr(torch.ones(2, device="meta"), name)(0, index, source, "prod").sum().backward()
    assert tuple(source.grad.shape) == (3,)


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_reductions_at_indices_refuse_gradients_of_complex_numbers(torch: Any, name: str, recwarn: Any) -> None:
    x = torch.ones((2, 1), dtype=torch.complex64)
    index = torch.tensor([[0]] if name == "scatter_reduce" else [0])
    source = torch.tensor([[1j]])
    reduce = getattr(x, name)
    assert reduce(0, index, source, "prod").tolist() == [[1j], [1]]
    with pytest.raises(RuntimeError, match=f"^{name} does not support automatic differentiation for outputs with comp"):
        reduce(0, index, source.requires_grad_(), "prod")


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extrema_of_no_complex_numbers_refuse_a_gradient(torch: Any, name: str) -> None:
    nothing = torch.ones(0, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"{name} does not support automatic differentiation"):
        getattr(nothing, name)(0)

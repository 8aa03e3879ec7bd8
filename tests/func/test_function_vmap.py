"""Does a generated rule keep what a Function's methods save and mark?"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def sorting(torch: Any) -> Any:
    class Sort(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            order = torch.argsort(x)
            return torch.take_along_dim(x, order, 0), order

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(output[1])
            ctx.save_for_forward(output[1])
            ctx.note = tuple(inputs[0].shape)  # of one example

        @staticmethod
        def backward(ctx: Any, grad: Any, _: Any) -> Any:
            assert ctx.note == (3,)
            return torch.take_along_dim(grad, torch.argsort(ctx.saved_tensors[0]), 0)

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return torch.take_along_dim(t, ctx.saved_tensors[0], 0), None

    return Sort.apply


def test_each_example_is_sorted_by_itself(torch: Any) -> None:
    x = torch.tensor([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]])
    values, order = torch.func.vmap(sorting(torch))(x)
    assert values.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert order.tolist() == [[1, 2, 0], [2, 0, 1]]


def test_gradients_and_tangents_of_each_example(torch: Any) -> None:
    F, sort = torch.func, sorting(torch)
    x, weight = torch.tensor([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]]), torch.arange(3.0)
    assert F.vmap(F.grad(lambda x: (sort(x)[0] * weight).sum()))(x).tolist() == [[2, 0, 1], [1, 2, 0]]
    first = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert F.vmap(F.jacrev(lambda x: sort(x)[0]))(x)[0].tolist() == first
    assert F.vmap(F.jacfwd(lambda x: sort(x)[0]))(x)[0].tolist() == first


@pytest.mark.parametrize("dim", [-2, -1, 0, 1, 2, 5])
def test_the_dimension_of_the_results_batch_must_be_there(torch: Any, dim: int) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return x.movedim(0, dim if dim < 2 else 0) * 2, dim

    mapped, x = torch.func.vmap(Double.apply), torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    if dim < 2:
        assert mapped(x).tolist() == (x * 2).tolist()
    else:
        with pytest.raises(IndexError, match=f"expected to be in range of .-2, 1., but got {dim}"):
            mapped(x)

"""Are products of matrices mapped where an example has the dimensions they need, and refused where it has not?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

SIZE = 5
SHAPES = [(3,), (3, 3), (2, 3, 3)]


def numbers(torch: Any, shape: tuple[int, ...], dim: int | None, factor: float) -> Any:
    """Elements of both signs, with the batch in front where there is one."""
    shape = shape if dim is None else (SIZE, *shape)
    return (torch.arange(float(torch.Size(shape).numel())) * factor).sin().reshape(shape)


@pytest.mark.parametrize("dims", [dims for dims in product([0, None], repeat=3) if dims != (None, None, None)])
@pytest.mark.parametrize("bias", [(5,), (), (1,)])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2, 3), (2, 4, 2, 3)])
def test_the_weight_of_a_linear_layer_may_be_a_vector_where_it_is_not_in_an_addmm(
    torch: Any, shape: Any, bias: Any, dims: Any
) -> None:
    x, w, b = (numbers(torch, *one) for one in zip((shape, (3,), bias), dims, (0.7, 1.3, 0.4), strict=True))
    mapped = torch.func.vmap(torch.nn.functional.linear, in_dims=dims)
    if len(shape) in (2, 3):
        with pytest.raises(RuntimeError, match=r"incorrect dims for mm\(a, b\)|mat2 must be a matrix"):
            mapped(x, w, b)
        return
    if len(shape) == 4 and bias == (5,):
        with pytest.raises(RuntimeError, match="must match the size of tensor b"):
            mapped(x, w, b)
        return
    found = mapped(x, w, b)
    for i in range(SIZE):
        own = [one if dim is None else one[i] for one, dim in zip((x, w, b), dims, strict=True)]
        torch.testing.assert_close(found[i], own[0] @ own[1] + own[2])


@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0)])
@pytest.mark.parametrize(
    ("name", "ranks"), [("mm", (2, 2)), ("mv", (2, 1)), ("dot", (1, 1)), ("vdot", (1, 1)), ("bmm", (3, 3))]
)
def test_a_product_has_as_many_dimensions_as_an_example_needs(
    torch: Any, refused: Callable[[Any], str], name: str, ranks: tuple[int, int], dims: Any
) -> None:
    for left, right in product(SHAPES, SHAPES):
        a, b = numbers(torch, left, dims[0], 0.7), numbers(torch, right, dims[1], 1.3)
        mapped = torch.func.vmap(getattr(torch, name), in_dims=dims)
        if (len(left), len(right)) == ranks:
            found = mapped(a, b)
            for i in range(SIZE):
                own = [one if dim is None else one[i] for one, dim in zip((a, b), dims, strict=True)]
                torch.testing.assert_close(found[i], getattr(torch, name)(*own))
        elif ranks == (1, 1):
            assert refused(lambda: mapped(a, b)) == "Got wrong shapes for dot"  # noqa: B023
        else:
            assert refused(lambda: mapped(a, b)).split("\n")[0] == (  # noqa: B023
                f"Shape mismatch: Got incorrect dims for {name}(a, b). a has dim {len(left)}and b has dim {len(right)}"
                f"but expected them to have dim {ranks[0]} and dim {ranks[1]}"
            )


@pytest.mark.parametrize(
    ("name", "ranks"),
    [("addmm", (2, 2)), ("addmv", (2, 1)), ("addbmm", (3, 3)), ("baddbmm", (3, 3)), ("addr", (1, 1))],
)
def test_a_product_that_is_added_to_has_its_dimensions(torch: Any, name: str, ranks: tuple[int, int]) -> None:
    for left, right in product(SHAPES, SHAPES):
        a, b, start = numbers(torch, left, 0, 0.7), numbers(torch, right, None, 1.3), numbers(torch, (3,), None, 1.1)
        mapped = torch.func.vmap(lambda a: getattr(torch, name)(start, a, b, beta=2, alpha=3))  # noqa: B023
        if (len(left), len(right)) != ranks:
            with pytest.raises(RuntimeError, match=r"Got incorrect dims|Expected 1-D argument"):
                mapped(a)
            continue
        for one, own in zip(mapped(a), a, strict=True):
            torch.testing.assert_close(one, getattr(torch, name)(start, own, b, beta=2, alpha=3))


@pytest.mark.parametrize("dims", [dims for dims in product([0, None], repeat=3) if dims != (None, None, None)])
@pytest.mark.parametrize("bias", [(2, 4), (4,), (2, 1), ()])
@pytest.mark.parametrize("factors", [{}, {"beta": 0.5, "alpha": 2.0}, {"beta": 0}])
def test_a_product_is_added_to_a_bias_of_each_example_or_a_shared_one(
    torch: Any, bias: Any, dims: Any, factors: Any
) -> None:
    given = [numbers(torch, *one) for one in zip((bias, (2, 3), (3, 4)), dims, (0.4, 0.7, 1.3), strict=True)]
    found = torch.func.vmap(lambda *three: torch.addmm(*three, **factors), in_dims=dims)(*given)
    for i in range(SIZE):
        own = [one if dim is None else one[i] for one, dim in zip(given, dims, strict=True)]
        torch.testing.assert_close(found[i], torch.addmm(*own, **factors))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("shared", [False, True])
def test_a_product_is_added_in_place(torch: Any, shared: bool) -> None:
    given = [numbers(torch, *one) for one in zip(((2, 4), (2, 3), (3, 4)), (0, 0, 0), (0.4, 0.7, 1.3), strict=True)]
    if shared:
        with pytest.raises(RuntimeError, match=r"\(self, \*extra_args\) is not possible"):
            torch.func.vmap(torch.Tensor.addmm_, in_dims=(None, 0, 0))(given[0][0], *given[1:])
        return
    expected = torch.addmm(given[0][3], given[1][3], given[2][3])
    torch.func.vmap(torch.Tensor.addmm_)(*given)
    torch.testing.assert_close(given[0][3], expected)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weight", ["none", "shared", "of each"])
@pytest.mark.parametrize("sizes", [((5,), ()), ((3, 5), (3,)), ((2, 5, 3), (2, 3)), ((2, 5, 4, 3), (2, 4, 3))])
def test_a_loss_over_classes_and_its_gradient_are_those_of_each_example(
    torch: Any, sizes: Any, weight: str, reduction: str
) -> None:
    shape, of_target = sizes
    x = numbers(torch, shape, 0, 0.7)
    target = (torch.arange(x.numel() // 5) * 3 % 5).reshape(SIZE, *of_target)
    weights = numbers(torch, (5,), 0 if weight == "of each" else None, 0.3).abs() + 0.1

    def loss(x: Any, target: Any, weights: Any) -> Any:
        given = None if weight == "none" else weights
        return torch.nn.functional.nll_loss(x, target, given, reduction=reduction, ignore_index=2).sum()

    dims = (0, 0, 0 if weight == "of each" else None)
    found = torch.func.vmap(torch.func.grad_and_value(loss), in_dims=dims)(x, target, weights)
    for i in range(SIZE):
        own = torch.func.grad_and_value(loss)(x[i], target[i], weights[i] if weight == "of each" else weights)
        for mapped, expected in zip(found, own, strict=True):
            torch.testing.assert_close(mapped[i], expected, equal_nan=True)

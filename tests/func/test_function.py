"""Does a user's Function run under transforms, and is it refused where it says too little?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def cube(torch: Any) -> Any:
    """The third power and its derivative, whose gradients use both."""

    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x**3, 3 * x**2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, outputs: Any) -> None:
            ctx.save_for_backward(inputs[0], outputs[1])
            ctx.save_for_forward(inputs[0], outputs[1])

        @staticmethod
        def backward(ctx: Any, grad: Any, grad_dx: Any) -> Any:
            x, dx = ctx.saved_tensors
            return grad * dx + grad_dx * 6 * x

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            x, dx = ctx.saved_tensors
            return t * dx, t * 6 * x

    return lambda x: Cube.apply(x)[0]


def product(torch: Any, **members: Any) -> Any:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    for name, value in members.items():
        setattr(Product, name, staticmethod(value) if callable(value) else value)
    return Product


def test_a_function_is_differentiated_at_every_level(torch: Any) -> None:
    f, F, x = cube(torch), torch.func, torch.tensor(2.0)
    assert F.grad(f)(x).item() == 12
    assert F.grad(F.grad(f))(x).item() == 12
    assert F.grad(F.grad(F.grad(f)))(x).item() == 6
    assert [one.item() for one in F.jvp(F.grad(f), (x,), (x,))] == [12, 24]
    assert F.grad(lambda y: F.jvp(f, (y,), (x,))[1])(x).item() == 24


def test_jacobians_of_a_function(torch: Any) -> None:
    f, F, x = cube(torch), torch.func, torch.tensor([1.0, 2.0])
    assert F.jacrev(f)(x).tolist() == F.jacfwd(f)(x).tolist() == [[3, 0], [0, 12]]
    assert F.hessian(lambda x: f(x).sum())(x).tolist() == [[6, 0], [0, 12]]
    assert F.vmap(F.jacrev(f))(x.view(2, 1)).tolist() == [[[3]], [[12]]]


def test_a_generated_rule_maps_a_function_and_its_gradient(torch: Any) -> None:
    f, F, x = cube(torch), torch.func, torch.tensor([1.0, 2.0, 3.0])
    assert F.vmap(f)(x).tolist() == [1, 8, 27]
    assert F.vmap(F.grad(f))(x).tolist() == [3, 12, 27]
    assert F.vmap(F.vmap(F.grad(f)))(x.view(1, 3)).tolist() == [[3, 12, 27]]
    leaf = x.clone().requires_grad_()
    F.vmap(F.grad(f))(leaf).sum().backward()
    assert leaf.grad.tolist() == [6, 12, 18]


def test_the_gradient_of_what_all_examples_share_is_summed(torch: Any) -> None:
    f, F = product(torch, generate_vmap_rule=True).apply, torch.func
    x, y = torch.arange(6.0).view(2, 3), torch.arange(3.0) + 1
    found = F.grad(lambda x, y: F.vmap(f, in_dims=(0, None))(x, y).sum(), (0, 1))(x, y)
    assert found[0].tolist() == [[1, 2, 3], [1, 2, 3]]
    assert found[1].tolist() == [3, 5, 7]


def test_the_users_rule_is_given_the_batches_and_their_dimensions(torch: Any) -> None:
    seen = []

    def rule(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
        seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
        return own.apply(x.movedim(in_dims[0], 0), y), 0

    own, F = product(torch, vmap=rule), torch.func
    x, y = torch.arange(6.0).view(3, 2), torch.arange(3.0)
    assert F.vmap(own.apply, in_dims=(1, None))(x, y).tolist() == [[0, 2, 8], [0, 3, 10]]
    assert seen == [(2, "error", (1, None), (3, 2))]
    assert F.vmap(lambda x: own.apply(y, y))(x).tolist() == [[0, 1, 4]] * 3  # nothing mapped: the rule is not asked
    assert len(seen) == 1


def test_a_function_that_lacks_a_rule_is_refused(torch: Any, refused: Callable[[Any], str]) -> None:
    F, x = torch.func, torch.ones(3)

    def words(**members: Any) -> str:
        return refused(lambda: F.vmap(product(torch, **members).apply)(x, x))

    assert words().startswith("You tried to vmap over Product, but it does not have vmap support. Please override")
    both = words(generate_vmap_rule=True, vmap=lambda info, dims, x, y: (x, 0))
    assert "has both generate_vmap_rule=True and an overridden vmap staticmethod" in both
    assert "Got 3 returns instead" in words(vmap=lambda info, dims, x, y: (x, 0, 0))
    assert "to have two returns, an output and out_dims" in words(vmap=lambda info, dims, x, y: x)
    assert "returned an incompatible (output, out_dims) tuple" in words(vmap=lambda info, dims, x, y: ((x,), (0, 0)))


@pytest.mark.parametrize("transform", ["vmap", "grad"])
def test_a_function_without_setup_context_is_refused(torch: Any, transform: str, refused: Callable[[Any], str]) -> None:
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

    words = refused(lambda: getattr(torch.func, transform)(Old.apply)(torch.ones(3)))
    assert words.startswith("In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev,")


def test_a_missing_backward_or_jvp_is_named(torch: Any, refused: Callable[[Any], str]) -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

    x = torch.tensor(1.0)
    assert "implement either the backward or vjp" in refused(lambda: torch.func.grad(Nothing.apply)(x))
    assert "implement the jvp function" in refused(lambda: torch.func.jvp(Nothing.apply, (x,), (x,)))


def test_once_differentiable_hides_the_second_derivative_from_the_outer_level(torch: Any) -> None:
    once = import_module(f"{torch.__name__}.autograd.function").once_differentiable
    f = product(torch, backward=once(lambda ctx, grad: tuple(grad * one for one in ctx.saved_tensors[::-1]))).apply
    by_two, x = lambda x: f(x, torch.tensor(2.0)) * x, torch.tensor(3.0)
    assert torch.func.grad(by_two)(x).item() == 12
    assert torch.func.grad(torch.func.grad(by_two))(x).item() == 2  # and not 4: what it computes counts as constant


def test_a_changed_argument_is_returned_as_itself(torch: Any) -> None:
    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x.mul_(3)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 3

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t.mul_(3)

    def f(x: Any) -> Any:
        copy = x.clone()
        assert Triple.apply(copy) is copy
        return copy.sum()

    x = torch.ones(3)
    assert torch.func.grad(f)(x).tolist() == [3, 3, 3]
    assert [one.item() for one in torch.func.jvp(f, (x,), (x,))] == [9, 9]

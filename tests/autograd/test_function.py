"""Does a user's Function behave as under PyTorch?"""

from __future__ import annotations

from typing import Any

import pytest


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values), requires_grad=True)


def test_forward_is_not_recorded_and_backward_gets_the_context(torch: Any) -> None:
    seen: list[Any] = []

    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, k: float) -> Any:
            ctx.save_for_backward(a, b)
            ctx.k = k
            seen.append(torch.is_grad_enabled())
            return a * b * k

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.extend([ctx.needs_input_grad, torch.is_grad_enabled()])
            a, b = ctx.saved_tensors
            return g * b * ctx.k, g * a * ctx.k, None

    a = leaf(torch, 2.0)
    out = Mul.apply(a, torch.tensor([3.0]), 5.0)
    assert out.grad_fn.name() == "MulBackward"
    assert type(out.grad_fn).__name__ == "MulBackward"
    out.sum().backward()
    assert a.grad.tolist() == [15.0]
    assert seen == [False, (True, False, False), False]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        out.sum().backward()


def test_without_a_gradient_nothing_is_recorded(torch: Any) -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    assert Twice.apply(torch.ones(1)).grad_fn is None
    with torch.no_grad():
        assert Twice.apply(leaf(torch, 1.0)).grad_fn is None


def test_several_results_with_one_that_has_no_gradient(torch: Any) -> None:
    class Parts(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            a, b, c = x * 2, x * 3, x > 0
            ctx.mark_non_differentiable(b, c)
            return a, b, c

        @staticmethod
        def backward(ctx: Any, ga: Any, gb: Any, gc: Any) -> Any:
            assert gb.tolist() == [0.0]
            return ga * 2

    x = leaf(torch, 1.0)
    a, b, c = Parts.apply(x)
    assert (a.requires_grad, b.requires_grad, c.requires_grad) == (True, False, False)
    assert isinstance(Parts.apply(x), tuple)
    a.sum().backward()
    assert x.grad.tolist() == [2.0]


@pytest.mark.parametrize("materialize", [True, False])
def test_a_result_that_no_gradient_reached_gives_zeros_or_none(torch: Any, materialize: bool) -> None:
    seen: list[Any] = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append(None if b is None else b.tolist())
            return a * 2

    x = leaf(torch, 1.0)
    Two.apply(x)[0].sum().backward()
    assert seen == [[0.0] if materialize else None]
    assert x.grad.tolist() == [2.0]


def test_an_argument_may_be_changed_in_place_if_it_says_so(torch: Any) -> None:
    class AddOne(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 10

    a = leaf(torch, 1.0)
    b = a * 2
    c = AddOne.apply(b)
    assert c is b
    assert (b.tolist(), b.grad_fn.name(), b._version) == ([3.0], "AddOneBackward", 2)
    b.sum().backward()
    assert a.grad.tolist() == [20.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        AddOne.apply(leaf(torch, 1.0))
    with torch.no_grad():
        d = leaf(torch, 1.0)
        changed = AddOne.apply(d)
    assert (changed is d, changed.requires_grad, d.requires_grad) == (False, False, True)
    assert (changed.tolist(), d.tolist(), changed.data_ptr() == d.data_ptr()) == ([2.0], [2.0], True)


def test_an_argument_handed_through_is_a_new_tensor_with_the_functions_history(torch: Any) -> None:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 7

    a = leaf(torch, 1.0)
    b = Same.apply(a)
    assert b is not a
    assert b.data_ptr() == a.data_ptr()
    assert b.grad_fn.name() == "SameBackward"
    assert a.is_leaf
    b.sum().backward()
    assert a.grad.tolist() == [7.0]


def test_a_saved_result_is_handed_back_with_its_history(torch: Any) -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = x.exp()
            ctx.save_for_backward(result, None)
            return result

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            result, nothing = ctx.saved_tensors
            assert nothing is None
            return g * result

    x = leaf(torch, 0.0)
    y = Exp.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    assert (g.tolist(), gg.tolist()) == ([1.0], [1.0])
    z = Exp.apply(x)
    z.add_(1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        z.sum().backward()


def test_the_backward_of_a_function_can_be_differentiated(torch: Any) -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(Square.apply(x), x, torch.ones(1, dtype=torch.float64), create_graph=True)
    assert torch.autograd.grad(g, x)[0].tolist() == [2.0]
    assert torch.autograd.gradcheck(Square.apply, (x,))
    assert torch.autograd.gradgradcheck(Square.apply, (x,))


def test_a_gradient_for_what_is_no_tensor_is_refused(torch: Any) -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: float) -> Any:
            return x * k

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g

    with pytest.raises(RuntimeError, match="returned a gradient different than None at position 2, but the"):
        Scale.apply(leaf(torch, 1.0), 2.0).sum().backward()


def test_a_backward_that_returns_no_tensor_is_refused(torch: Any) -> None:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3.0

    with pytest.raises((RuntimeError, TypeError), match=r"expected Variable or None \(got float\)"):
        Bad.apply(leaf(torch, 1.0)).sum().backward()


def test_forward_and_backward_must_be_written(torch: Any) -> None:
    class Empty(torch.autograd.Function):
        pass

    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Empty.apply(leaf(torch, 1.0))

    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    with pytest.raises((NotImplementedError, RuntimeError), match=r"[Yy]ou must implement .*backward"):
        Half.apply(leaf(torch, 1.0)).sum().backward()


def test_a_function_is_not_a_node_and_its_context_is(torch: Any) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    y = F.apply(leaf(torch, 1.0))
    common = ["_FunctionBase", "FunctionCtx", "_HookMixin", "object"]
    assert [c.__name__ for c in type(y.grad_fn).__mro__] == ["FBackward", "BackwardCFunction", *common]
    assert [c.__name__ for c in F.__mro__] == ["F", "Function", "_SingleLevelFunction", *common]
    node = torch.autograd.graph.Node
    assert isinstance(y.grad_fn, node)
    assert isinstance((y * 1).grad_fn, node)
    assert not issubclass(F, node)
    assert not callable(y.grad_fn)


def test_a_function_shows_what_a_node_shows(torch: Any) -> None:
    missing = {"name", "next_functions", "metadata", "register_hook", "register_prehook", "saved_tensors"} - set(
        dir(torch.autograd.Function)
    )
    assert not missing
    hooks, handle = torch.autograd.Function._register_hook(None, abs)
    assert hooks == {handle.id: abs}
    handle.remove()
    assert not hooks


def test_a_function_without_arguments_that_are_tensors_still_runs(torch: Any) -> None:
    class Make(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, n: int) -> Any:
            return torch.ones(n)

    assert Make.apply(3).shape == (3,)


def test_hooks_on_a_function_run_as_on_any_node(torch: Any) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = leaf(torch, 1.0)
    y = F.apply(x)
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10,))
    y.sum().backward()
    assert x.grad.tolist() == [20.0]


# setup_context --------------------------------------------------------------------------------------------------


def test_setup_context_gets_the_arguments_and_what_forward_returned(torch: Any) -> None:
    seen = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, k: float) -> Any:
            return x * x * k

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            seen.append((len(inputs), output.requires_grad, torch.is_grad_enabled(), ctx.needs_input_grad))
            ctx.save_for_backward(inputs[0])
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g * ctx.k, None

    x = leaf(torch, 1.0, 5.0)
    Scaled.apply(x, 3.0).sum().backward()
    assert x.grad.tolist() == [6.0, 30.0]
    assert Scaled.apply(torch.ones(2), 3.0).tolist() == [3.0, 3.0]
    assert seen == [(2, False, False, (True, False)), (2, False, False, (False, False))]


def test_setup_context_may_save_and_mark_results(torch: Any) -> None:
    class ExpAndTwice(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x.exp(), x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(output[0])
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx: Any, g: Any, of_twice: Any) -> Any:
            (result,) = ctx.saved_tensors
            return g * result

    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    assert [result.requires_grad for result in ExpAndTwice.apply(x)] == [True, False]
    assert torch.autograd.gradgradcheck(lambda x: ExpAndTwice.apply(x)[0], (x,))


@pytest.mark.parametrize(("saved", "message"), [((3,), "argument 0 is of type int"), ((None, 0.5), "argument 1 is of")])
def test_only_tensors_are_saved(torch: Any, saved: tuple[Any, ...], message: str) -> None:
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(*saved)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    with pytest.raises(TypeError, match=f"save_for_backward can only save variables, but {message}"):
        Keeps.apply(leaf(torch, 1.0))


@pytest.mark.parametrize("handed_through", [True, False])
def test_a_view_from_a_function_is_not_changed_with_recording(torch: Any, handed_through: bool) -> None:
    class Shows(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x if handed_through else x.view(2, 1)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.reshape(2)

    x = leaf(torch, 1.0, 2.0)
    view = Shows.apply(x)
    assert view._is_view()
    with pytest.raises(RuntimeError, match=r"Output 0 of Shows is a view and is being .*inside a custom Function"):
        view.add_(1)
    base = x * 1
    view = Shows.apply(base)
    base.add_(1)
    with pytest.raises(RuntimeError, match=r"Output 0 of Shows is a view and its base .*inside a custom Function"):
        _ = view.grad_fn


def test_an_input_marked_non_differentiable_has_no_gradient_where_it_is_returned(torch: Any) -> None:
    arrived = []

    class Both(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            arrived.extend(grad.tolist() for grad in grads)
            return grads

    first, second = Both.apply(torch.zeros(2, requires_grad=True), torch.ones(2))
    assert second.grad_fn is None
    assert "torch.autograd.function.BothBackward object at" in repr(first.grad_fn)
    (first + second).sum().backward()
    assert arrived == [[1.0, 1.0], [0.0, 0.0]]


def test_arguments_by_name_and_defaults_reach_forward(torch: Any) -> None:
    seen: list[Any] = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, by: float = 3.0) -> Any:
            ctx.by = by
            return x * by

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            return g * ctx.by, None

    class ScaledWithSetup(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, by: float = 3.0) -> Any:
            return x * by

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.by = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            return g * ctx.by, None

    for function in (Scaled, ScaledWithSetup):
        for arguments, factor in (({}, 3.0), ({"by": 2.0}, 2.0)):
            x = leaf(torch, 5.0)
            function.apply(x, **arguments).sum().backward()
            assert x.grad.tolist() == [factor]
    assert ScaledWithSetup.apply(by=2.0, x=leaf(torch, 5.0)).tolist() == [10.0]
    assert seen == [(True,)] + [(True, False)] * 3


def test_apply_refuses_an_argument_that_has_no_position(torch: Any) -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, by: float = 3.0, plus: float = 1.0, *, named: int = 1) -> Any:
            return x * by + plus

    with pytest.raises(TypeError, match="forward"):
        Scaled.apply(torch.ones(1), plus=2.0)
    with pytest.raises(TypeError, match="named"):
        Scaled.apply(torch.ones(1), named=2)
    assert Scaled.apply(torch.ones(1), plus=2.0, by=4.0).tolist() == [6.0]


def test_a_view_that_is_changed_must_be_the_only_result(torch: Any) -> None:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.add_(1)
            ctx.mark_dirty(x)
            return x, x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g + h

    base = torch.ones(4, requires_grad=True).clone()
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        Both.apply(base[:2])
    assert len(Both.apply(base.clone())) == 2


def test_what_is_no_input_is_not_marked_dirty_without_a_warning(torch: Any) -> None:
    class Marking(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.clone()
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        Marking.apply(torch.ones(2, requires_grad=True))

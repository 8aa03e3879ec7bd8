"""Do tangents stand beside transforms: below vmap, and at levels of their own?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def test_jacobians_and_hessians_in_forward_mode(torch: Any) -> None:
    functional = import_module(f"{torch.__name__}.autograd.functional")
    x = torch.tensor([1.0, 2.0])
    columns = functional.jacobian(lambda x: x * x.sum(), x, strategy="forward-mode", vectorize=True)
    assert columns.tolist() == [[4, 1], [2, 5]]
    second = functional.hessian(lambda x: (x**3).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert second.tolist() == [[6, 0], [0, 12]]


def test_a_dual_of_a_batch_belongs_to_the_batch(torch: Any) -> None:
    forward_ad = import_module(f"{torch.__name__}.autograd.forward_ad")

    def push(x: Any, t: Any) -> Any:
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(forward_ad.make_dual(x, t) ** 2).tangent

    if torch.__name__ == "torch":  # which has no rule for _make_dual there
        with pytest.raises(RuntimeError, match="_make_dual"):
            torch.func.vmap(push)(torch.ones(2, 1), torch.ones(2, 1))
        return
    x, t = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [0.5]])
    assert torch.func.vmap(push)(x, t).tolist() == [[2], [2]]
    assert torch.func.vmap(push, in_dims=(None, 0))(x[0], t).tolist() == [[2], [1]]


def test_a_tangent_of_an_outer_level_passes_through_grad(torch: Any) -> None:
    F = torch.func
    found = F.jvp(lambda x: F.grad(lambda y: x * y**2)(x), (torch.tensor(3.0),), (torch.tensor(1.0),))
    assert [one.item() for one in found] == [18, 12]


def test_columns_come_in_lists_where_there_are_several(torch: Any) -> None:
    functional, x = torch.autograd.functional, torch.ones(2)

    def kinds(function: Any, inputs: Any) -> Any:
        def of(tree: Any) -> Any:
            return tree if isinstance(tree, torch.Tensor) else (type(tree).__name__, *map(of, tree))

        found = functional.jacobian(function, inputs, strategy="forward-mode", vectorize=True)
        return str(of(found)).count("list"), str(of(found)).count("tuple")

    assert kinds(lambda x, y: (x * y, x), (x, x)) == (3, 0)
    assert kinds(lambda x: (x, x), x) == (0, 1)
    assert kinds(lambda x, y: x * y, (x, x)) == (1, 0)
    assert kinds(lambda x: x, x) == (0, 0)


# One level of forward mode --------------------------------------------------------------------------------------------

NESTED = "Nested forward mode AD is not supported at the moment"


def square(x: Any) -> Any:
    return x * x


TRANSFORMS: dict[str, Callable[..., Any]] = {
    "jvp": lambda F, f, x: F.jvp(f, (x,), (x,)),
    "strict": lambda F, f, x: F.jvp(f, (x,), (x,), strict=True),
    "of integers": lambda F, f, x: F.jvp(f, (x.int(),), (x,)),
    "jacfwd": lambda F, f, x: F.jacfwd(f)(x),
    "hessian": lambda F, f, x: F.hessian(lambda v: f(v).sum())(x),
    "linearize": lambda F, f, x: F.linearize(f, x),
    "vmap": lambda F, f, x: F.vmap(lambda v: F.jvp(f, (v,), (v,)))(x),
    "grad": lambda F, f, x: F.grad(lambda v: F.jvp(f, (v,), (v,))[1].sum())(x),
    "twice": lambda F, f, x: F.jvp(lambda v: F.jvp(f, (v,), (v,))[1], (x,), (x,)),
    "functional": lambda F, f, x: _functional(F).jacobian(f, x, vectorize=True, strategy="forward-mode"),
}


def _functional(F: Any) -> Any:
    return import_module(f"{F.__name__.partition('.')[0]}.autograd.functional")


def inside_a_level(torch: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        with torch.autograd.forward_ad.dual_level():
            return function(x)

    return call


@pytest.mark.parametrize("name", TRANSFORMS)
def test_no_transform_of_forward_mode_runs_inside_a_level(torch: Any, name: str) -> None:
    x = torch.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match=f"^{NESTED}$"):
        inside_a_level(torch, lambda x: TRANSFORMS[name](torch.func, square, x))(x)
    assert torch.func.jvp(square, (x,), (x,))[1].tolist() == [2, 8]


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if name != "of integers"])
def test_no_level_is_entered_inside_a_transform_of_forward_mode(torch: Any, name: str) -> None:
    x = torch.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match=f"^{NESTED}$"):
        TRANSFORMS[name](torch.func, inside_a_level(torch, square), x)
    with torch.autograd.forward_ad.dual_level():
        pass


def test_linearize_and_the_others_do_not_nest(torch: Any) -> None:
    F, x = torch.func, torch.tensor([1.0, 2.0])
    for outer in ("jvp", "jacfwd", "linearize"):
        with pytest.raises(RuntimeError, match=f"^{NESTED}$"):
            TRANSFORMS[outer](F, lambda v: F.linearize(square, v)[0], x)
    for inner in ("jvp", "jacfwd"):
        with pytest.raises(RuntimeError, match=f"^{NESTED}$"):
            F.linearize(lambda v, inner=inner: TRANSFORMS[inner](F, square, v), x)
    _, push = F.linearize(square, x)
    assert inside_a_level(torch, push)(x).tolist() == [2, 8]
    assert F.jvp(push, (x,), (x,))[1].tolist() == [2, 8]


def test_a_refused_level_may_be_caught(torch: Any) -> None:
    F, fw, x = torch.func, torch.autograd.forward_ad, torch.tensor([1.0, 2.0])

    def both(v: Any) -> Any:
        with pytest.raises(RuntimeError, match=NESTED):
            fw.enter_dual_level()
        with pytest.raises(RuntimeError, match="level that was not the last one that was created"):
            fw.exit_dual_level(level=3)
        return v * v

    assert F.jvp(both, (x,), (x,))[1].tolist() == [2, 8]
    with fw.dual_level():
        dual = fw.make_dual(x, x)
        with pytest.raises(RuntimeError, match=NESTED):
            F.jvp(square, (x,), (x,))
        assert fw.unpack_dual(dual * dual).tangent.tolist() == [2, 8]


def test_inside_jvp_its_arguments_are_duals_and_others_can_be_made(torch: Any) -> None:
    F, fw, x, t = torch.func, torch.autograd.forward_ad, torch.tensor([1.0, 2.0]), torch.ones(2)

    def seen(v: Any) -> Any:
        value, tangent = fw.unpack_dual(v)
        assert fw.unpack_dual(value).tangent is None
        assert fw.unpack_dual(x).tangent is None
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level 0"):
            fw.make_dual(v, t)
        return fw.make_dual(x, t) * v + value * 0, value * 2, tangent * v

    values, tangents = F.jvp(seen, (x,), (t,))
    assert [one.tolist() for one in values] == [[1, 4], [2, 4], [1, 2]]
    assert [one.tolist() for one in tangents] == [[2, 4], [0, 0], [1, 1]]
    assert F.jvp(lambda a: F.jvp(seen, (a,), (t,))[1][0], (x,), (t,))[1].tolist() == [1, 1]


def test_inside_grad_a_level_has_duals_of_what_is_tracked(torch: Any) -> None:
    F, fw, x = torch.func, torch.autograd.forward_ad, torch.tensor([1.0, 2.0])

    def slope(v: Any) -> Any:
        with fw.dual_level():
            return fw.unpack_dual(fw.make_dual(v, v) ** 2).tangent

    assert F.grad(lambda v: slope(v).sum())(x).tolist() == [4, 8]
    value, pull = F.vjp(slope, x)
    assert (value.tolist(), pull(torch.ones(2))[0].tolist()) == ([2, 8], [4, 8])
    assert F.grad(lambda v: F.grad(lambda w: (slope(w) * v).sum())(v).sum())(x).tolist() == [8, 16]


def test_jvp_follows_tangents_where_they_were_not_followed(torch: Any) -> None:
    F, fw, x = torch.func, torch.autograd.forward_ad, torch.tensor([1.0, 2.0])
    with fw._set_fwd_grad_enabled(False):
        assert F.jvp(square, (x,), (x,))[1].tolist() == [2, 8]
    with fw.dual_level(), fw._set_fwd_grad_enabled(False):
        assert fw.unpack_dual(square(fw.make_dual(x, x))).tangent is None

"""Do tangents stand beside transforms: below vmap, and at levels of their own?"""

from __future__ import annotations

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

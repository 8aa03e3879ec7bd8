"""Is an operator on lists one operator to a mode, and its parts to autograd?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
import glasstorch.utils._python_dispatch
from glasstorch.autograd.records_nothing import has_gradient
from glasstorch.autograd.records_parts import PARTS_RECORDED
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import registry
from tests.operators.test_whereabouts import of

Require = Callable[[str], Any]


def libraries(require: Require) -> tuple[Any, Any]:
    require("torch.utils._python_dispatch")
    return require("torch"), glasstorch


def test_the_kernel_is_one_for_all() -> None:
    operator = registry.find("aten::_foreach_add.List")
    assert operator.kernels[DispatchKey.Autograd] == [PARTS_RECORDED]
    assert has_gradient(operator)
    assert of("_foreach_add.List").gradient_of_parts
    assert not of("add.Tensor").gradient_of_parts


def test_a_mode_sees_one_operator_where_nothing_is_recorded(require: Require) -> None:
    seen = []
    for t in libraries(require):
        names: list[str] = []

        class Listening(t.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
            def __torch_dispatch__(self, called: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                names.append(str(called))  # noqa: B023  (run before the next turn)
                return called(*args, **(kwargs or {}))

        with Listening():
            t._foreach_add_(t._foreach_mul([t.ones(2), t.ones(3)], 2.0), 1.0)
        seen.append(names)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("mode", ["grad", "no_grad", "inference"])
def test_gradients_and_versions_are_pytorchs(mode: str, require: Require) -> None:
    found = []
    for t in libraries(require):
        x = [t.tensor([0.5, 2.0], requires_grad=mode != "inference"), t.ones(2)]
        written = t.ones(2)
        with {"grad": t.enable_grad, "no_grad": t.no_grad, "inference": t.inference_mode}[mode]():
            results = t._foreach_mul(x, [x[0], t.ones(2)])
            t._foreach_add_([written], 1.0)
        grad = t.autograd.grad(results[0].sum(), x[:1])[0].tolist() if mode == "grad" else None
        found.append((grad, results[0].requires_grad, results[0].is_leaf, written._version, written.tolist()))
    assert found[0] == found[1]


def test_tangents_pass_through_the_parts() -> None:
    x, direction = glasstorch.tensor([0.5, 2.0]), glasstorch.tensor([1.0, 3.0])
    value, tangent = glasstorch.func.jvp(lambda x: glasstorch._foreach_mul([x], [x])[0], (x,), (direction,))
    assert (value.tolist(), tangent.tolist()) == ([0.25, 4.0], [1.0, 12.0])

"""Are the helpers there that optimizers written elsewhere import, and do they what PyTorch's do?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

Require = Callable[[str], Any]


def own_optimizer(t: Any) -> Any:
    """As the field writes them, with the helpers of torch.optim.optimizer."""
    module = import_module(f"{t.__name__}.optim.optimizer")

    class Sign(module.Optimizer):  # type: ignore[misc, name-defined]
        def __init__(self, params: Any, lr: float = 0.1) -> None:
            super().__init__(params, {"lr": lr, "differentiable": False})

        @module._use_grad_for_differentiable  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.add_(parameter.grad.sign(), alpha=-module._get_value(group["lr"]))

    x = t.tensor([1.0, -2.0], requires_grad=True)
    x.square().sum().backward()
    Sign([x]).step()
    return x.tolist()


def chosen_form(t: Any) -> Any:
    choose = import_module(f"{t.__name__}.optim.optimizer")._default_to_fused_or_foreach
    x = t.zeros(2)
    return [choose([x], False), choose([x], False, True), choose([x], True, True), choose([x.long()], False, True)]


def in_reals(t: Any) -> Any:
    params, grads = [t.ones(2, dtype=t.complex64), t.ones(2)], [t.ones(2, dtype=t.complex64), t.ones(2)]
    import_module(f"{t.__name__}.optim.optimizer")._view_as_real(params, grads)
    return [tuple(x.shape) for x in (*params, *grads)]


def small_ones(t: Any) -> Any:
    module = import_module(f"{t.__name__}.optim.optimizer")
    return [
        module._get_value(t.tensor(2.0)),
        module._get_value(3),
        tuple(module._to_scalar(t.ones(1)).shape),
        str(module._get_scalar_dtype()).rpartition(".")[2],
        module._stack_if_compiling([1]),
        repr(module.required),
        [type(hooks).__name__ for hooks in (module._global_optimizer_pre_hooks, module._global_optimizer_post_hooks)],
        hasattr(module, "ParamsT"),
    ]


@pytest.mark.parametrize("program", [own_optimizer, chosen_form, in_reals, small_ones])
def test_as_in_torch(program: Callable[[Any], Any], require: Require) -> None:
    assert_same(program, require("torch"))


def test_the_former_name_of_schedulers_is_a_class_of_its_own(require: Require) -> None:
    def program(t: Any) -> list[bool]:
        schedulers = t.optim.lr_scheduler
        optimizer = t.optim.SGD([t.zeros(1, requires_grad=True)], lr=0.1)
        return [
            issubclass(schedulers._LRScheduler, schedulers.LRScheduler),
            isinstance(schedulers.StepLR(optimizer, 1), schedulers._LRScheduler),
        ]

    assert_same(program, require("torch"))

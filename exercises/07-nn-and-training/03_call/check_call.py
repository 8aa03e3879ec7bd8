"""Do backward hooks get the right gradients, does each hook run once, and does an error reach the caller?"""

from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch import nn
from glasstorch.nn.modules.calling import Call
from workbook.exercises.answer_file import Refused, error_refusal
from workbook.exercises.asking import Ask, Came, Raises, expect

BOTH = "a backward hook gets the gradients of the input that `forward` got and of the output that the caller got"


class Scale(nn.Module):
    """Multiplies its input by a number, or raises an error."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def forward(self, x: Any, fails: str = "") -> Any:
        """The product."""
        if fails:
            raise ValueError(fails)
        return x * self.number

    def __repr__(self) -> str:
        return f"Scale({self.number:g})"


class Hooks:
    """The hooks of a module, and a log of their calls."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.log: list[str] = []

    def notes(self, word: str, fails: bool = False) -> Callable[..., None]:
        """A hook that records its name, and may raise an error."""

        def hook(*told: Any) -> None:
            self.log.append(word)
            if fails and self.log.count(word) == 1:
                raise KeyError(word)

        return hook

    def gradients(self) -> None:
        """Register a backward hook that records the gradients of inputs and outputs."""

        def hook(module: Any, inputs: Any, outputs: Any) -> None:
            self.log.append(f"inputs {inputs[0].tolist()}, outputs {outputs[0].tolist()}")

        self.module.register_full_backward_hook(hook)


def called(ask: Ask, module: nn.Module, *args: Any, **kwargs: Any) -> Came:
    """The outcome of one call of a module by the answer."""
    return ask("run", Call(module, args, kwargs))


def backward(came: Came) -> None:
    """Run a backward pass from the result; refuses if there is none."""
    try:
        came.value.sum().backward()
    except Exception as error:
        if isinstance(error, Refused):
            raise
        raise Refused(error_refusal(error, came.path, asked="a result for a backward pass", call=came.call)) from None


def test_the_gradients_of_the_inputs(ask: Ask) -> None:
    """the gradients that a backward hook gets if a pre-hook replaces the input"""
    for factor in (1.0, 10.0, 3.0):
        hooks = Hooks(Scale(2.0))
        hooks.gradients()
        hooks.module.register_forward_pre_hook(lambda module, args, factor=factor: args[0] * factor)
        came = called(ask, hooks.module, torch.ones(2, requires_grad=True))
        backward(came)
        expect(hooks.log, ["inputs [2.0, 2.0], outputs [1.0, 1.0]"], because=BOTH)


def test_the_gradients_of_the_outputs(ask: Ask) -> None:
    """the gradients that a backward hook gets if a forward hook replaces the output"""
    for factor in (1.0, 10.0, 3.0):
        hooks = Hooks(Scale(2.0))
        hooks.gradients()
        hooks.module.register_forward_hook(lambda module, args, output, factor=factor: output * factor)
        came = called(ask, hooks.module, torch.ones(2, requires_grad=True))
        backward(came)
        inputs = [2 * factor] * 2
        expect(hooks.log, [f"inputs {inputs}, outputs [1.0, 1.0]"], because=BOTH)


def test_hooks_that_are_always_called(ask: Ask) -> None:
    """the hooks that run if `forward`, a hook before it or a hook after it raises an error"""
    for place in ("forward", "pre-hook", "first hook", "second hook"):
        hooks = Hooks(Scale(2.0))
        module = hooks.module
        module.register_forward_pre_hook(hooks.notes("before", fails=place == "pre-hook"))
        module.register_forward_hook(hooks.notes("first", fails=place == "first hook"), always_call=True)
        module.register_forward_hook(hooks.notes("second", fails=place == "second hook"), always_call=True)
        module.register_forward_hook(hooks.notes("third"))
        came = called(ask, module, torch.ones(2), fails="no" * (place == "forward"))
        asked = f"the hooks that run, with an error in: {place}"
        because = "after an error, a hook runs only if it has not been called yet, even if it raised that error"
        expect(hooks.log, ["before", "first", "second"], asked=asked, because=because)
        kind = ValueError if place == "forward" else KeyError
        expect(came, Raises(kind), because="the error must reach the caller after the hooks have run")

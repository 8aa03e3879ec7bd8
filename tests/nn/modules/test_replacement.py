"""Does a conversion change, swap or replace the parameters of a module as PyTorch does, whatever was chosen?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

CHOICES = ("overwrite", "swap", "both", "neither")


@pytest.fixture
def oracle(require: Callable[[str], Any]) -> Any:
    return require("torch")


@contextmanager
def chosen(torch: Any, choice: str) -> Iterator[None]:
    torch.__future__.set_overwrite_module_params_on_conversion(choice in ("overwrite", "both"))
    torch.__future__.set_swap_module_params_on_conversion(choice in ("swap", "both"))
    try:
        yield
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
        torch.__future__.set_swap_module_params_on_conversion(False)


def layer(torch: Any) -> Any:
    """A layer whose weight has a gradient."""
    made = torch.nn.Linear(2, 2)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        made.bias.copy_(torch.tensor([5.0, 6.0]))
    made.weight.grad = torch.ones(2, 2)
    return made


def told(module: Any, weight: Any, gradient: Any) -> Any:
    """Which objects are the same as before, and what they hold."""
    new = module.weight
    return (
        new is weight,
        new.grad is gradient,
        type(new).__name__,
        new.requires_grad,
        (str(new.dtype), str(new.device), str(new.grad.dtype)),
        [] if new.is_meta else [new.tolist(), new.grad.tolist(), module.bias.tolist()],
        str(weight.dtype),
    )


CONVERSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "double": lambda torch, module: module.double(),
    "to the same dtype": lambda torch, module: module.to(torch.float32),
    "to meta": lambda torch, module: module.to("meta"),
    "to_empty on meta": lambda torch, module: module.to_empty(device="meta"),
    "a function of the program's": lambda torch, module: module._apply(lambda tensor: tensor * 2),
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_a_conversion_keeps_or_replaces_what_pytorch_does(conversion: str, choice: str, oracle: Any) -> None:
    def program(torch: Any) -> Any:
        with chosen(torch, choice):
            module = layer(torch)
            weight, gradient = module.weight, module.weight.grad
            CONVERSIONS[conversion](torch, module)
            return told(module, weight, gradient)

    assert_same(program, oracle)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("assign", [False, True])
def test_a_state_dict_is_copied_assigned_or_swapped(assign: bool, choice: str, oracle: Any) -> None:
    def program(torch: Any) -> Any:
        with chosen(torch, choice):
            module, other = layer(torch), layer(torch)
            module.weight.grad = None
            weight = module.weight
            with torch.no_grad():
                other.weight.mul_(10)
            state = {name: value.double() for name, value in other.state_dict().items()}
            result = module.load_state_dict(state, assign=assign)
            new = module.weight
            return str(result), new is weight, new.tolist(), str(new.dtype), type(new).__name__, new.requires_grad

    assert_same(program, oracle)


def test_what_was_chosen_is_told(torch: Any) -> None:
    for choice in CHOICES:
        with chosen(torch, choice):
            assert torch.__future__.get_overwrite_module_params_on_conversion() is (choice in ("overwrite", "both"))
            assert torch.__future__.get_swap_module_params_on_conversion() is (choice in ("swap", "both"))


def test_a_parameter_that_cannot_be_swapped_is_told_with_its_module(oracle: Any) -> None:
    def program(torch: Any) -> Any:
        import weakref

        with chosen(torch, "swap"):
            module = layer(torch)
            module.keeper = weakref.ref(module.weight)
            module.double()

    assert_same(program, oracle)


def test_a_backward_pass_that_began_before_a_swap_is_refused(oracle: Any) -> None:
    def program(torch: Any) -> Any:
        with chosen(torch, "swap"):
            module = torch.nn.Linear(2, 2, bias=False)
            loss = (module.weight + 1).sum()
            module.double()
            try:
                loss.backward()
            except RuntimeError as error:
                return str(error)[:70]

    assert_same(program, oracle)


def test_a_parametrization_lets_its_original_be_swapped(oracle: Any) -> None:
    def program(torch: Any) -> Any:
        class Doubled(torch.nn.Module):  # type: ignore[misc,name-defined]
            def forward(self, x: Any) -> Any:
                return x * 2

            def right_inverse(self, x: Any) -> Any:
                return x / 2

        with chosen(torch, "swap"):
            module = layer(torch)
            module.weight.grad = None
            weight = module.weight
            torch.nn.utils.parametrize.register_parametrization(module, "weight", Doubled())
            held = module.parametrizations.weight.original
            torch.nn.utils.parametrize.remove_parametrizations(module, "weight")
            return held is weight, held.tolist(), module.weight is weight, module.weight.tolist()

    assert_same(program, oracle)

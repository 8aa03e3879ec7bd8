"""Is a module called with other tensors in the place of its own as in PyTorch, and is it then as it was before?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same


def network(torch: Any) -> Any:
    """A layer, a parameter under two names, a buffer and a tensor that is neither."""

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.l1 = torch.nn.Linear(1, 1)
            self.register_buffer("buffer", torch.ones(1))
            self.foo = 0.0
            self.plain = torch.full((1,), 2.0)
            self.tied_bias = self.l1.bias
            self.register_buffer("tied_buffer", self.buffer)

        def forward(self, x: Any) -> Any:
            return self.l1(x) + self.buffer + self.tied_bias + self.tied_buffer * self.plain

    made = Network()
    with torch.no_grad():
        made.l1.weight.fill_(3.0)
        made.l1.bias.fill_(5.0)
    return made


def call(torch: Any, net: Any, values: Any, **options: Any) -> Any:
    return torch.nn.utils.stateless._functional_call(net, values, torch.ones(1, 1), **options)


def state(net: Any) -> Any:
    return {name: tensor.tolist() for name, tensor in [*net.named_parameters(), *net.named_buffers()]}


def called(torch: Any, names: dict[str, float], **options: Any) -> Any:
    """What a call with these values returns, what they are afterwards, and the module's own tensors."""
    net = network(torch)
    values = {name: torch.full((1, 1) if name.endswith("weight") else (1,), value) for name, value in names.items()}
    try:
        returned = call(torch, net, values, **options).tolist()
    except Exception as error:  # noqa: BLE001 (the error is what is compared)
        returned = type(error).__name__, str(error)
    return returned, {name: value.tolist() for name, value in values.items()}, state(net), net.plain.tolist()


def all_of_them(torch: Any) -> Any:
    return called(torch, {"l1.weight": 0.0, "l1.bias": 10.0, "buffer": 100.0})


def some_of_them(torch: Any) -> Any:
    return called(torch, {"l1.weight": 0.0})


def tied_ones(torch: Any) -> Any:
    return [called(torch, {name: 0.0}) for name in ("l1.bias", "tied_bias", "buffer", "tied_buffer")]


def tied_ones_apart(torch: Any) -> Any:
    return called(torch, {"tied_bias": 0.0, "buffer": 4.0}, tie_weights=False)


def two_values_for_tied_ones(torch: Any) -> Any:
    return called(torch, {"tied_bias": 0.0, "l1.bias": 4.0})


def one_value_for_both_tied_ones(torch: Any) -> Any:
    value = torch.zeros(1)
    return call(torch, network(torch), {"tied_bias": value, "l1.bias": value}).tolist()


def a_plain_attribute(torch: Any) -> Any:
    return called(torch, {"plain": 7.0})


def an_attribute_that_is_no_tensor(torch: Any) -> Any:
    return called(torch, {"l1.weight": 7.0, "foo": 7.0})


def an_attribute_that_does_not_exist(torch: Any) -> Any:
    net = network(torch)
    returned = call(torch, net, {"l1.other": torch.ones(1)}).tolist()
    return returned, hasattr(net.l1, "other")


def a_module_that_does_not_exist(torch: Any) -> Any:
    return called(torch, {"l1.weight": 7.0, "l2.bias": 7.0})


def a_module_in_a_module_that_does_not_exist(torch: Any) -> Any:
    return called(torch, {"l1.inner.bias": 7.0})


def a_module_that_is_a_tensor(torch: Any) -> Any:
    net = network(torch)
    net.plain = 3
    return call(torch, net, {"plain.bias": torch.ones(1)})


def an_empty_name(torch: Any) -> Any:
    return called(torch, {"": 7.0})


def an_empty_last_name(torch: Any) -> Any:
    return called(torch, {"l1.weight": 7.0, "l1.": 7.0})


def a_value_that_is_no_tensor(torch: Any) -> Any:
    net = network(torch)
    try:
        call(torch, net, {"l1.weight": torch.zeros(1, 1), "l1.bias": "no tensor"})
    except TypeError as error:
        return str(error), state(net)


def none_as_a_value(torch: Any) -> Any:
    return call(torch, network(torch), {"l1.bias": None}, tie_weights=False).tolist()


def strictly_all(torch: Any) -> Any:
    names = {"l1.weight": 0.0, "l1.bias": 0.0, "buffer": 0.0}
    return [called(torch, names, strict=True), called(torch, names, strict=True, tie_weights=False)]


def strictly_with_names_missing(torch: Any) -> Any:
    return called(torch, {"l1.weight": 0.0}, strict=True)


def strictly_with_names_too_many(torch: Any) -> Any:
    names = {"l1.weight": 0.0, "l1.bias": 0.0, "buffer": 0.0, "plain": 1.0, "l1.a": 1.0}
    return called(torch, names, strict=True)


def strictly_with_both(torch: Any) -> Any:
    return called(torch, {"l1.weight": 0.0, "z": 0.0, "a": 0.0}, strict=True)


def a_forward_that_fails(torch: Any) -> Any:
    net = network(torch)

    def forward(x: Any) -> Any:
        raise RuntimeError("not today")

    net.forward = forward
    try:
        call(torch, net, {"l1.weight": torch.zeros(1, 1)})
    except RuntimeError as error:
        return str(error), state(net)


def changed_by_the_module(torch: Any) -> Any:
    """Buffers that `forward` adds to, in place and by assignment."""
    net = network(torch)

    def forward(x: Any) -> Any:
        net.buffer.add_(x[0])
        net.tied_buffer = net.tied_buffer + 10
        return net.buffer + net.tied_buffer

    net.forward = forward
    values = {"buffer": torch.zeros(1), "tied_buffer": torch.ones(1)}
    returned = call(torch, net, values, tie_weights=False).tolist()
    return returned, {name: value.tolist() for name, value in values.items()}, state(net)


def running_statistics(torch: Any) -> Any:
    net = torch.nn.BatchNorm1d(1)
    values = dict(net.named_buffers())
    values = {name: value.clone() for name, value in values.items()}
    torch.nn.utils.stateless._functional_call(net, values, torch.arange(3.0).view(3, 1))
    return {name: value.tolist() for name, value in values.items()}, state(net)


def gradients(torch: Any) -> Any:
    net, weight = network(torch), torch.ones(1, 1, requires_grad=True)
    call(torch, net, {"l1.weight": weight}).sum().backward()
    return weight.grad.tolist(), net.l1.weight.grad, net.l1.bias.grad.tolist()


def keyword_arguments(torch: Any) -> Any:
    net = network(torch)
    call = torch.nn.utils.stateless._functional_call
    values = {"l1.weight": torch.zeros(1, 1)}
    return call(net, values, (), {"x": torch.ones(1, 1)}).tolist(), call(
        net, values, kwargs={"x": torch.ones(1, 1)}
    ).tolist()


def arguments_in_a_list(torch: Any) -> Any:
    net = torch.nn.Module()
    net.forward = lambda *args: repr(args)
    call = torch.nn.utils.stateless._functional_call
    return [call(net, {}, given) for given in (None, (), (1, 2), [1, 2], 3)]


def stacked(torch: Any) -> Any:
    """The same tensor under two names, put back in the reverse order."""
    net = network(torch)
    values = {"l1.weight": torch.zeros(1, 1), "l1.bias": torch.ones(1)}
    with torch.nn.utils.stateless._reparametrize_module(net, values, stack_weights=True):
        inside = state(net)
    return inside, state(net)


def deprecated(torch: Any) -> Any:
    values = {"l1.weight": torch.zeros(1, 1)}
    return torch.nn.utils.stateless.functional_call(network(torch), values, torch.ones(1, 1)).tolist()


def in_parallel(torch: Any) -> Any:
    torch.nn.utils.stateless._functional_call(torch.nn.DataParallel(network(torch)), {}, torch.ones(1, 1))


PROGRAMS = [
    in_parallel,
    all_of_them, some_of_them, tied_ones, tied_ones_apart, two_values_for_tied_ones, one_value_for_both_tied_ones,
    a_plain_attribute, an_attribute_that_is_no_tensor, an_attribute_that_does_not_exist, a_module_that_does_not_exist,
    a_module_in_a_module_that_does_not_exist, a_module_that_is_a_tensor, an_empty_name, an_empty_last_name,
    a_value_that_is_no_tensor, none_as_a_value, strictly_all, strictly_with_names_missing,
    strictly_with_names_too_many, strictly_with_both, a_forward_that_fails, changed_by_the_module, running_statistics,
    gradients, keyword_arguments, arguments_in_a_list, stacked, deprecated,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Callable[[Any], Any], require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))

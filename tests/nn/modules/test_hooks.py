"""Do a module's hooks run when PyTorch's do, with the same arguments, and can they replace the same things?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Runs with both libraries."""
    PROGRAMS.append(function)
    return function


def lists(values: Any) -> Any:
    """Tensors as lists, in whatever they are nested."""
    if isinstance(values, tuple | list):
        return [lists(value) for value in values]
    return values.tolist() if hasattr(values, "tolist") else values


def doubling(torch: Any) -> Any:
    """A layer that multiplies by two, and has a parameter."""
    layer = torch.nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(2) * 2)
    return layer


@program
def forward_hooks_run_in_order_and_may_be_put_first(torch: Any) -> Any:
    log: list[Any] = []
    layer = doubling(torch)
    layer.register_forward_hook(lambda m, args, out: log.append(["a", lists(args), lists(out)]))
    layer.register_forward_hook(lambda m, args, out: out + 1)
    layer.register_forward_hook(lambda m, args, out: log.append(["first", lists(out)]), prepend=True)
    layer.register_forward_pre_hook(lambda m, args: log.append(["pre", lists(args)]))
    layer.register_forward_pre_hook(lambda m, args: args[0] * 10, prepend=True)
    handle = layer.register_forward_hook(lambda m, args, kwargs, out: log.append(kwargs), with_kwargs=True)
    log.append(lists(layer(torch.ones(2))))
    handle.remove()
    log.append(lists(layer(torch.ones(2))))
    return log


@program
def a_hook_that_is_always_called_runs_after_an_error(torch: Any) -> Any:
    log: list[Any] = []
    layer = doubling(torch)

    def fails(*_: Any) -> None:
        raise ValueError("from the hook")

    layer.register_forward_hook(lambda m, args, out: log.append(["not called", out]))
    layer.register_forward_hook(lambda m, args, out: log.append(["called", out]), always_call=True)
    layer.register_forward_hook(fails, always_call=True)
    try:
        layer(torch.ones(3))
    except RuntimeError:
        log.append("RuntimeError")
    return log


@program
def a_pre_hook_with_kwargs_returns_both(torch: Any) -> Any:
    layer = doubling(torch)
    layer.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    return layer(torch.ones(2))


@program
def full_backward_hooks_see_and_replace_gradients(torch: Any) -> Any:
    log: list[Any] = []
    net = torch.nn.Sequential(doubling(torch), torch.nn.Tanh(), doubling(torch))
    for i, layer in enumerate(net):
        layer.register_full_backward_pre_hook(lambda m, out, i=i: log.append(["pre", i, lists(out)]))
        layer.register_full_backward_hook(lambda m, inp, out, i=i: log.append(["post", i, lists(inp), lists(out)]))
    net[1].register_full_backward_hook(lambda m, inp, out: (inp[0] * 0 + 7,))
    net[2].register_full_backward_pre_hook(lambda m, out: (out[0] * 3,), prepend=True)
    x = torch.zeros(2, requires_grad=True)
    net(x).sum().backward()
    return [*log, lists(x.grad), lists(net[0].weight.grad)]


@program
def a_full_backward_hook_without_gradients_of_inputs(torch: Any) -> Any:
    log: list[Any] = []
    layer = doubling(torch)
    layer.register_full_backward_hook(lambda m, inp, out: log.append([lists(inp), lists(out)]))
    layer(torch.ones(2)).sum().backward()
    return [*log, lists(layer.weight.grad)]


@program
def arguments_that_are_not_tensors_have_no_gradient(torch: Any) -> Any:
    class Scaled(torch.nn.Module):  # type: ignore[misc]
        def forward(self, number: float, x: Any, other: Any) -> Any:
            return x * number, other, x + other

    log: list[Any] = []
    layer = Scaled()
    layer.register_full_backward_hook(lambda m, inp, out: log.append([lists(inp), lists(out)]))
    x = torch.ones(2, requires_grad=True)
    first, _, third = layer(2.0, x, torch.ones(2))
    (first + third).sum().backward()
    return [*log, lists(x.grad)]


@program
def a_wrong_number_of_gradients_is_refused(torch: Any) -> Any:
    layer = doubling(torch)
    layer.register_full_backward_hook(lambda m, inp, out: (inp[0], inp[0]))
    layer(torch.ones(2, requires_grad=True)).sum().backward()


@program
def both_kinds_of_backward_hooks_are_refused(torch: Any) -> Any:
    layer = doubling(torch)
    layer.register_backward_hook(lambda m, inp, out: None)
    layer.register_full_backward_hook(lambda m, inp, out: None)


@program
def the_older_backward_hook_belongs_to_the_last_node(torch: Any) -> Any:
    log: list[Any] = []
    layer = torch.nn.Tanh()
    layer.register_backward_hook(lambda m, inp, out: log.append([lists(inp), lists(out)]))
    x = torch.zeros(2, requires_grad=True)
    (layer(x) * 2).sum().backward()
    return [*log, lists(x.grad)]


@program
def what_the_older_backward_hook_misses_is_said(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Tanh())
    net.register_backward_hook(lambda m, inp, out: None)
    net(torch.zeros(2, requires_grad=True)).sum().backward()


@program
def hooks_of_all_modules_come_first(torch: Any) -> Any:
    log: list[Any] = []
    module = torch.nn.modules.module
    handles = [
        module.register_module_forward_pre_hook(lambda m, args: log.append(["pre", type(m).__name__])),
        module.register_module_forward_hook(lambda m, args, out: log.append(["post", type(m).__name__])),
        module.register_module_full_backward_pre_hook(lambda m, out: log.append(["back pre", type(m).__name__])),
        module.register_module_full_backward_hook(lambda m, inp, out: log.append(["back", type(m).__name__])),
    ]
    net = torch.nn.Sequential(doubling(torch), torch.nn.Tanh())
    net[1].register_forward_hook(lambda m, args, out: log.append("own"))
    try:
        net(torch.zeros(2, requires_grad=True)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    net(torch.zeros(2))
    return log


@program
def hooks_of_registration_replace_what_is_registered(torch: Any) -> Any:
    log: list[Any] = []
    module = torch.nn.modules.module
    handles = [
        module.register_module_parameter_registration_hook(lambda m, name, param: log.append(["parameter", name])),
        module.register_module_buffer_registration_hook(lambda m, name, buffer: buffer + 1),
        module.register_module_module_registration_hook(lambda m, name, child: torch.nn.Identity()),
    ]
    try:
        holder = torch.nn.Module()
        holder.weight = torch.nn.Parameter(torch.zeros(1))
        holder.register_parameter("none", None)
        holder.register_buffer("count", torch.zeros(1))
        holder.count = torch.full((1,), 5.0)
        holder.child = torch.nn.Tanh()
        holder.add_module("other", torch.nn.Tanh())
    finally:
        for handle in handles:
            handle.remove()
    return [*log, holder.count.tolist(), repr(holder)]


@program
def hooks_of_state_dict(torch: Any) -> Any:
    log: list[Any] = []
    net = torch.nn.Sequential(doubling(torch))

    def renamed(m: Any, values: Any, prefix: str, metadata: Any) -> Any:
        return {f"{prefix}{name}": values[name].tolist() for name in values}

    net[0].register_state_dict_pre_hook(lambda m, prefix, keep_vars: log.append([prefix, keep_vars]))
    net[0].register_state_dict_post_hook(lambda m, values, prefix, metadata: log.append([list(values), metadata]))
    net._register_state_dict_hook(renamed)
    log.append(net.state_dict(prefix="net."))
    return log


@program
def a_public_post_hook_of_state_dict_returns_nothing(torch: Any) -> Any:
    layer = doubling(torch)
    layer.register_state_dict_post_hook(lambda m, values, prefix, metadata: values)
    layer.state_dict()


@program
def hooks_of_load_state_dict(torch: Any) -> Any:
    log: list[Any] = []
    net = torch.nn.Sequential(doubling(torch))

    def rename(m: Any, values: Any, prefix: str, *rest: Any) -> None:
        log.append([type(m).__name__, prefix, len(rest)])
        values[prefix + "weight"] = values.pop(prefix + "kernel")

    def forgive(m: Any, incompatible: Any) -> None:
        log.append([list(incompatible.missing_keys), list(incompatible.unexpected_keys)])
        incompatible.unexpected_keys.clear()

    net[0].register_load_state_dict_pre_hook(rename)
    net.register_load_state_dict_post_hook(forgive)
    log.append(repr(net.load_state_dict({"0.kernel": torch.ones(2, 2), "extra": torch.ones(1)})))
    return [*log, net[0].weight.tolist()]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Callable[[Any], Any], require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))

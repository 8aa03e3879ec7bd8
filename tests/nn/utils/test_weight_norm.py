"""Is a weight computed from lengths and directions before each call, as in PyTorch?"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import Program, assert_same

WITHIN = 1e-6


def linear(torch: Any) -> Any:
    """A layer with the weights 1, 2 ... 6."""
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(1.0, 7.0).view(2, 3))
        layer.bias.zero_()
    return layer


def normed(torch: Any, **options: Any) -> Any:
    return torch.nn.utils.weight_norm(linear(torch), **options)


def shown(layer: Any) -> Any:
    return (
        [(name, p.tolist(), p.requires_grad) for name, p in layer.named_parameters()],
        layer.weight.tolist(), layer.weight.requires_grad, type(layer.weight).__name__, repr(layer),
        list(layer.__dict__)[-1], list(layer.state_dict()), len(layer._forward_pre_hooks),
    )  # fmt: skip


def by_rows(torch: Any) -> Any:
    return shown(normed(torch))


def by_columns(torch: Any) -> Any:
    return shown(normed(torch, dim=1))


def as_a_whole(torch: Any) -> Any:
    return shown(normed(torch, dim=None)), shown(normed(torch, dim=-1))


def along_no_dimension(torch: Any) -> Any:
    normed(torch, dim=2)


def of_another_parameter(torch: Any) -> Any:
    return shown(normed(torch, name="bias"))


def of_an_unknown_name(torch: Any) -> Any:
    normed(torch, name="other")


def of_a_buffer(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("weight", torch.ones(2, 2))
    torch.nn.utils.weight_norm(module)


def of_a_convolution(torch: Any) -> Any:
    layer = torch.nn.Conv2d(2, 3, 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(24.0).view(3, 2, 2, 2))
    torch.nn.utils.weight_norm(layer, dim=1)
    return list(layer.weight_g.shape), layer(torch.ones(1, 2, 2, 2)).tolist()


def of_a_recurrent_layer(torch: Any) -> Any:
    layer = torch.nn.LSTM(2, 2)
    torch.nn.utils.weight_norm(layer, "weight_hh_l0")
    layer(torch.ones(1, 1, 2))[0].sum().backward()
    return [name for name, _ in layer.named_parameters()], list(layer.weight_hh_l0_g.grad.shape)


def computed_before_each_call(torch: Any) -> Any:
    layer = normed(torch)
    with torch.no_grad():
        layer.weight_g.fill_(1.0)
    before = layer.weight.tolist()
    out = layer(torch.ones(1, 3)).tolist()
    return before, out, layer.weight.tolist()


def trained(torch: Any) -> Any:
    layer = normed(torch)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.ones(1, 3)).square().sum().backward()
        optimizer.step()
    return shown(layer)


def twice(torch: Any) -> Any:
    torch.nn.utils.weight_norm(normed(torch))


def of_two_parameters(torch: Any) -> Any:
    layer = torch.nn.utils.weight_norm(normed(torch), name="bias")
    torch.nn.utils.remove_weight_norm(layer, "bias")
    return shown(layer)


def removed(torch: Any) -> Any:
    layer = normed(torch)
    with torch.no_grad():
        layer.weight_g.fill_(1.0)
    returned = torch.nn.utils.remove_weight_norm(layer)
    return shown(layer), returned is layer


def removed_from_what_has_none(torch: Any) -> Any:
    torch.nn.utils.remove_weight_norm(linear(torch))


def removed_by_another_name(torch: Any) -> Any:
    torch.nn.utils.remove_weight_norm(normed(torch), "bias")


def pickled(torch: Any) -> Any:
    layer = normed(torch)
    with torch.no_grad():
        layer(torch.ones(1, 3))
    return shown(pickle.loads(pickle.dumps(layer)))


def copied_with_its_graph(torch: Any) -> Any:
    copy.deepcopy(normed(torch))


def copied_without_a_graph(torch: Any) -> Any:
    layer = normed(torch)
    with torch.no_grad():
        layer(torch.ones(1, 3))
    copied = copy.deepcopy(layer)
    with torch.no_grad():
        copied.weight_g.fill_(1.0)
        copied(torch.ones(1, 3))
    return shown(layer), shown(copied)


def loaded(torch: Any) -> Any:
    layer, other = normed(torch), torch.nn.utils.weight_norm(torch.nn.Linear(3, 2))
    outcome = str(other.load_state_dict(layer.state_dict()))
    other(torch.ones(1, 3))
    return outcome, shown(other)


def cast(torch: Any) -> Any:
    layer = normed(torch).double()
    return (
        [str(p.dtype) for p in layer.parameters()],
        str(layer.weight.dtype),
        layer(torch.ones(1, 3).double()).tolist(),
    )


def the_class(torch: Any) -> Any:
    from importlib import import_module

    kind = import_module(f"{torch.__name__}.nn.utils.weight_norm").WeightNorm
    made = kind("weight", None)
    layer = normed(torch)
    return (
        made.name,
        made.dim,
        made.compute_weight(layer).tolist(),
        type(next(iter(layer._forward_pre_hooks.values()))).__name__,
    )


def of_a_lazy_layer(torch: Any) -> Any:
    torch.nn.utils.weight_norm(torch.nn.LazyLinear(2))


PROGRAMS = [
    of_a_lazy_layer,
    by_rows, by_columns, as_a_whole, along_no_dimension, of_another_parameter, of_an_unknown_name, of_a_buffer,
    of_a_convolution, of_a_recurrent_layer, computed_before_each_call, trained, twice, of_two_parameters, removed,
    removed_from_what_has_none, removed_by_another_name, pickled, copied_with_its_graph, copied_without_a_graph, loaded,
    cast, the_class,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"), within=WITHIN)

"""Is a weight divided by its spectral norm before each call, saved and loaded as in PyTorch?"""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import Program, assert_same

WITHIN = 2e-5


def linear(torch: Any, rows: int = 2, columns: int = 3) -> Any:
    """A layer with the weights 1, 2 ... 6."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(columns, rows)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(1.0, 7.0).view(rows, columns))
        layer.bias.zero_()
    return layer


def normed(torch: Any, **options: Any) -> Any:
    return torch.nn.utils.spectral_norm(linear(torch), **options)


def shown(layer: Any) -> Any:
    return (
        [(name, p.tolist(), p.requires_grad) for name, p in layer.named_parameters()],
        [(name, b.tolist()) for name, b in layer.named_buffers()], layer.weight.tolist(), layer.weight.requires_grad,
        repr(layer), list(layer.state_dict()),
        [len(h) for h in (layer._forward_pre_hooks, layer._state_dict_hooks)],
    )  # fmt: skip


def registered(torch: Any) -> Any:
    return shown(normed(torch)), shown(normed(torch, dim=1)), shown(normed(torch, n_power_iterations=4, eps=0.5))


def called_in_training(torch: Any) -> Any:
    layer = normed(torch)
    return [layer(torch.ones(1, 3)).tolist() for _ in range(3)], shown(layer)


def called_in_evaluation(torch: Any) -> Any:
    layer = normed(torch).eval()
    return [layer(torch.ones(1, 3)).tolist() for _ in range(2)], shown(layer)


def trained(torch: Any) -> Any:
    layer = normed(torch)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.ones(1, 3)).square().sum().backward()
        optimizer.step()
    return shown(layer)


def two_calls_and_then_backward(torch: Any) -> Any:
    layer = normed(torch)
    (layer(torch.ones(1, 3)) - layer(torch.zeros(1, 3)) + layer(torch.ones(1, 3)) * 2).sum().backward()
    return layer.weight_orig.grad.tolist()


def of_convolutions(torch: Any) -> Any:
    found = []
    for dims in (1, 2, 3):
        for name in (f"Conv{dims}d", f"ConvTranspose{dims}d"):
            torch.manual_seed(0)
            layer = torch.nn.utils.spectral_norm(getattr(torch.nn, name)(2, 3, 2))
            out = layer(torch.ones(1, 2, *(3,) * dims))
            found.append((list(layer.weight_u.shape), list(layer.weight_v.shape), out.flatten().tolist()))
    return found


def twice(torch: Any) -> Any:
    torch.nn.utils.spectral_norm(normed(torch))


def of_two_parameters(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.RNN(2, 3)
    for name in ("weight_ih_l0", "weight_hh_l0"):
        torch.nn.utils.spectral_norm(layer, name)
    out = layer(torch.ones(2, 1, 2))[0]
    names = list(layer.state_dict())
    versions = layer.state_dict()._metadata[""]
    torch.nn.utils.remove_spectral_norm(layer, "weight_ih_l0")
    return out.flatten().tolist(), names, versions, list(layer.state_dict()), layer.state_dict()._metadata[""]


def of_an_unknown_name(torch: Any) -> Any:
    normed(torch, name="other")


def of_none(torch: Any) -> Any:
    torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2, bias=False), "bias")


def no_iterations(torch: Any) -> Any:
    normed(torch, n_power_iterations=0)


def removed(torch: Any) -> Any:
    layer = normed(torch)
    layer(torch.ones(1, 3))
    returned = torch.nn.utils.remove_spectral_norm(layer)
    return shown(layer), returned is layer, type(layer.weight).__name__, layer(torch.ones(1, 3)).tolist()


def removed_from_what_has_none(torch: Any) -> Any:
    torch.nn.utils.remove_spectral_norm(linear(torch))


def removed_by_another_name(torch: Any) -> Any:
    torch.nn.utils.remove_spectral_norm(normed(torch), "bias")


def pickled(torch: Any) -> Any:
    return shown(pickle.loads(pickle.dumps(normed(torch))))


def copied(torch: Any) -> Any:
    layer = normed(torch)
    other = copy.deepcopy(layer)
    other(torch.ones(1, 3))
    return shown(layer), layer.weight_u.tolist() == other.weight_u.tolist()


def saved_and_loaded(torch: Any) -> Any:
    layer, other = normed(torch), torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2))
    saved = layer.state_dict()
    outcome = str(other.load_state_dict(saved))
    other(torch.ones(1, 3))
    return outcome, shown(other), saved._metadata[""]


def loaded_without_versions(torch: Any) -> Any:
    layer = normed(torch)
    saved = dict(layer.state_dict())
    return str(torch.nn.utils.spectral_norm(linear(torch)).load_state_dict(saved))


def old(torch: Any, *without: str, v: bool = False) -> Any:
    """What was saved before version 1: the weight, and no v. Its columns are independent, so that v can be found."""
    layer = torch.nn.utils.spectral_norm(linear(torch, 3, 2))
    layer(torch.ones(1, 2))
    saved = OrderedDict(layer.state_dict())
    if not v:
        del saved["weight_v"]
    saved["weight"] = layer.weight.detach().clone()
    for name in without:
        del saved[name]
    return saved


def loaded_from_before_version_1(torch: Any) -> Any:
    found = []
    for v in (False, True):
        layer = torch.nn.utils.spectral_norm(linear(torch, 3, 2))
        outcome = str(layer.load_state_dict(old(torch, v=v)))
        found.append((outcome, layer.weight_v.tolist(), layer.eval()(torch.ones(1, 2)).tolist()))
    return found


def loaded_from_before_version_1_in_part(torch: Any) -> Any:
    torch.nn.utils.spectral_norm(linear(torch, 3, 2)).load_state_dict(old(torch, "weight", "weight_u"))


def loaded_from_before_version_1_in_part_and_not_strictly(torch: Any) -> Any:
    layer = torch.nn.utils.spectral_norm(linear(torch, 3, 2))
    return str(layer.load_state_dict(old(torch, "weight_orig"), strict=False))


def loaded_without_a_norm(torch: Any) -> Any:
    normed(torch).load_state_dict(linear(torch).state_dict())


def saved_twice_under_one_name(torch: Any) -> Any:
    module = import_module(f"{torch.__name__}.nn.utils.spectral_norm")
    layer = normed(torch)
    layer._register_state_dict_hook(module.SpectralNormStateDictHook(module.SpectralNorm()))
    layer.state_dict()


def cast(torch: Any) -> Any:
    layer = normed(torch).double()
    out = layer(torch.ones(1, 3).double())
    return str(out.dtype), [str(b.dtype) for b in layer.buffers()], out.tolist()


def the_class(torch: Any) -> Any:
    kind = import_module(f"{torch.__name__}.nn.utils.spectral_norm").SpectralNorm
    made = kind()
    return made.name, made.dim, made.n_power_iterations, made.eps, made._version, kind._version


def of_a_lazy_layer(torch: Any) -> Any:
    torch.nn.utils.spectral_norm(torch.nn.LazyLinear(2))


PROGRAMS = [
    of_a_lazy_layer,
    registered, called_in_training, called_in_evaluation, trained, two_calls_and_then_backward, of_convolutions, twice,
    of_two_parameters, of_an_unknown_name, of_none, no_iterations, removed, removed_from_what_has_none,
    removed_by_another_name, pickled, copied, saved_and_loaded, loaded_without_versions, loaded_from_before_version_1,
    loaded_from_before_version_1_in_part, loaded_from_before_version_1_in_part_and_not_strictly, loaded_without_a_norm,
    saved_twice_under_one_name, cast, the_class,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"), within=WITHIN)


def test_removing_leaves_no_hook() -> None:
    """PyTorch leaves that of load_state_dict, which then misses what is no longer there."""
    layer = glasstorch.nn.utils.remove_spectral_norm(normed(glasstorch))
    assert not any((layer._forward_pre_hooks, layer._state_dict_hooks, layer._load_state_dict_pre_hooks))
    assert str(layer.load_state_dict(linear(glasstorch).state_dict())) == "<All keys matched successfully>"

"""Are a module's values saved, loaded and refused as PyTorch does it?"""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same


def versioned(torch: Any) -> Any:
    """A network of two layers, of which the first has a buffer, extra state and a version of its own."""

    class Counting(torch.nn.Module):  # type: ignore[misc,name-defined]
        _version = 2

        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("count", torch.tensor(0))
            self.register_buffer("cache", torch.zeros(1), persistent=False)
            self.note = "new"

        def get_extra_state(self) -> Any:
            return {"note": self.note}

        def set_extra_state(self, state: Any) -> None:
            self.note = state["note"]

        def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
            if local_metadata.get("version", 1) < 2:
                state_dict.setdefault(prefix + "count", torch.tensor(-1))
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    return torch.nn.Sequential(Counting(), torch.nn.Linear(2, 1))


def plain(values: Any) -> Any:
    """A state dict with lists instead of tensors."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


def saved(torch: Any) -> Any:
    values = versioned(torch).state_dict(prefix="net.")
    names = list(values)
    return names, plain({"net.0.count": values["net.0.count"]}), dict(values._metadata), values["net.0._extra_state"]


def saved_into_a_dictionary(torch: Any) -> Any:
    values: Any = {}
    kept = versioned(torch).state_dict(destination=values, keep_vars=True)
    return kept is values, list(kept), kept["0.scale"].requires_grad, hasattr(kept, "_metadata")


def saved_with_arguments_by_position(torch: Any) -> Any:
    return list(versioned(torch).state_dict(OrderedDict(), "a.", False))


def loaded_from_an_older_version(torch: Any) -> Any:
    net = versioned(torch)
    values = net.state_dict()
    del values["0.count"]
    values._metadata["0"]["version"] = 1
    values["0._extra_state"] = {"note": "old"}
    return repr(net.load_state_dict(values)), net[0].count.item(), net[0].note


def loaded_without_metadata(torch: Any) -> Any:
    net = versioned(torch)
    return repr(net.load_state_dict(dict(net.state_dict()))), net[0].count.item()


def missing_and_unexpected_names(torch: Any) -> Any:
    versioned(torch).load_state_dict({"0.scale": torch.zeros(2), "0.other": 1, "1.weight.x": 2, "2.weight": 3})


def missing_and_unexpected_names_that_are_allowed(torch: Any) -> Any:
    net = versioned(torch)
    found = net.load_state_dict(
        {"0.scale": torch.zeros(2), "1.weight.x": 2, "0._extra_state": {"note": 1}}, strict=False
    )
    return found.missing_keys, found.unexpected_keys, repr(found), net[0].scale.tolist()


def unexpected_extra_state(torch: Any) -> Any:
    layer = torch.nn.Linear(1, 1)
    layer.load_state_dict({**layer.state_dict(), "_extra_state": 3})


def wrong_shapes_and_kinds(torch: Any) -> Any:
    torch.nn.Linear(2, 1).load_state_dict({"weight": torch.zeros(2, 2), "bias": [0.0]})


def values_that_cannot_be_copied(torch: Any) -> Any:
    layer = torch.nn.Linear(2, 1)
    layer.register_buffer("flags", torch.zeros(2).expand(2))
    layer.flags = torch.zeros(1).expand(2)
    layer.load_state_dict({**layer.state_dict(), "flags": torch.ones(2)})


def not_a_dictionary(torch: Any) -> Any:
    torch.nn.Linear(2, 1).load_state_dict([1])


def numbers_with_one_dimension(torch: Any) -> Any:
    holder = torch.nn.Module()
    holder.register_buffer("count", torch.tensor(0.0))
    holder.load_state_dict({"count": torch.ones(1)})
    return holder.count.shape == (), holder.count.item()


def copied_to_meta(torch: Any) -> Any:
    layer = torch.nn.Linear(1, 1, device="meta")
    layer.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1)})
    return layer.weight.is_meta


def assigned_to_meta(torch: Any) -> Any:
    layer = torch.nn.Linear(1, 1, device="meta")
    layer.weight.requires_grad_(False)
    bias = torch.nn.Parameter(torch.ones(1), requires_grad=False)
    layer.load_state_dict({"weight": torch.ones(1, 1), "bias": bias}, assign=True)
    return layer.weight.is_meta, layer.weight.requires_grad, layer.bias is bias, bias.requires_grad


def unpickled_from_before_there_were_hooks(torch: Any) -> Any:
    layer = torch.nn.Linear(1, 1)
    kept = ("_backward_hooks", "_forward_hooks", "_forward_pre_hooks")
    before = {k: v for k, v in layer.__dict__.items() if "hooks" not in k or k in kept}
    made = torch.nn.Linear.__new__(torch.nn.Linear)
    made.__setstate__(before)
    return made(torch.ones(1)).shape == (1,)


def moved(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    net.register_buffer("count", torch.tensor(3))
    weight = net[0].weight
    net(torch.ones(1, 2)).sum().backward()
    net.to(torch.float64)
    same = weight is net[0].weight
    kinds = [str(t.dtype) for t in (weight, weight.grad, net.count)]
    net.to("cpu", torch.float16, True).to(torch.ones(1, dtype=torch.bfloat16))
    kinds.append(str(weight.dtype))
    kinds.append(str(net.type("torch.DoubleTensor").count.dtype))
    kinds.append(str(net.to_empty(device="meta").count.device))
    return same, kinds, weight is net[0].weight


def moved_to_another_memory_format(torch: Any) -> Any:
    holder = torch.nn.Module()
    holder.image = torch.nn.Parameter(torch.ones(1, 2, 3, 4))
    holder.vector = torch.nn.Parameter(torch.ones(3))
    holder.to(memory_format=torch.channels_last)
    return holder.image.stride(), holder.vector.stride()


def moved_out_of_meta(torch: Any) -> Any:
    torch.nn.Linear(1, 1, device="meta").to("cpu")


def moved_to_integers(torch: Any) -> Any:
    torch.nn.Linear(1, 1).to(torch.int64)


def applied_to_itself_only(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Linear(1, 1))
    net.register_buffer("count", torch.tensor(3.0))
    net._apply(lambda t: t.double(), recurse=False)
    return str(net.count.dtype), str(net[0].weight.dtype)


def submodules_that_are_set(torch: Any) -> Any:
    net = versioned(torch)
    net.set_submodule("1", torch.nn.Tanh())
    net.set_submodule("0.new", torch.nn.Tanh())
    return repr(net)


def a_submodule_that_is_missing(torch: Any) -> Any:
    versioned(torch).set_submodule("0.new", torch.nn.Tanh(), strict=True)


def a_submodule_in_the_place_of_a_parameter(torch: Any) -> Any:
    versioned(torch).set_submodule("0.scale", torch.nn.Tanh())


def a_submodule_without_a_name(torch: Any) -> Any:
    versioned(torch).set_submodule("", torch.nn.Tanh())


def arguments_of_the_base_class(torch: Any) -> Any:
    torch.nn.Module(1, 2)


def keywords_of_the_base_class(torch: Any) -> Any:
    torch.nn.Module(size=1)


def a_multiple_inheritance(torch: Any) -> Any:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    class Layer(torch.nn.Module, Named):  # type: ignore[misc,name-defined]
        call_super_init = True

    return Layer("a").name


def buffers_by_assignment(torch: Any) -> Any:
    holder = torch.nn.Module()
    holder.a = torch.nn.Buffer(torch.ones(1))
    holder.b = torch.nn.Buffer(torch.ones(1), persistent=False)
    holder.a = torch.zeros(1)
    return [n for n, _ in holder.named_buffers()], list(holder.state_dict()), isinstance(holder.b, torch.nn.Buffer)


PROGRAMS = [
    saved, saved_into_a_dictionary, saved_with_arguments_by_position, loaded_from_an_older_version,
    loaded_without_metadata, missing_and_unexpected_names, missing_and_unexpected_names_that_are_allowed,
    unexpected_extra_state, wrong_shapes_and_kinds, not_a_dictionary, numbers_with_one_dimension, copied_to_meta,
    assigned_to_meta, unpickled_from_before_there_were_hooks, moved, moved_to_another_memory_format, moved_out_of_meta,
    moved_to_integers, applied_to_itself_only, submodules_that_are_set, a_submodule_that_is_missing,
    a_submodule_in_the_place_of_a_parameter, a_submodule_without_a_name, arguments_of_the_base_class,
    keywords_of_the_base_class, a_multiple_inheritance, buffers_by_assignment,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Callable[[Any], Any], require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))


def test_what_an_operator_refuses_is_reported_with_the_rest(require: Callable[[str], Any]) -> None:
    assert_same(values_that_cannot_be_copied, require("torch"), words=False)


def test_after_an_error_the_module_is_as_it_was() -> None:
    torch = glasstorch
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    before = copy.deepcopy(net.state_dict())
    parameters = list(net.parameters())
    wrong = {**{name: torch.zeros_like(value) for name, value in before.items()}, "1.bias": torch.zeros(3)}
    for assign in (False, True):
        with pytest.raises(RuntimeError, match=r"size mismatch for 1\.bias"):
            net.load_state_dict(wrong, assign=assign)
        assert all(now is then for now, then in zip(net.parameters(), parameters, strict=True))
        assert plain(net.state_dict()) == plain(before)


def test_a_module_of_inference_tensors_is_loaded_inside_the_mode_alone(torch: Any) -> None:
    values = torch.nn.Linear(2, 2).state_dict()
    with torch.inference_mode():
        net = torch.nn.Linear(2, 2)
        net.load_state_dict(values)
    assert plain(net.state_dict()) == plain(values)
    with pytest.raises(RuntimeError, match=r'While copying the parameter named "weight".*\n?.*outside InferenceMode'):
        net.load_state_dict(values)
    net.load_state_dict({name: value + 1 for name, value in values.items()}, assign=True)
    assert plain(net.state_dict()) == plain({name: value + 1 for name, value in values.items()})


def test_an_error_in_inference_mode_leaves_the_module_as_it_was() -> None:
    torch = glasstorch
    with torch.inference_mode():
        net = torch.nn.Linear(2, 2)
        before = plain(copy.deepcopy(net.state_dict()))
        with pytest.raises(RuntimeError, match="size mismatch for bias"):
            net.load_state_dict({"weight": torch.zeros(2, 2), "bias": torch.zeros(3)})
    assert plain(net.state_dict()) == before


def test_a_hook_with_its_module_is_pickled_with_it() -> None:
    layer = glasstorch.nn.Linear(1, 1)
    layer.register_load_state_dict_pre_hook(print)
    other = pickle.loads(pickle.dumps(layer))
    (hook,) = other._load_state_dict_pre_hooks.values()
    assert hook.module() is other

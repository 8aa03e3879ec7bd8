"""Are tensors computed from others where PyTorch computes them, and are the same parametrizations refused?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same
from tests.nn.utils.parametrized import held, kinds, linear, parametrize, with_

Program = Callable[[Any], Any]


# Registering ----------------------------------------------------------------------------------------------------------


def registered_on_a_weight(torch: Any) -> Any:
    layer = with_(torch, "Symmetric")
    return repr(layer), type(layer).__name__, layer.weight.tolist(), held(layer), layer(torch.ones(1, 3)).tolist()


def names_of_tensors(torch: Any) -> Any:
    layer = with_(torch, "Symmetric", "Shifted")
    return (
        [name for name, _ in layer.named_parameters()],
        [name for name, _ in layer.named_modules()],
        list(layer._parameters),
        list(layer.state_dict()),
        "weight" in dir(layer),
        layer.get_parameter("parametrizations.weight.original") is layer.parametrizations.weight.original,
    )


def the_module_is_returned(torch: Any) -> Any:
    layer = linear(torch)
    returned = parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Doubled())
    return returned is layer


def the_original_is_the_same_object(torch: Any) -> Any:
    layer = linear(torch)
    weight = layer.weight
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Symmetric())
    return layer.parametrizations.weight.original is weight, weight.tolist(), type(weight).__name__


def chained(torch: Any) -> Any:
    layer = with_(torch, "Symmetric", "Doubled", "Shifted")
    return repr(layer), layer.weight.tolist(), held(layer)


def chained_in_one_list(torch: Any) -> Any:
    layer, p = linear(torch), kinds(torch)
    listed = parametrize(torch).ParametrizationList([p.Symmetric(), p.Doubled()], layer.weight)
    return listed().tolist(), listed.original.tolist(), len(listed), repr(listed), layer.weight.tolist()


def several_tensors_of_a_module(torch: Any) -> Any:
    layer, p = with_(torch, "Symmetric"), kinds(torch)
    kind = type(layer)
    parametrize(torch).register_parametrization(layer, "bias", p.Shifted())
    return repr(layer), layer.bias.tolist(), held(layer, "bias"), type(layer) is kind, list(layer.state_dict())


def on_a_buffer(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("scale", torch.arange(4.0))
    parametrize(torch).register_parametrization(module, "scale", kinds(torch).Doubled())
    return held(module, "scale"), module.scale.tolist(), list(module.state_dict()), next(module.buffers()).tolist()


def on_a_buffer_that_is_trained(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("scale", torch.arange(4.0, requires_grad=True))
    parametrize(torch).register_parametrization(module, "scale", kinds(torch).Doubled())
    module.scale.sum().backward()
    return held(module, "scale"), module.parametrizations.scale.original.grad.tolist()


def on_a_buffer_that_is_not_saved(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("scale", torch.arange(4.0), persistent=False)
    parametrize(torch).register_parametrization(module, "scale", kinds(torch).Doubled())
    first = list(module.state_dict())
    parametrize(torch).remove_parametrizations(module, "scale")
    return first, list(module.state_dict()), module._non_persistent_buffers_set


def several_originals(torch: Any) -> Any:
    layer = with_(torch, "RankOne")
    return (
        layer.weight.tolist(),
        held(layer),
        list(layer.state_dict()),
        hasattr(layer.parametrizations.weight, "original"),
    )


def several_originals_of_a_buffer(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("scale", torch.ones(3, 3))
    parametrize(torch).register_parametrization(module, "scale", kinds(torch).RankOne())
    return held(module, "scale"), module.scale.tolist()


def several_originals_of_a_frozen_parameter(torch: Any) -> Any:
    layer = linear(torch)
    layer.weight.requires_grad_(False)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).RankOne())
    return held(layer), layer.weight.requires_grad


def one_original_in_a_sequence(torch: Any) -> Any:
    layer = linear(torch)
    one = kinds(torch).Of(lambda x: x * 2, lambda a: [a / 2])
    parametrize(torch).register_parametrization(layer, "weight", one)
    return held(layer), layer.weight.tolist()


def chained_after_several_originals(torch: Any) -> Any:
    layer = with_(torch, "RankOne", "Doubled")
    first = layer.weight.tolist()
    layer.weight = torch.ones(3, 3)
    return first, layer.weight.tolist(), held(layer)


def frozen_originals(torch: Any) -> Any:
    layer = linear(torch)
    layer.weight.requires_grad_(False)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Doubled())
    return held(layer), layer.weight.requires_grad


def without_an_inverse(torch: Any) -> Any:
    layer = with_(torch, "NotInvertible", "Shifted")
    return held(layer), layer.weight.tolist()


def in_training_as_the_module(torch: Any) -> Any:
    layer = linear(torch).eval()
    p = kinds(torch).InTraining()
    parametrize(torch).register_parametrization(layer, "weight", p)
    first = p.training, layer.weight.tolist(), layer.parametrizations.training, layer.parametrizations.weight.training
    layer.train()
    return first, p.training, layer.weight.tolist(), layer.parametrizations.training


def calls_while_registering(torch: Any) -> Any:
    found = []
    for unsafe in (False, True):
        layer, first, second = linear(torch), kinds(torch).Counted(), kinds(torch).Counted()
        parametrize(torch).register_parametrization(layer, "weight", first, unsafe=unsafe)
        found.append(first.calls)
        parametrize(torch).register_parametrization(layer, "weight", second, unsafe=unsafe)
        found.append((first.calls, second.calls))
    return found


def a_parametrization_of_a_parametrization(torch: Any) -> Any:
    layer, p = linear(torch), kinds(torch)
    shifted = p.Shifted()
    parametrize(torch).register_parametrization(shifted, "shift", p.Doubled())
    parametrize(torch).register_parametrization(layer, "weight", shifted)
    layer.weight.sum().backward()
    return repr(layer), layer.weight.tolist(), shifted.parametrizations.shift.original.grad.tolist()


def a_module_as_its_own_parametrization_of_others(torch: Any) -> Any:
    """One parametrization for two tensors."""
    layer, p = linear(torch), kinds(torch)
    shared = p.Shifted()
    parametrize(torch).register_parametrization(layer, "weight", shared)
    parametrize(torch).register_parametrization(layer, "bias", shared)
    (layer.weight.sum() + layer.bias.sum()).backward()
    return [name for name, _ in layer.named_parameters()], shared.shift.grad.tolist()


def on_a_class_with_slots(torch: Any) -> Any:
    class Own(torch.nn.Module):
        __slots__ = ("extra",)
        table = 3

        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))
            self.extra = [1]

        def forward(self, x: Any) -> Any:
            return x * self.weight * self.table

    own = Own()
    parametrize(torch).register_parametrization(own, "weight", kinds(torch).Doubled())
    copied = copy.deepcopy(own)
    return (
        own(torch.ones(2)).tolist(),
        copied.extra,
        copied.extra is own.extra,
        isinstance(own, Own),
        type(own).__name__,
    )


def a_class_attribute_of_the_same_name(torch: Any) -> Any:
    class Own(torch.nn.Module):
        weight = torch.ones(2)

        def __init__(self) -> None:
            super().__init__()
            self._parameters["weight"] = torch.nn.Parameter(torch.ones(2))

    parametrize(torch).register_parametrization(Own(), "weight", kinds(torch).Doubled())


def a_list_without_modules(torch: Any) -> Any:
    parametrize(torch).ParametrizationList([], torch.ones(2))


def slices_of_a_list(torch: Any) -> Any:
    return with_(torch, "Doubled", "Symmetric").parametrizations.weight[:1]


def items_of_a_list(torch: Any) -> Any:
    listed = with_(torch, "Doubled", "Symmetric").parametrizations.weight
    return [type(module).__name__ for module in listed], type(listed[-1]).__name__, len(listed)


def other_children_of_a_list(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    layer.parametrizations.weight.add_module("other", torch.nn.Linear(1, 1))
    return layer.weight.tolist()


# Refusals -------------------------------------------------------------------------------------------------------------


def register(torch: Any, forward: Any, right_inverse: Any = None, name: str = "weight", **options: Any) -> Any:
    layer = options.pop("layer", None) or linear(torch)
    try:
        parametrize(torch).register_parametrization(layer, name, kinds(torch).Of(forward, right_inverse), **options)
    except Exception as error:  # noqa: BLE001 (the error is what is compared)
        return type(error).__name__, str(error), repr(layer), [n for n, _ in layer.named_parameters()]
    return repr(layer), layer.weight, held(layer)


def no_such_name(torch: Any) -> Any:
    return register(torch, lambda x: x, name="weights")


def a_name_without_a_tensor(torch: Any) -> Any:
    parametrize(torch).register_parametrization(torch.nn.Linear(2, 2, bias=False), "bias", kinds(torch).Doubled())


def a_parametrization_that_is_no_module(torch: Any) -> Any:
    parametrize(torch).register_parametrization(linear(torch), "weight", lambda x: x)


def another_dtype(torch: Any) -> Any:
    return register(torch, lambda x: x.double())


def another_shape(torch: Any) -> Any:
    return register(torch, lambda x: x[:2])


def not_a_tensor(torch: Any) -> Any:
    return register(torch, lambda x: [x])


def an_inverse_of_another_dtype(torch: Any) -> Any:
    return register(torch, lambda x: x.float(), lambda a: a.double())


def an_inverse_of_another_dtype_although_unsafe(torch: Any) -> Any:
    return register(torch, lambda x: x.float(), lambda a: a.double(), unsafe=True)


def an_inverse_on_another_device(torch: Any) -> Any:
    return register(torch, lambda x: x, lambda a: a.to("meta"))


def an_inverse_that_is_no_tensor(torch: Any) -> Any:
    return register(torch, lambda x: x, lambda a: 3)


def an_inverse_with_something_else_in_its_sequence(torch: Any) -> Any:
    return register(torch, lambda x, y: x, lambda a: (a, 3))


def an_inverse_that_is_text(torch: Any) -> Any:
    return register(torch, lambda x: x, lambda a: "text")


def an_inverse_that_fails(torch: Any) -> Any:
    def right_inverse(a: Any) -> Any:
        raise ValueError("not today")

    return register(torch, lambda x: x, right_inverse)


def a_forward_that_fails(torch: Any) -> Any:
    def forward(a: Any) -> Any:
        raise ValueError("not today")

    return register(torch, forward)


def an_inverse_of_another_shape(torch: Any) -> Any:
    layer = linear(torch)
    parametrize(torch).register_parametrization(
        layer, "weight", kinds(torch).Of(lambda x: x.reshape(3, 3), lambda a: a.reshape(9))
    )
    return layer.weight.tolist(), held(layer)


def a_further_one(torch: Any, *functions: Any, **options: Any) -> Any:
    return register(torch, *functions, layer=with_(torch, "Doubled"), **options)


def a_further_one_of_another_dtype(torch: Any) -> Any:
    return a_further_one(torch, lambda x: x.double())


def a_further_one_of_another_shape(torch: Any) -> Any:
    return a_further_one(torch, lambda x: x[:2])


def a_further_one_that_is_no_tensor(torch: Any) -> Any:
    return a_further_one(torch, lambda x: 3)


def a_further_inverse_of_another_dtype(torch: Any) -> Any:
    return a_further_one(torch, lambda x: x, lambda a: a.double())


def a_further_inverse_of_another_shape(torch: Any) -> Any:
    return a_further_one(torch, lambda x: x, lambda a: a[:2])


def a_further_inverse_that_is_no_tensor(torch: Any) -> Any:
    return a_further_one(torch, lambda x: x, lambda a: (a, a))


def a_further_inverse_that_is_not_implemented(torch: Any) -> Any:
    layer = with_(torch, "Doubled", "NotInvertible")
    return layer.weight.tolist(), held(layer)


def unsafe_changes_of_shape_and_dtype(torch: Any) -> Any:
    layer, of = linear(torch), kinds(torch).Of
    add = parametrize(torch).register_parametrization
    add(layer, "weight", of(lambda x: x[:2].double()), unsafe=True)
    first = layer.weight.tolist(), str(layer.weight.dtype), held(layer)
    add(layer, "weight", of(lambda x: x.sum(0)))
    return first, layer.weight.tolist() if layer.weight is not None else None


def unsafe_stays(torch: Any) -> Any:
    layer = with_(torch, "Doubled", unsafe=True)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Symmetric())
    other = with_(torch, "Doubled")
    parametrize(torch).register_parametrization(other, "weight", kinds(torch).Symmetric(), unsafe=True)
    return layer.parametrizations.weight.unsafe, other.parametrizations.weight.unsafe


# Asking and removing --------------------------------------------------------------------------------------------------


def asked(torch: Any) -> Any:
    layer, is_parametrized = linear(torch), parametrize(torch).is_parametrized
    first = is_parametrized(layer), is_parametrized(layer, "weight"), is_parametrized(layer, "other")
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Doubled())
    return first, is_parametrized(layer), is_parametrized(layer, "weight"), is_parametrized(layer, "bias")


def asked_of_an_attribute_of_that_name(torch: Any) -> Any:
    module = torch.nn.Module()
    module.parametrizations = [1]
    return parametrize(torch).is_parametrized(module), parametrize(torch).type_before_parametrizations(module).__name__


def asked_of_a_container(torch: Any) -> Any:
    return parametrize(torch).is_parametrized(torch.nn.Sequential(with_(torch, "Doubled")))


def types_before(torch: Any) -> Any:
    before = parametrize(torch).type_before_parametrizations
    one, chain = linear(torch), with_(torch, "Doubled", "Symmetric")
    parametrize(torch).register_parametrization(chain, "bias", kinds(torch).Doubled())
    return [before(module) is torch.nn.Linear for module in (one, chain)], type(chain).__mro__[1] is torch.nn.Linear


def removed(torch: Any, *names: str, leave: bool = True) -> Any:
    layer = linear(torch)
    weight = layer.weight
    for name in names:
        parametrize(torch).register_parametrization(layer, "weight", getattr(kinds(torch), name)())
    returned = parametrize(torch).remove_parametrizations(layer, "weight", leave_parametrized=leave)
    return (
        repr(layer), type(layer) is torch.nn.Linear, layer.weight is weight, layer.weight.tolist(), returned is layer,
        layer.weight.requires_grad, layer.weight.is_leaf, list(layer._parameters), hasattr(layer, "parametrizations"),
        type(layer.weight).__name__,
    )  # fmt: skip


def removed_and_left_as_computed(torch: Any) -> Any:
    return removed(torch, "Symmetric", "Doubled")


def removed_and_left_as_the_original(torch: Any) -> Any:
    return removed(torch, "Symmetric", "Doubled", leave=False)


def removed_of_several_originals(torch: Any) -> Any:
    return removed(torch, "RankOne")


def removed_of_several_originals_to_the_original(torch: Any) -> Any:
    removed(torch, "RankOne", leave=False)


def removed_of_frozen_originals(torch: Any) -> Any:
    layer = linear(torch).requires_grad_(False)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).RankOne())
    parametrize(torch).remove_parametrizations(layer, "weight")
    return list(layer._parameters), list(layer._buffers), layer.weight.tolist()


def removed_of_a_buffer(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("scale", torch.arange(4.0))
    parametrize(torch).register_parametrization(module, "scale", kinds(torch).Doubled())
    parametrize(torch).remove_parametrizations(module, "scale")
    return list(module._buffers), module.scale.tolist(), list(module._parameters)


def removed_one_of_two(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    parametrize(torch).register_parametrization(layer, "bias", kinds(torch).Doubled())
    parametrize(torch).remove_parametrizations(layer, "weight")
    first = repr(layer), type(layer).__name__, list(layer._parameters)
    parametrize(torch).remove_parametrizations(layer, "bias")
    return first, repr(layer), list(layer._parameters)


def removed_from_what_has_none(torch: Any) -> Any:
    parametrize(torch).remove_parametrizations(linear(torch), "weight")


def removed_by_another_name(torch: Any) -> Any:
    parametrize(torch).remove_parametrizations(with_(torch, "Doubled"), "bias")


def removed_where_the_dtype_changed(torch: Any) -> Any:
    layer = linear(torch)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Of(lambda x: x[:2]), unsafe=True)
    parametrize(torch).remove_parametrizations(layer, "weight")
    return layer.weight.tolist(), layer.weight.shape


def removed_and_registered_again(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    parametrize(torch).remove_parametrizations(layer, "weight")
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Symmetric())
    return layer.weight.tolist(), repr(layer), list(layer.state_dict())


def removed_from_a_subclass_that_was_made_here(torch: Any) -> Any:
    class Own(torch.nn.Linear):
        pass

    own = Own(2, 2)
    parametrize(torch).register_parametrization(own, "weight", kinds(torch).Doubled())
    first = type(own).__name__
    parametrize(torch).remove_parametrizations(own, "weight")
    return first, type(own) is Own


# Transferring ---------------------------------------------------------------------------------------------------------


def transferred(torch: Any) -> Any:
    one, other = with_(torch, "Symmetric", "Doubled"), linear(torch)
    returned = parametrize(torch).transfer_parametrizations_and_params(one, other)
    listed, given = one.parametrizations.weight, other.parametrizations.weight
    return (
        returned is other,
        repr(other),
        other.weight.tolist(),
        given.original is listed.original,
        given[0] is listed[0],
    )


def transferred_by_name(torch: Any) -> Any:
    one, other = with_(torch, "Doubled"), linear(torch)
    parametrize(torch).register_parametrization(one, "bias", kinds(torch).Shifted())
    parametrize(torch).transfer_parametrizations_and_params(one, other, "bias")
    return repr(other), other.bias.tolist(), [name for name, _ in other.named_parameters()]


def transferred_several_originals(torch: Any) -> Any:
    one, other = with_(torch, "RankOne"), linear(torch)
    parametrize(torch).transfer_parametrizations_and_params(one, other)
    given = other.parametrizations.weight
    return other.weight.tolist(), given.original0 is one.parametrizations.weight.original0


def transferred_to_what_lacks_the_name(torch: Any) -> Any:
    one, other = with_(torch, "Symmetric"), torch.nn.Module()
    parametrize(torch).transfer_parametrizations_and_params(one, other)
    return repr(other), other.weight.tolist(), [name for name, _ in other.named_parameters()]


def transferred_to_a_parametrized_module(torch: Any) -> Any:
    one, other = with_(torch, "Symmetric"), with_(torch, "Doubled")
    parametrize(torch).transfer_parametrizations_and_params(one, other)
    return repr(other), other.weight.tolist()


def transferred_from_what_has_none(torch: Any) -> Any:
    other = linear(torch)
    parametrize(torch).transfer_parametrizations_and_params(linear(torch), other)
    return repr(other)


def transferred_by_an_unknown_name(torch: Any) -> Any:
    parametrize(torch).transfer_parametrizations_and_params(with_(torch, "Doubled"), linear(torch), "bias")


PROGRAMS = [
    registered_on_a_weight, names_of_tensors, the_module_is_returned, the_original_is_the_same_object, chained,
    chained_in_one_list, several_tensors_of_a_module, on_a_buffer, on_a_buffer_that_is_trained,
    on_a_buffer_that_is_not_saved, several_originals, several_originals_of_a_buffer,
    several_originals_of_a_frozen_parameter, one_original_in_a_sequence, chained_after_several_originals,
    frozen_originals, without_an_inverse, in_training_as_the_module, calls_while_registering,
    a_parametrization_of_a_parametrization, a_module_as_its_own_parametrization_of_others, on_a_class_with_slots,
    a_class_attribute_of_the_same_name, a_list_without_modules, slices_of_a_list, items_of_a_list,
    other_children_of_a_list, no_such_name, a_name_without_a_tensor, a_parametrization_that_is_no_module,
    another_dtype, another_shape, not_a_tensor, an_inverse_of_another_dtype,
    an_inverse_of_another_dtype_although_unsafe, an_inverse_on_another_device, an_inverse_that_is_no_tensor,
    an_inverse_with_something_else_in_its_sequence, an_inverse_that_is_text, an_inverse_that_fails,
    a_forward_that_fails, an_inverse_of_another_shape, a_further_one_of_another_dtype, a_further_one_of_another_shape,
    a_further_one_that_is_no_tensor, a_further_inverse_of_another_dtype, a_further_inverse_of_another_shape,
    a_further_inverse_that_is_no_tensor, a_further_inverse_that_is_not_implemented, unsafe_changes_of_shape_and_dtype,
    unsafe_stays, asked, asked_of_an_attribute_of_that_name, asked_of_a_container, types_before,
    removed_and_left_as_computed, removed_and_left_as_the_original, removed_of_several_originals,
    removed_of_several_originals_to_the_original, removed_of_frozen_originals, removed_of_a_buffer,
    removed_one_of_two, removed_from_what_has_none, removed_by_another_name, removed_where_the_dtype_changed,
    removed_and_registered_again, removed_from_a_subclass_that_was_made_here, transferred, transferred_by_name,
    transferred_several_originals, transferred_to_what_lacks_the_name, transferred_to_a_parametrized_module,
    transferred_from_what_has_none, transferred_by_an_unknown_name,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))

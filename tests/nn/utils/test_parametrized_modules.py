"""Are modules with parametrizations trained, saved, copied and called as in PyTorch?"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same
from tests.nn.utils.parametrized import held, kinds, linear, parametrize, with_

Program = Callable[[Any], Any]


# Assigning ------------------------------------------------------------------------------------------------------------


def assigned(torch: Any) -> Any:
    layer = with_(torch, "Symmetric")
    original = layer.parametrizations.weight.original
    layer.weight = torch.full((3, 3), 5.0)
    return layer.weight.tolist(), held(layer), layer.parametrizations.weight.original is original


def assigned_through_a_chain(torch: Any) -> Any:
    layer = with_(torch, "Doubled", "Doubled")
    layer.weight = torch.full((3, 3), 8.0)
    return layer.weight.tolist(), held(layer)


def assigned_a_parameter(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    layer.weight = torch.nn.Parameter(torch.full((3, 3), 8.0))
    return layer.weight, held(layer)


def assigned_several(torch: Any) -> Any:
    layer = with_(torch, "RankOne")
    layer.weight = torch.ones(3, 3)
    return layer.weight.tolist(), held(layer)


def assigned_another_shape(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    layer.weight = torch.ones(2, 3)
    return layer.weight.tolist(), held(layer)


def assigned_without_an_inverse(torch: Any) -> Any:
    with_(torch, "Shifted").weight = torch.ones(3, 3)


def assigned_with_one_inverse_missing(torch: Any) -> Any:
    with_(torch, "Shifted", "Doubled").weight = torch.ones(3, 3)


def assigned_where_the_inverse_is_not_implemented(torch: Any) -> Any:
    with_(torch, "NotInvertible").weight = torch.ones(3, 3)


def assigned_another_dtype(torch: Any) -> Any:
    with_(torch, "Doubled").weight = torch.ones(3, 3, dtype=torch.float64)


def then_inverted_to(torch: Any, first: Any, second: Any) -> Any:
    """A parametrization whose inverse is at first this, and then that."""
    layer, of = linear(torch), kinds(torch).Of
    p = of(lambda *x: x[0].float(), lambda a: first(a))
    parametrize(torch).register_parametrization(layer, "weight", p)
    p.right_inverse = second
    layer.weight = torch.ones(3, 3)
    return held(layer)


def an_inverse_that_changes_to_no_tensor(torch: Any) -> Any:
    return then_inverted_to(torch, lambda a: a, lambda a: 3)


def an_inverse_that_changes_to_one_tensor(torch: Any) -> Any:
    return then_inverted_to(torch, lambda a: (a, a), lambda a: 3)


def an_inverse_that_changes_its_length(torch: Any) -> Any:
    return then_inverted_to(torch, lambda a: (a, a), lambda a: (a, a, a))


def an_inverse_that_changes_its_dtype(torch: Any) -> Any:
    return then_inverted_to(torch, lambda a: a, lambda a: a.double())


def an_inverse_that_changes_the_dtype_of_one(torch: Any) -> Any:
    return then_inverted_to(torch, lambda a: (a, a), lambda a: (a, a.double()))


def an_inverse_that_changes_one_to_a_number(torch: Any) -> Any:
    return then_inverted_to(torch, lambda a: (a, a), lambda a: (a, 2))


def deleted(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    del layer.weight


def changed_in_place(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    with torch.no_grad():
        layer.weight.zero_()
        first = layer.weight.tolist()
        layer.parametrizations.weight.original.zero_()
    return first, layer.weight.tolist()


def initialised(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    torch.nn.init.constant_(layer.weight, 7.0)
    torch.nn.init.constant_(layer.parametrizations.weight.original, 5.0)
    return layer.weight.tolist()


# Training, saving, copying --------------------------------------------------------------------------------------------


def trained(torch: Any, names: tuple[str, ...], steps: int = 3) -> Any:
    layer = linear(torch)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.125)
    for name in names:
        parametrize(torch).register_parametrization(layer, "weight", getattr(kinds(torch), name)())
    known = {id(p) for group in optimizer.param_groups for p in group["params"]}
    new = [p for p in layer.parameters() if id(p) not in known]
    if new:
        optimizer.add_param_group({"params": new})
    for _ in range(steps):
        optimizer.zero_grad()
        (layer(torch.tensor([[1.0, 2.0, 3.0]])) - 1).abs().sum().backward()
        optimizer.step()
    return len(new), layer.weight.tolist(), held(layer)


def trained_with_an_older_optimizer(torch: Any) -> Any:
    return trained(torch, ("Symmetric", "Doubled"))


def trained_with_new_parameters(torch: Any) -> Any:
    return trained(torch, ("RankOne", "Shifted"))


def trained_after_it_was_removed(torch: Any) -> Any:
    layer = linear(torch)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Symmetric())
    layer.weight.sum().backward()
    optimizer.step()
    parametrize(torch).remove_parametrizations(layer, "weight")
    optimizer.zero_grad()
    layer.weight.sum().backward()
    optimizer.step()
    return layer.weight.tolist(), layer.weight is optimizer.param_groups[0]["params"][0]


def gradients_twice(torch: Any) -> Any:
    layer = with_(torch, "Symmetric")
    (gradient,) = torch.autograd.grad(
        (layer.weight**3).sum(), layer.parametrizations.weight.original, create_graph=True
    )
    gradient.sum().backward()
    return gradient.tolist(), layer.parametrizations.weight.original.grad.tolist()


def saved_and_loaded(torch: Any) -> Any:
    layer, other = with_(torch, "Symmetric"), with_(torch, "Symmetric")
    layer.weight = torch.zeros(3, 3)
    outcome = other.load_state_dict(layer.state_dict())
    return str(outcome), other.weight.tolist(), held(other)


def loaded_with_assign(torch: Any) -> Any:
    layer, other = with_(torch, "RankOne"), with_(torch, "RankOne")
    layer.weight = torch.ones(3, 3)
    other.load_state_dict(layer.state_dict(), assign=True)
    return other.weight.tolist(), held(other)


def loaded_without_a_parametrization(torch: Any) -> Any:
    with_(torch, "Doubled").load_state_dict(linear(torch).state_dict())


def loaded_into_a_module_without_one(torch: Any) -> Any:
    linear(torch).load_state_dict(with_(torch, "RankOne").state_dict())


def loaded_in_part(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    outcome = layer.load_state_dict({"parametrizations.weight.original": torch.ones(3, 3)}, strict=False)
    return outcome.missing_keys, outcome.unexpected_keys, layer.weight.tolist()


def saved_through_a_file(torch: Any) -> Any:
    written = io.BytesIO()
    pickle.dump({k: v.tolist() for k, v in with_(torch, "RankOne").state_dict().items()}, written)
    return pickle.loads(written.getvalue())


def pickled(torch: Any) -> Any:
    pickle.dumps(with_(torch, "Doubled"))


def copied_flatly(torch: Any) -> Any:
    copy.copy(with_(torch, "Doubled"))


def pickled_after_it_was_removed(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    parametrize(torch).remove_parametrizations(layer, "weight")
    return pickle.loads(pickle.dumps(layer)).weight.tolist(), copy.copy(layer).weight is layer.weight


def copied_deeply(torch: Any) -> Any:
    layer = with_(torch, "Symmetric", "Shifted")
    copied = copy.deepcopy(layer)
    copied.parametrizations.weight.original.data.zero_()
    copied.parametrizations.weight[1].shift.data.zero_()
    return layer.weight.tolist(), copied.weight.tolist(), repr(copied), type(copied) is type(layer)


def copied_deeply_within_another(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    net = torch.nn.Sequential(layer, layer)
    copied = copy.deepcopy(net)
    return copied[0] is copied[1], copied[0] is not layer, copied[0].weight.tolist()


def copied_deeply_by_its_class(torch: Any) -> Any:
    class Own(torch.nn.Linear):
        def __deepcopy__(self, memo: Any) -> str:
            return "copied"

    own = Own(2, 2)
    parametrize(torch).register_parametrization(own, "weight", kinds(torch).Doubled())
    return copy.deepcopy(own)


def a_copy_is_trained_alone(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    copied = copy.deepcopy(layer)
    copied.weight.sum().backward()
    return layer.parametrizations.weight.original.grad, copied.parametrizations.weight.original.grad.tolist()


def a_copy_is_assigned_alone(torch: Any) -> Any:
    layer = with_(torch, "Symmetric")
    copied = copy.deepcopy(layer)
    copied.weight = torch.zeros(3, 3)
    return layer.weight.tolist(), copied.weight.tolist()


def cast(torch: Any) -> Any:
    layer = with_(torch, "RankOne", "Shifted").double()
    return str(layer.weight.dtype), [str(p.dtype) for p in layer.parameters()], str(layer.half().weight.dtype)


def moved_to_meta(torch: Any) -> Any:
    layer = with_(torch, "Doubled").to("meta")
    return layer.weight.is_meta, layer.parametrizations.weight.original.is_meta, layer.weight.shape


def zeroed_gradients(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    layer.weight.sum().backward()
    layer.zero_grad()
    return [p.grad for p in layer.parameters()]


def applied_functions(torch: Any) -> Any:
    seen: list[str] = []
    with_(torch, "Doubled", "Symmetric").apply(lambda module: seen.append(type(module).__name__))
    return seen


def frozen_at_once(torch: Any) -> Any:
    layer = with_(torch, "Doubled").requires_grad_(False)
    return layer.weight.requires_grad, held(layer)


# Tied parameters ------------------------------------------------------------------------------------------------------


def tied(torch: Any) -> Any:
    one, other = linear(torch), linear(torch)
    other.weight = one.weight
    return torch.nn.Sequential(one, other)


def tied_and_one_parametrized(torch: Any) -> Any:
    net = tied(torch)
    parametrize(torch).register_parametrization(net[0], "weight", kinds(torch).Doubled())
    names = [name for name, _ in net.named_parameters()]
    return (
        names,
        net[0].weight.tolist(),
        net[1].weight.tolist(),
        net[0].parametrizations.weight.original is net[1].weight,
    )


def tied_and_both_parametrized(torch: Any) -> Any:
    net = tied(torch)
    for layer in net:
        parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Doubled())
    net(torch.ones(1, 3)).sum().backward()
    return [(name, p.grad.tolist()) for name, p in net.named_parameters()], net[1].weight.tolist()


def tied_and_removed(torch: Any) -> Any:
    net = tied(torch)
    for layer in net:
        parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Symmetric())
    for layer in net:
        parametrize(torch).remove_parametrizations(layer, "weight")
    return net[0].weight is net[1].weight, net[0].weight.tolist()


# Caching --------------------------------------------------------------------------------------------------------------


def read_several_times(torch: Any) -> Any:
    layer, counted = linear(torch), kinds(torch).Counted()
    parametrize(torch).register_parametrization(layer, "weight", counted, unsafe=True)
    calls = []
    for _ in range(2):
        _ = layer.weight, layer.weight
        calls.append(counted.calls)
        with parametrize(torch).cached():
            first = layer.weight
            same = layer.weight is first
            with parametrize(torch).cached():
                same = same and layer.weight is first
            same = same and layer.weight is first
            layer(torch.ones(1, 3))
        calls.append(counted.calls)
    return calls, same, layer.weight is first


def kept_of_two_modules_and_names(torch: Any) -> Any:
    one, other = with_(torch, "Doubled"), with_(torch, "Symmetric")
    parametrize(torch).register_parametrization(one, "bias", kinds(torch).Shifted())
    with parametrize(torch).cached():
        return [one.weight.tolist(), other.weight.tolist(), one.bias.tolist(), one.weight.tolist()], len(
            parametrize(torch)._cache
        )


def assigned_while_kept(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    with parametrize(torch).cached():
        _ = layer.weight
        layer.weight = torch.ones(3, 3)
        first = layer.weight.tolist()
    return first, layer.weight.tolist()


def forgotten_after_an_error(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    try:
        with parametrize(torch).cached():
            _ = layer.weight
            raise ValueError
    except ValueError:
        pass
    return parametrize(torch)._cache_enabled, parametrize(torch)._cache


def kept_in_a_graph(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    with parametrize(torch).cached():
        (layer.weight.sum() + layer.weight.sum()).backward()
    return layer.parametrizations.weight.original.grad.tolist()


def gradients_of_what_was_kept_twice(torch: Any) -> Any:
    layer = linear(torch)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Of(lambda x: x.exp()))
    with parametrize(torch).cached():
        layer.weight.sum().backward()
        layer.weight.sum().backward()


def kept_in_a_recurrent_layer(torch: Any) -> Any:
    counted, cell = kinds(torch).Counted(), torch.nn.RNNCell(2, 2)
    parametrize(torch).register_parametrization(cell, "weight_hh", counted)
    state = torch.zeros(1, 2)
    with parametrize(torch).cached():
        for _ in range(3):
            state = cell(torch.ones(1, 2), state)
    return counted.calls


def used_as_a_decorator(torch: Any) -> Any:
    layer, counted = linear(torch), kinds(torch).Counted()
    parametrize(torch).register_parametrization(layer, "weight", counted, unsafe=True)

    @parametrize(torch).cached()
    def twice() -> None:
        _ = layer.weight, layer.weight

    twice()
    twice()
    return counted.calls


# Called with other tensors --------------------------------------------------------------------------------------------


def call(torch: Any, module: Any, values: Any, **options: Any) -> Any:
    x = torch.ones(1, 3)
    return torch.nn.utils.stateless._functional_call(module, values, x, **options).tolist()


def called_with_another_original(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    values = {"parametrizations.weight.original": torch.ones(3, 3)}
    return call(torch, layer, values), layer.weight.tolist()


def called_with_another_computed_tensor(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    values = {"weight": torch.ones(3, 3)}
    out = call(torch, layer, values)
    return out, layer.weight.tolist(), list(values), values["weight"].tolist(), held(layer)


def called_with_another_computed_tensor_without_an_inverse(torch: Any) -> Any:
    call(torch, with_(torch, "Shifted"), {"weight": torch.ones(3, 3)})


def called_with_gradients_of_originals(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    original = torch.ones(3, 3, requires_grad=True)
    values = {"parametrizations.weight.original": original, "bias": torch.zeros(3)}
    out = torch.nn.utils.stateless._functional_call(layer, values, torch.ones(1, 3))
    (gradient,) = torch.autograd.grad(out.sum(), original)
    return gradient.tolist(), [p.grad for p in layer.parameters()]


def called_strictly(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    return call(torch, layer, {"parametrizations.weight.original": torch.ones(3, 3)}, strict=True)


def called_while_kept(torch: Any) -> Any:
    layer = with_(torch, "Doubled")
    with parametrize(torch).cached():
        _ = layer.weight
        return call(torch, layer, {"parametrizations.weight.original": torch.ones(3, 3)})


# Other libraries' uses ------------------------------------------------------------------------------------------------


def in_a_recurrent_layer(torch: Any) -> Any:
    layer = torch.nn.RNN(2, 2)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(0.25)
    parametrize(torch).register_parametrization(layer, "weight_hh_l0", kinds(torch).Doubled())
    outputs, _ = layer(torch.ones(3, 1, 2))
    outputs.sum().backward()
    return (
        [round(x, 5) for x in outputs.flatten().tolist()], len(list(layer.parameters())), len(layer.all_weights[0]),
        [round(x, 4) for x in layer.parametrizations.weight_hh_l0.original.grad.flatten().tolist()],
    )  # fmt: skip


def in_attention(torch: Any) -> Any:
    layer = torch.nn.MultiheadAttention(2, 1)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(0.25)
    parametrize(torch).register_parametrization(layer, "in_proj_weight", kinds(torch).Doubled())
    x = torch.arange(6.0).view(3, 1, 2)
    outputs = layer(x, x, x)[0]
    outputs.sum().backward()
    return [round(x, 4) for x in outputs.flatten().tolist()], type(layer).__name__


def in_a_convolution(torch: Any) -> Any:
    layer = torch.nn.Conv2d(1, 2, 2)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(0.5)
    parametrize(torch).register_parametrization(layer, "weight", kinds(torch).Doubled())
    return layer(torch.ones(1, 1, 3, 3)).tolist(), repr(layer)


def global_hooks_see_the_originals(torch: Any) -> Any:
    seen: list[Any] = []
    register = torch.nn.modules.module.register_module_parameter_registration_hook
    handle = register(lambda module, name, p: seen.append((type(module).__name__, name)))
    try:
        layer = with_(torch, "Doubled")
        parametrize(torch).remove_parametrizations(layer, "weight")
    finally:
        handle.remove()
    return seen


def hooks_of_the_list_run(torch: Any) -> Any:
    layer, seen = with_(torch, "Doubled"), []
    layer.parametrizations.weight.register_forward_hook(lambda module, args, output: seen.append(len(args)))
    layer.parametrizations.weight[0].register_forward_pre_hook(lambda module, args: seen.append(len(args)))
    layer(torch.ones(1, 3))
    return seen


def on_a_detached_buffer(torch: Any) -> Any:
    module = torch.nn.Module()
    module.register_buffer("scale", torch.ones(3, 3).detach())
    parametrize(torch).register_parametrization(module, "scale", kinds(torch).Symmetric())
    return module.scale.tolist()


PROGRAMS = [
    assigned, assigned_through_a_chain, assigned_a_parameter, assigned_several, assigned_another_shape,
    assigned_without_an_inverse, assigned_with_one_inverse_missing, assigned_where_the_inverse_is_not_implemented,
    assigned_another_dtype, an_inverse_that_changes_to_no_tensor, an_inverse_that_changes_to_one_tensor,
    an_inverse_that_changes_its_length, an_inverse_that_changes_its_dtype, an_inverse_that_changes_the_dtype_of_one,
    an_inverse_that_changes_one_to_a_number, deleted, changed_in_place, initialised, trained_with_an_older_optimizer,
    trained_with_new_parameters, trained_after_it_was_removed, gradients_twice, saved_and_loaded, loaded_with_assign,
    loaded_without_a_parametrization, loaded_into_a_module_without_one, loaded_in_part, saved_through_a_file, pickled,
    copied_flatly, pickled_after_it_was_removed, copied_deeply, copied_deeply_within_another,
    copied_deeply_by_its_class, a_copy_is_trained_alone, a_copy_is_assigned_alone, cast, moved_to_meta,
    zeroed_gradients, applied_functions, frozen_at_once, tied_and_one_parametrized, tied_and_both_parametrized,
    tied_and_removed, read_several_times, kept_of_two_modules_and_names, assigned_while_kept,
    forgotten_after_an_error, kept_in_a_graph, gradients_of_what_was_kept_twice, kept_in_a_recurrent_layer,
    used_as_a_decorator, called_with_another_original, called_with_another_computed_tensor,
    called_with_another_computed_tensor_without_an_inverse, called_with_gradients_of_originals, called_strictly,
    called_while_kept, in_a_recurrent_layer, in_attention, in_a_convolution, global_hooks_see_the_originals,
    hooks_of_the_list_run, on_a_detached_buffer,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))


def test_a_deep_copy_keeps_values_of_its_own() -> None:
    layer = with_(glasstorch, "Doubled")
    copied = copy.deepcopy(layer)
    copied.weight = glasstorch.ones(3, 3)
    with parametrize(glasstorch).cached():
        assert layer.weight is layer.weight
        assert copied.weight.tolist() != layer.weight.tolist()
        assert copied.weight.tolist() == [[1.0] * 3] * 3


def test_tracing_records_parametrizations_but_not_kept_values() -> None:
    layer = with_(glasstorch, "Doubled")
    x = glasstorch.ones(1, 3)
    traced = glasstorch.jit.trace(layer, (x,))
    layer.weight = glasstorch.zeros(3, 3)
    assert traced(x).tolist() == layer(x).tolist() == [[0.0, 0.0, 0.0]]
    with (
        parametrize(glasstorch).cached(),
        pytest.raises(RuntimeError, match=r"^Cannot trace a model while caching parametrizations\.$"),
    ):
        glasstorch.jit.trace(layer, (x,))
    with pytest.raises(RuntimeError, match=r"^The stateless API can't be used with Jitted modules$"):
        call(glasstorch, traced, {})

"""Are parameters pruned by the same masks as in PyTorch, and is the same refused?"""

from __future__ import annotations

import copy
import importlib
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import Program, assert_same


def library(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.nn.utils.prune")


def linear(torch: Any, rows: int = 3, columns: int = 4) -> Any:
    """A layer whose weights are numbers in no order."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(columns, rows)
    with torch.no_grad():
        order = (torch.arange(rows * columns) * 7) % (rows * columns)
        layer.weight.copy_((order.float() - rows * columns / 2).view(rows, columns))
        layer.bias.copy_(torch.arange(rows, 0, -1))
    return layer


def shown(layer: Any, name: str = "weight") -> Any:
    """The mask, the tensors and the hooks of a pruned module."""
    hooks = [
        [type(hook).__name__, *(type(m).__name__ for m in hook)] if hasattr(hook, "__iter__") else type(hook).__name__
        for hook in layer._forward_pre_hooks.values()
    ]
    pruned = getattr(layer, name)
    return (
        [(n, p.tolist(), p.requires_grad) for n, p in layer.named_parameters()],
        [(n, b.tolist(), str(b.dtype)) for n, b in layer.named_buffers()],
        pruned.tolist(), pruned.requires_grad, type(pruned).__name__, hooks, list(layer.state_dict()),
    )  # fmt: skip


def all_of(*steps: Callable[[Any, Any], Any]) -> Program:
    """A program that shows the layer after these steps, each a function of the library's module and a layer."""

    def program(torch: Any) -> Any:
        layer, found = linear(torch), []
        for step in steps:
            returned = step(library(torch), layer)
            found.append((returned is layer, shown(layer)))
        return found

    return program


def attempt(step: Callable[[Any, Any], Any], *before: Callable[[Any, Any], Any]) -> Program:
    """A program that shows an error, and how it leaves the layer."""

    def program(torch: Any) -> Any:
        layer = linear(torch)
        for one in before:
            one(library(torch), layer)
        try:
            step(library(torch), layer)
        except Exception as error:  # noqa: BLE001 (the error is what is compared)
            hooks = [type(hook).__name__ for hook in layer._forward_pre_hooks.values()]
            tensors = [n for n, _ in layer.named_parameters()], [n for n, _ in layer.named_buffers()]
            names = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            return names, str(error), tensors, hooks
        return shown(layer)

    return program


# Methods --------------------------------------------------------------------------------------------------------------


def amounts(torch: Any) -> Any:
    found = []
    for name in ("random_unstructured", "l1_unstructured"):
        for amount in (0, 1, 5, 12, 0.0, 0.1, 0.5, 0.99, 1.0):
            layer = linear(torch)
            getattr(library(torch), name)(layer, "weight", amount=amount)
            found.append(layer.weight_mask.tolist())
    return found


def amounts_of_slices(torch: Any) -> Any:
    found = []
    for amount in (0, 1, 2, 3, 0.0, 0.3, 0.5, 1.0):
        for dim in (-2, -1, 0, 1):
            layer, other = linear(torch), linear(torch)
            library(torch).random_structured(layer, "weight", amount=amount, dim=dim)
            library(torch).ln_structured(other, "weight", amount=amount, n=2, dim=dim)
            found.append((layer.weight_mask.tolist(), other.weight_mask.tolist()))
    return found


def orders_of_norms(torch: Any) -> Any:
    found = []
    for n in (0, 1, 2, 3, -1, float("inf"), float("-inf"), "fro"):
        layer = linear(torch)
        found.append(library(torch).ln_structured(layer, "weight", 1, n, 0).weight_mask.tolist())
    return found


def norms_of_matrices(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(3, 2, 2)
    return [
        library(torch).ln_structured(copy.deepcopy(layer), "weight", 0.5, n, dim).weight_mask.tolist()
        for n in (1, 2, float("inf"))
        for dim in (0, 1, -1)
    ]


def larger_tensors(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(8, 8, 3)
    library(torch).random_unstructured(layer, "weight", 0.3)
    library(torch).ln_structured(layer, "weight", 2, 2, 0)
    library(torch).random_structured(layer, "weight", 0.25, 1)
    return layer.weight_mask.tolist()


def other_scores(torch: Any) -> Any:
    layer, other = linear(torch), linear(torch)
    scores = torch.arange(12.0).view(3, 4)
    library(torch).l1_unstructured(layer, "weight", 4, importance_scores=scores)
    library(torch).ln_structured(other, "weight", 1, 2, 0, importance_scores=scores)
    return layer.weight_mask.tolist(), other.weight_mask.tolist()


def masks_of_other_dtypes(torch: Any) -> Any:
    found = []
    for dtype in (torch.bool, torch.int64, torch.float64):
        layer = linear(torch)
        mask = (torch.arange(12).view(3, 4) % 3 == 0).to(dtype)
        library(torch).custom_from_mask(layer, "weight", mask)
        found.append(shown(layer))
    return found


def a_custom_method(torch: Any) -> Any:
    class Alternating(library(torch).BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    layer = linear(torch)
    Alternating.apply(layer, "weight")
    first = shown(layer)
    Alternating.apply(layer, "weight")
    return first, shown(layer)


def a_custom_method_of_type(kind: str, **attributes: Any) -> Program:
    def program(torch: Any) -> Any:
        class Own(library(torch).BasePruningMethod):
            PRUNING_TYPE = kind

            def compute_mask(self, t: Any, default_mask: Any) -> Any:
                return default_mask * 0

        layer = linear(torch)
        library(torch).l1_unstructured(layer, "weight", 5)
        for name, value in attributes.items():
            setattr(Own, name, value)
        Own.apply(layer, "weight")
        return shown(layer)

    return program


def an_abstract_method(torch: Any) -> Any:
    library(torch).BasePruningMethod()


def methods_return_themselves(torch: Any) -> Any:
    p, layer = library(torch), linear(torch)
    first = p.L1Unstructured.apply(layer, "weight", 0.2)
    second = p.RandomStructured.apply(layer, "weight", 1, 0)
    third = p.Identity.apply(layer, "bias")
    return (
        [
            (type(m).__name__, m._tensor_name, getattr(m, "amount", None), getattr(m, "PRUNING_TYPE", None))
            for m in (first, second, third, second[0], second[1])
        ],
        len(second),
        [type(m).__name__ for m in second],
        [type(m).__name__ for m in second[:1]],
    )


def tensors_without_modules(torch: Any) -> Any:
    p, t = library(torch), torch.arange(-3.0, 3.0).view(2, 3)
    mask = torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    torch.manual_seed(0)
    return [
        p.L1Unstructured(2).prune(t).tolist(),
        p.L1Unstructured(2).prune(t, default_mask=mask).tolist(),
        p.L1Unstructured(2).prune(t, importance_scores=-t.abs() + 10).tolist(),
        p.RandomUnstructured(0.5).prune(t).tolist(),
        p.LnStructured(1, 2, 1).prune(t, default_mask=mask).tolist(),
        p.RandomStructured(1).prune(t).tolist(),
        p.CustomFromMask(mask).prune(t).tolist(),
        p.Identity().prune(t).tolist(),
    ]


def scores_of_another_shape_for_a_tensor(torch: Any) -> Any:
    library(torch).L1Unstructured(2).prune(torch.ones(2, 3), importance_scores=torch.ones(2))


# Modules --------------------------------------------------------------------------------------------------------------


def a_call_multiplies_again(torch: Any) -> Any:
    layer = linear(torch)
    library(torch).l1_unstructured(layer, "weight", 6)
    with torch.no_grad():
        layer.weight_orig.add_(10)
    before = layer.weight.tolist()
    return before, layer(torch.ones(1, 4)).tolist(), layer.weight.tolist()


def trained(torch: Any) -> Any:
    layer = linear(torch)
    library(torch).l1_unstructured(layer, "weight", 6)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        layer(torch.ones(1, 4)).sum().backward()
        optimizer.step()
    return shown(layer), layer.weight_orig.grad.tolist()


def removed_while_training(torch: Any) -> Any:
    layer = linear(torch)
    weight = layer.weight
    library(torch).l1_unstructured(layer, "weight", 6)
    with torch.no_grad():
        layer.weight_orig.add_(10)
    library(torch).remove(layer, "weight")
    return layer.weight is weight, shown(layer), [n for n, _ in layer.named_parameters()]


def pruned_or_not(torch: Any) -> Any:
    p, net = library(torch), torch.nn.Sequential(linear(torch), torch.nn.Sequential(linear(torch)))
    found = [p.is_pruned(net)]
    p.identity(net[1][0], "weight")
    found += [p.is_pruned(net), p.is_pruned(net[0]), p.is_pruned(net[1])]
    p.remove(net[1][0], "weight")
    return [*found, p.is_pruned(net)]


def two_parameters(torch: Any) -> Any:
    layer = linear(torch)
    library(torch).l1_unstructured(layer, "weight", 6)
    library(torch).random_unstructured(layer, "bias", 1)
    first = shown(layer), shown(layer, "bias")
    library(torch).remove(layer, "weight")
    return first, shown(layer, "bias")


def saved_and_loaded(torch: Any) -> Any:
    layer, other = linear(torch), linear(torch)
    library(torch).l1_unstructured(layer, "weight", 6)
    library(torch).identity(other, "weight")
    outcome = str(other.load_state_dict(layer.state_dict()))
    before = other.weight.tolist()
    other(torch.ones(1, 4))
    return outcome, before, shown(other)


def loaded_without_a_mask(torch: Any) -> Any:
    layer = linear(torch)
    library(torch).identity(layer, "weight")
    layer.load_state_dict(linear(torch).state_dict())


def pickled(torch: Any) -> Any:
    layer = linear(torch)
    library(torch).l1_unstructured(layer, "weight", 6)
    library(torch).remove(library(torch).identity(layer, "bias"), "bias")
    with torch.no_grad():
        layer(torch.ones(1, 4))
    read = pickle.load(io.BytesIO(pickle.dumps(layer)))
    return shown(read), library(torch).is_pruned(read)


def copied(torch: Any) -> Any:
    layer = linear(torch)
    library(torch).l1_unstructured(layer, "weight", 6)
    with torch.no_grad():
        layer(torch.ones(1, 4))
    other = copy.deepcopy(layer)
    library(torch).remove(other, "weight")
    return shown(layer), shown(other)


def in_a_recurrent_layer(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.LSTM(2, 2)
    library(torch).l1_unstructured(layer, "weight_ih_l0", 0.5)
    layer(torch.ones(1, 1, 2))[0].sum().backward()
    with torch.no_grad():
        state = layer(torch.ones(1, 1, 2))[0].tolist()
    return layer.weight_ih_l0_mask.tolist(), [round(x, 5) for x in state[0][0]], sorted(layer.state_dict())


def cast(torch: Any) -> Any:
    layer = linear(torch)
    library(torch).l1_unstructured(layer, "weight", 6)
    layer.double()
    return layer(torch.ones(1, 4).double()).tolist(), str(layer.weight_mask.dtype), str(layer.weight.dtype)


def half_precision(torch: Any) -> Any:
    layer = linear(torch).half()
    library(torch).l1_unstructured(layer, "weight", 6)
    library(torch).custom_from_mask(layer, "weight", torch.ones(3, 4, dtype=torch.float64))
    return shown(layer)


# Several at once ------------------------------------------------------------------------------------------------------


def network(torch: Any) -> Any:
    return torch.nn.Sequential(linear(torch), linear(torch, 2, 3))


def globally(torch: Any, kind: str = "L1Unstructured", **options: Any) -> Any:
    net = network(torch)
    pairs = [(net[0], "weight"), (net[1], "weight"), (net[0], "bias")]
    returned = library(torch).global_unstructured(pairs, getattr(library(torch), kind), **options)
    return returned, net


def of_all_parameters(torch: Any) -> Any:
    found = []
    for kind in ("L1Unstructured", "RandomUnstructured"):
        for amount in (0.5, 4, 0.0, 1.0):
            returned, net = globally(torch, kind, amount=amount)
            found.append((returned, shown(net[0]), shown(net[0], "bias"), shown(net[1])))
    return found


def of_all_parameters_twice(torch: Any) -> Any:
    _, net = globally(torch, amount=4)
    pairs = [(net[0], "weight"), (net[1], "weight")]
    library(torch).global_unstructured(pairs, library(torch).L1Unstructured, amount=0.5)
    return shown(net[0]), shown(net[1])


def of_all_parameters_by_other_scores(torch: Any) -> Any:
    net = network(torch)
    pairs = [(layer, "weight") for layer in net]
    scores = {(net[1], "weight"): torch.full((2, 3), 0.5)}
    library(torch).global_unstructured(pairs, library(torch).L1Unstructured, importance_scores=scores, amount=8)
    return [shown(layer) for layer in net]


def of_all_parameters_in_a_dictionary_of_names(torch: Any) -> Any:
    net = network(torch)
    pairs = {(layer, "weight") for layer in net[:1]}
    library(torch).global_unstructured(pairs, library(torch).L1Unstructured, amount=8)
    return [layer.weight.tolist() for layer in net]


def of_all_parameters_by_slices(torch: Any) -> Any:
    globally(torch, "RandomStructured", amount=1)


def of_all_parameters_by_scores_in_a_list(torch: Any) -> Any:
    globally(torch, amount=1, importance_scores=[1])


def of_no_parameters(torch: Any) -> Any:
    library(torch).global_unstructured(3, library(torch).L1Unstructured, amount=1)


def of_an_empty_list_of_parameters(torch: Any) -> Any:
    library(torch).global_unstructured([], library(torch).L1Unstructured, amount=1)


def of_more_than_all(torch: Any) -> Any:
    globally(torch, amount=100)


# Containers -----------------------------------------------------------------------------------------------------------


def containers(torch: Any) -> Any:
    p = library(torch)
    first, second = p.L1Unstructured(2), p.RandomUnstructured(1)
    first._tensor_name = second._tensor_name = "weight"
    held = p.PruningContainer(first)
    held.add_pruning_method(second)
    held.add_pruning_method(None)
    return len(held), [type(m).__name__ for m in held], type(held[0]).__name__, held._tensor_name, held[-1]


def an_empty_container(torch: Any) -> Any:
    held = library(torch).PruningContainer()
    return len(held), hasattr(held, "_tensor_name")


def a_container_of_two(torch: Any) -> Any:
    p = library(torch)
    library(torch).PruningContainer(p.L1Unstructured(2), p.L1Unstructured(2))


def a_container_for_another_name(torch: Any) -> Any:
    p = library(torch)
    first, second = p.L1Unstructured(2), p.RandomUnstructured(1)
    first._tensor_name, second._tensor_name = "weight", "bias"
    p.PruningContainer.__str__ = lambda self: "a container"
    try:
        p.PruningContainer(first).add_pruning_method(second)
    finally:
        del p.PruningContainer.__str__


def a_container_of_something_else(torch: Any) -> Any:
    p = library(torch)
    first = p.L1Unstructured(2)
    first._tensor_name = "weight"
    p.PruningContainer(first).add_pruning_method(3)


def masks_of_a_container(torch: Any) -> Any:
    """The last method sees what is left, and the result has the dtype of the scores."""
    p, t = library(torch), torch.arange(12.0).view(3, 4)
    mask = (torch.arange(12).view(3, 4) % 4 != 0).to(torch.int32)
    mask[1] = 0
    found = []
    for method in (p.L1Unstructured(3), p.LnStructured(1, 2, 0), p.LnStructured(1, 2, -1), p.CustomFromMask(t > 6)):
        method._tensor_name = "weight"
        made = p.PruningContainer(method).compute_mask(t, mask)
        found.append((made.tolist(), str(made.dtype)))
    return found


def two_hooks_for_one_name(torch: Any) -> Any:
    p, layer = library(torch), linear(torch)
    for _ in range(2):
        method = p.Identity()
        method._tensor_name = "weight"
        layer.register_forward_pre_hook(method)
    p.identity(layer, "weight")


PROGRAMS: dict[str, Program] = {
    program.__name__: program
    for program in (
        amounts, amounts_of_slices, orders_of_norms, norms_of_matrices, larger_tensors, other_scores,
        masks_of_other_dtypes, a_custom_method, an_abstract_method, methods_return_themselves, tensors_without_modules,
        scores_of_another_shape_for_a_tensor, a_call_multiplies_again, trained, removed_while_training, pruned_or_not,
        two_parameters, saved_and_loaded, loaded_without_a_mask, pickled, copied, in_a_recurrent_layer, cast,
        half_precision, of_all_parameters, of_all_parameters_twice, of_all_parameters_by_other_scores,
        of_all_parameters_in_a_dictionary_of_names, of_all_parameters_by_slices, of_all_parameters_by_scores_in_a_list,
        of_no_parameters, of_an_empty_list_of_parameters, of_more_than_all, containers, an_empty_container,
        a_container_of_two, a_container_for_another_name, a_container_of_something_else, masks_of_a_container,
        two_hooks_for_one_name,
    )
}  # fmt: skip
PROGRAMS |= {
    "identity": all_of(lambda p, m: p.identity(m, "weight"), lambda p, m: p.remove(m, "weight")),
    "elements at random": all_of(
        lambda p, m: p.random_unstructured(m, "weight", 0.4), lambda p, m: p.remove(m, "weight")
    ),
    "smallest elements": all_of(lambda p, m: p.l1_unstructured(m, "weight", 3), lambda p, m: p.remove(m, "weight")),
    "slices at random": all_of(lambda p, m: p.random_structured(m, "weight", 1, 0)),
    "smallest slices": all_of(lambda p, m: p.ln_structured(m, "weight", 0.5, 1, 1)),
    "several methods": all_of(
        lambda p, m: p.l1_unstructured(m, "weight", 3),
        lambda p, m: p.random_unstructured(m, "weight", 0.5),
        lambda p, m: p.ln_structured(m, "weight", 1, 2, 0),
        lambda p, m: p.random_structured(m, "weight", 1, -1),
        lambda p, m: p.identity(m, "weight"),
        lambda p, m: p.remove(m, "weight"),
    ),
    "slices and then slices": all_of(
        lambda p, m: p.ln_structured(m, "weight", 1, 2, 0), lambda p, m: p.ln_structured(m, "weight", 1, 2, 0)
    ),
    "a share of what is left": all_of(
        lambda p, m: p.l1_unstructured(m, "weight", 0.5), lambda p, m: p.l1_unstructured(m, "weight", 0.5)
    ),
    "pruned again after it was removed": all_of(
        lambda p, m: p.l1_unstructured(m, "weight", 0.5),
        lambda p, m: p.remove(m, "weight"),
        lambda p, m: p.random_unstructured(m, "weight", 2),
    ),
    "a method of everything": a_custom_method_of_type("global"),
    "a method of slices": a_custom_method_of_type("structured", dim=1),
    "a method of slices from the end": a_custom_method_of_type("structured", dim=-2),
    "a method of slices without a dimension": a_custom_method_of_type("structured"),
    "a method of slices of no dimension": a_custom_method_of_type("structured", dim=-3),
    "a method of another type": a_custom_method_of_type("other"),
    "an amount in words": attempt(lambda p, m: p.l1_unstructured(m, "weight", "half")),
    "an amount that is complex": attempt(lambda p, m: p.l1_unstructured(m, "weight", 1j)),
    "a negative amount": attempt(lambda p, m: p.l1_unstructured(m, "weight", -1)),
    "a negative share": attempt(lambda p, m: p.random_unstructured(m, "weight", -0.1)),
    "a share of more than all": attempt(lambda p, m: p.random_structured(m, "weight", 1.1, 0)),
    "a share that is no number": attempt(lambda p, m: p.l1_unstructured(m, "weight", float("nan"))),
    "more than all elements": attempt(lambda p, m: p.l1_unstructured(m, "weight", 13)),
    "more than all elements at random": attempt(lambda p, m: p.random_unstructured(m, "weight", 13)),
    "more than all slices": attempt(lambda p, m: p.ln_structured(m, "weight", 4, 2, 0)),
    "more than all slices at random": attempt(lambda p, m: p.random_structured(m, "weight", 4, 0)),
    "slices of a vector": attempt(lambda p, m: p.random_structured(m, "bias", 1, 0)),
    "norms of a vector's slices": attempt(lambda p, m: p.ln_structured(m, "bias", 1, 2, 0)),
    "slices along no dimension": attempt(lambda p, m: p.random_structured(m, "weight", 1, 2)),
    "slices before the first dimension": attempt(lambda p, m: p.random_structured(m, "weight", 1, -3)),
    "norms along no dimension": attempt(lambda p, m: p.ln_structured(m, "weight", 1, 2, 2)),
    "a mask of another shape": attempt(lambda p, m: p.custom_from_mask(m, "weight", m.weight[:2].detach())),
    "a mask that is no tensor": attempt(lambda p, m: p.custom_from_mask(m, "weight", 1)),
    "scores of another shape": attempt(lambda p, m: p.l1_unstructured(m, "weight", 1, m.weight[:2].detach())),
    "no such name": attempt(lambda p, m: p.identity(m, "other")),
    "removed where nothing was pruned": attempt(lambda p, m: p.remove(m, "weight")),
    "removed by another name": attempt(lambda p, m: p.remove(m, "bias"), lambda p, m: p.identity(m, "weight")),
    "removed twice": attempt(
        lambda p, m: p.remove(m, "weight"), lambda p, m: p.identity(m, "weight"), lambda p, m: p.remove(m, "weight")
    ),
    "a further method that is refused": attempt(
        lambda p, m: p.l1_unstructured(m, "weight", 2.5), lambda p, m: p.identity(m, "weight")
    ),
    "a further method that takes too many": attempt(
        lambda p, m: p.l1_unstructured(m, "weight", 10), lambda p, m: p.l1_unstructured(m, "weight", 6)
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_torch(name: str, require: Callable[[str], Any]) -> None:
    assert_same(PROGRAMS[name], require("torch"), within=1e-6)

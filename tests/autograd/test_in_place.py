"""Do the autograd kernels of in-place operators fit their operators, and record only what a gradient concerns?"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import in_place
from glasstorch.core.errors import InplaceError
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.operator import Kernel, Operator, registry

LIBRARY = Path(glasstorch.__file__).parent
MAKERS = {name for name in vars(in_place) if "_of_" in name}


def made() -> list[tuple[Operator, Kernel]]:
    """The operators whose autograd kernel a function of `in_place` made."""
    kernels = [
        (o, stack[0])
        for o in registry.operators.values()
        if o.family and (stack := o.kernels.get(DispatchKey.Autograd))
    ]
    return [(o, k) for o, k in kernels if getattr(k.function, "__module__", "") == in_place.__name__]


def leaf() -> Any:
    return glasstorch.tensor([0.25, 0.5, 0.75], dtype=glasstorch.float64, requires_grad=True)


def test_a_kernel_takes_the_arguments_of_its_operator() -> None:
    for operator, kernel in made():
        parameters = inspect.signature(kernel.function).parameters
        assert len(parameters) == len(operator.schema.arguments) + 1, operator.name


def test_a_kernel_is_named_after_its_operator_and_registered_at_its_row() -> None:
    for operator, kernel in made():
        name = operator.qualified_overload
        assert kernel.function.__qualname__ == name.replace(".", "_")
        file, _, line = kernel.where.partition(":")
        row = (LIBRARY / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert f'AUTOGRAD, "{name}", ' in row, kernel.where


def test_every_maker_makes_some_kernel() -> None:
    assert {kernel.function.__code__.co_qualname.partition(".")[0] for _, kernel in made()} == MAKERS


# One operator of each maker, and those that save the old tensor, the new one, an argument, a fact.
CALLS = {
    "alone_of_one, the new": lambda x: x.exp_(),
    "alone_of_one, the old": lambda x: x.sin_(),
    "alone_of_one, a view": lambda x: x.t_(),
    "alone_of_two": lambda x: x.pow_(2),
    "alone_of_three": lambda x: x.cumprod_(0),
    "alone_of_four": lambda x: x.nan_to_num_(),
    "two_of_two": lambda x: x.mul_(leaf() + 1),
    "two_of_three": lambda x: x.add_(leaf() * 2, alpha=3),
    "three_of_three": lambda x: x.lerp_(leaf() + 1, leaf()),
    "three_of_four": lambda x: x.addcmul_(leaf() + 1, leaf(), value=2),
    "three_of_five": lambda x: x.addmv_(leaf().diag(), leaf() * 2, beta=3),
    "optional_of_three": lambda x: x.clamp_(leaf() + 0.1, leaf() * 2),
    "optional_of_three, one is None": lambda x: x.clamp_(None, leaf() * 0.5),
    "third_of_three": lambda x: x.masked_scatter_(glasstorch.tensor([False, True, True]), leaf() * 2),
    "third_of_four": lambda x: x.index_put_((glasstorch.tensor([0, 0]),), leaf()[:2], accumulate=True),
    "fourth_of_four": lambda x: x.index_copy_(0, glasstorch.tensor([1]), leaf()[:1] * 2),
    "fourth_of_five": lambda x: x.index_add_(0, glasstorch.tensor([0]), leaf()[:1]),
    "fourth_of_six": lambda x: x.scatter_reduce_(0, glasstorch.tensor([0, 0, 1]), leaf(), "prod"),
}
# Of makers for several arguments: a call whose other arguments carry the only gradient, so that each is seen to reach
# the node by its own edge.
OTHERS = {
    "two_of_two": lambda x, other: x.mul_(other),
    "two_of_three": lambda x, other: x.add_(other, alpha=3),
    "three_of_three": lambda x, other: x.lerp_(other + 1, other),
    "three_of_four": lambda x, other: x.addcmul_(other + 1, other),
    "three_of_five": lambda x, other: x.addmv_(other.diag(), other * 2),
    "optional_of_three": lambda x, other: x.clamp_(other, other * 2),
    "optional_of_three, one is None": lambda x, other: x.clamp_(None, other * 0.5),
    "third_of_three": lambda x, other: x.masked_fill_(glasstorch.tensor([False, True, True]), other[0]),
    "third_of_four": lambda x, other: x.index_put_((glasstorch.tensor([0]),), other[:1]),
    "fourth_of_four": lambda x, other: x.scatter_(0, glasstorch.tensor([2, 0, 1]), other),
    "fourth_of_five": lambda x, other: x.index_add_(0, glasstorch.tensor([0]), other[:1]),
    "fourth_of_six": lambda x, other: x.index_reduce_(0, glasstorch.tensor([0, 2, 1]), other, "prod"),
}


def test_each_maker_for_several_arguments_is_called() -> None:
    called = {name.partition(",")[0] for name in OTHERS}
    assert called == {maker for maker in MAKERS if not maker.startswith("alone_")}
    assert called < {name.partition(",")[0] for name in CALLS}


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_a_gradient_that_only_other_arguments_carry_is_recorded(call: Any) -> None:
    before = glasstorch.tensor([0.3, 0.2, 0.9], dtype=glasstorch.float64)

    def changed(other: Any) -> Any:
        return call(before.clone(), other)

    assert changed(leaf()).requires_grad
    assert glasstorch.autograd.gradcheck(changed, (leaf(),))
    assert changed(leaf().detach()).grad_fn is None


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_a_view_of_a_leaf_is_refused_though_only_another_argument_has_a_gradient(call: Any) -> None:
    with glasstorch.no_grad():
        view = leaf().view(3)
    with pytest.raises(InplaceError, match="A view was created in no_grad mode"):
        call(view, leaf())
    assert view.tolist() == [0.25, 0.5, 0.75]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_gradient_is_that_of_the_form_that_copies(call: Any) -> None:
    def changed(x: Any) -> Any:
        y = x * 1
        before = y._version
        assert call(y) is y
        assert y._version == before + 1
        return y

    assert glasstorch.autograd.gradcheck(changed, (leaf(),))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_leaf_is_refused_and_left_as_it_was(call: Any) -> None:
    x = leaf()
    with pytest.raises(InplaceError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        call(x)
    assert (x.tolist(), x._version) == ([0.25, 0.5, 0.75], 0)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_without_recording_there_is_no_node(call: Any) -> None:
    x = leaf()
    with glasstorch.no_grad():
        assert call(x).grad_fn is None
    assert x.is_leaf


def test_a_tensor_of_integers_takes_a_copy_without_a_record() -> None:
    x = glasstorch.zeros(3, dtype=glasstorch.int64)
    assert x.copy_(leaf() * 4).grad_fn is None
    assert x.tolist() == [1, 2, 3]


def test_an_argument_with_a_gradient_gives_the_tensor_a_history() -> None:
    x = glasstorch.zeros(3, dtype=glasstorch.float64)
    assert x.mul_(leaf()).grad_fn.name() == "MulBackward0"

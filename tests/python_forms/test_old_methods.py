"""Do the methods of older PyTorch that a tensor still has do what PyTorch's do?"""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import glasstorch
from tests.refusals import same_refusal


@pytest.fixture
def oracle() -> Any:
    return pytest.importorskip("torch")


def quietly(call: Any, *args: Any) -> tuple[Any, list[str]]:
    """A result, and what the call warned of."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        result = call(*args)
    return result, [str(one.message) for one in given]


def test_resize_gives_the_elements_in_another_shape_and_warns(oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        x = torch.arange(6.0).view(2, 3).t().requires_grad_()
        flat, warned = quietly(x.resize, 6)
        like, again = quietly(x.resize_as, torch.ones(1, 6))
        (flat * torch.arange(6.0)).sum().backward()
        y = torch.ones(4)
        shared = quietly(y.resize, 2, 2)[0].data_ptr() == y.data_ptr()
        found.append((flat.tolist(), warned, like.tolist(), again, x.grad.tolist(), shared))
    assert found[1] == found[0]


def sized(torch: Any) -> None:
    quietly(torch.ones(2, 2).resize, 3)


def sized_as(torch: Any) -> None:
    quietly(torch.ones(2, 2).resize_as, torch.ones(3, 2))


@pytest.mark.parametrize("call", [sized, sized_as])
def test_another_number_of_elements_is_refused(call: Any, oracle: Any) -> None:
    same_refusal(oracle, call)


@pytest.mark.parametrize("name", ["float32", "float16", "bool", "int64", "complex64", "bfloat16", "uint16"])
def test_the_type_of_the_storage(name: str, oracle: Any) -> None:
    kinds = [quietly(torch.zeros(2, dtype=getattr(torch, name)).storage_type)[0] for torch in (oracle, glasstorch)]
    assert getattr(kinds[1], "__name__", None) == getattr(kinds[0], "__name__", None)
    assert quietly(glasstorch.zeros(2, device="meta").storage_type)[0] is None


def test_volatile_says_nothing_and_warns(oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        x = torch.ones(1)
        value, warned = quietly(lambda x=x: x.volatile)
        found.append((value, warned, quietly(setattr, x, "volatile", True)[1]))
    assert found[1] == found[0]


def test_reinforce_is_gone(oracle: Any) -> None:
    for torch in (oracle, glasstorch):
        with pytest.raises(RuntimeError, match=re.escape("reinforce() was removed.\nUse torch.distributions instead")):
            torch.ones(1).reinforce(1.0)


@pytest.mark.parametrize("name", ["xpu", "mtia", "ipu"])
def test_devices_of_other_builds_are_refused(name: str, oracle: Any) -> None:
    messages = []
    for torch in (oracle, glasstorch):
        with pytest.raises((AssertionError, RuntimeError)) as refused:
            getattr(torch.ones(1), name)()
        messages.append((isinstance(refused.value, AssertionError), str(refused.value)[:30]))
    assert messages[1] == messages[0]


def test_what_a_module_takes_from_a_state_dict(oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        mine, other = torch.zeros(2), torch.ones(2, requires_grad=True)
        filled, taken = mine.module_load(other), mine.module_load(other, assign=True)
        found.append((filled.tolist(), filled.data_ptr() == mine.data_ptr(), filled.requires_grad))
        found[-1] += (taken.data_ptr() == other.data_ptr(), taken.requires_grad, torch.is_distributed(taken))
    assert found[1] == found[0]


def test_the_names_of_python_2_call_and_ask_what_pytorchs_do(torch: Any) -> None:
    asked: list[str] = []

    class Asking(torch.Tensor):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(torch.overrides.resolve_name(func))
            return super().__torch_function__(func, types, args, kwargs)

    plain = torch.tensor([2.5])
    x = plain.as_subclass(Asking)
    found = x.__div__(2), x.__long__(), x.__nonzero__(), x.__idiv__(2)
    assert asked == ["torch.Tensor.div", "torch.Tensor.__int__", "torch.Tensor.__bool__", "torch.Tensor.div_"]
    assert found[1:3] == (2, True)
    assert found[3] is x
    assert plain.tolist() == [1.25]

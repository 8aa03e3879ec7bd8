"""Do two tensors take each other's place as in PyTorch?"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.refusals import same_refusal


@pytest.fixture
def oracle() -> Any:
    return pytest.importorskip("torch")


def everything(torch: Any) -> list[Any]:
    """What can be seen of two tensors before and after the exchange."""
    found = []
    plain, leaf = torch.zeros(3, dtype=torch.int64), torch.ones(2, requires_grad=True)
    plain.note = "plain"
    torch.utils.swap_tensors(plain, leaf)
    found += [plain.tolist(), leaf.tolist(), plain.requires_grad, leaf.dtype == torch.int64]
    found += [leaf.note, hasattr(plain, "note")]
    (plain * 3).sum().backward()
    found += [plain.grad.tolist(), leaf.grad]
    parameter = torch.nn.Parameter(torch.ones(2))
    torch.utils.swap_tensors(parameter, plain)
    found += [isinstance(plain, torch.nn.Parameter), isinstance(parameter, torch.nn.Parameter), parameter.grad.tolist()]
    return found


def test_everything_but_the_identity_is_exchanged(oracle: Any) -> None:
    assert everything(glasstorch) == everything(oracle)


def test_a_layer_has_the_new_weight(oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        layer, weight = torch.nn.Linear(2, 1, bias=False), torch.nn.Parameter(torch.tensor([[2.0, 3.0]]))
        kept = layer.weight
        torch.utils.swap_tensors(kept, weight)
        layer(torch.ones(2)).backward()
        found.append((layer.weight is kept, layer.weight.tolist(), kept.grad.tolist()))
    assert found[1] == found[0]


def test_a_view_stays_one_of_its_base(oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        base, other = torch.ones(4), torch.zeros(2)
        view = base[:2]
        torch.utils.swap_tensors(view, other)
        other.add_(1)
        found.append((base.tolist(), other._base is base, view._base))
    assert found[1] == found[0]


def saved(torch: Any) -> None:
    leaf = torch.ones(2, requires_grad=True)
    product = leaf * leaf
    torch.utils.swap_tensors(leaf, torch.ones(2))
    product.sum().backward()


def reached(torch: Any) -> None:
    leaf = torch.ones(2, requires_grad=True)
    double = leaf * 2
    torch.utils.swap_tensors(leaf, torch.ones(2))
    double.sum().backward()


def weakly_held(torch: Any) -> None:
    tensor = torch.ones(2)
    reference = weakref.ref(tensor)
    torch.utils.swap_tensors(torch.zeros(2), tensor)
    reference()


def of_other_slots(torch: Any) -> None:
    kind = type("Noted", (torch.Tensor,), {"__slots__": ("note",)})
    torch.utils.swap_tensors(torch.ones(2), torch.ones(2).as_subclass(kind))


@pytest.mark.parametrize("program", [saved, weakly_held, of_other_slots])
def test_what_is_refused(program: Callable[[Any], None], oracle: Any) -> None:
    same_refusal(oracle, program, more=True)


def test_a_pass_that_began_before_is_refused_where_it_ends(oracle: Any) -> None:
    for torch in (oracle, glasstorch):
        with pytest.raises(RuntimeError, match="AccumulateGrad node that was poisoned by swap_tensors"):
            reached(torch)

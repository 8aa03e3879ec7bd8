"""Do tensors point to their nodes, which have the names of PyTorch's?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def test_a_result_points_to_its_node_and_the_node_to_where_gradients_go(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2)
    c = a * b
    assert (c.requires_grad, c.is_leaf, c.grad_fn.name()) == (True, False, "MulBackward0")
    (first, first_nr), second = c.grad_fn.next_functions
    assert (first.name(), first_nr, second) == ("torch::autograd::AccumulateGrad", 0, (None, 0))
    assert first.variable is a
    assert re.fullmatch(r"<MulBackward0 object at 0x[0-9a-f]+>", repr(c.grad_fn))


def test_nodes_are_named_after_their_operators(torch: Any) -> None:
    a = torch.ones(2, 2, requires_grad=True)
    made = {
        "AddBackward0": a + 1,
        "SubBackward0": a - a,
        "MulBackward0": a * 2,
        "DivBackward0": a / 2,
        "NegBackward0": -a,
        "PowBackward0": a**2,
        "ExpBackward0": a.exp(),
        "ReluBackward0": a.relu(),
        "TBackward0": a.t(),
        "TransposeBackward0": a.transpose(0, 1),
        "ViewBackward0": a.view(4),
        "SelectBackward0": a[0],
        "SliceBackward0": a[:1],
        "UnsqueezeBackward0": a.unsqueeze(0),
        "SumBackward0": a.sum(),
        "SumBackward1": a.sum(0),
        "MeanBackward0": a.mean(),
        "MmBackward0": a @ a,
        "CloneBackward0": a.clone(),
        "CatBackward0": torch.cat([a, a]),
        "ToCopyBackward0": a.double(),
    }
    assert {name: t.grad_fn.name() for name, t in made.items()} == {name: name for name in made}


def test_nodes_of_what_changes_in_place_have_the_names_of_pytorchs(torch: Any) -> None:
    x, row = torch.ones(3, requires_grad=True), torch.tensor([0, 1])

    def changed(change: Callable[[Any], object]) -> str:
        y = x * 1
        change(y)
        return str(y.grad_fn.name())

    assert changed(lambda y: y.copy_(x)) == "torch::autograd::CopyBackwards"
    assert changed(lambda y: y[:1].copy_(x[:1])) == "torch::autograd::CopySlices"
    assert changed(lambda y: y.index_put_((row,), torch.zeros(2))) == "IndexPutBackward0"
    assert changed(lambda y: y.__setitem__(y > 0, 0)) == "IndexPutBackward0"
    assert changed(lambda y: y.remainder_(x)) == "RemainderBackward1"
    assert changed(lambda y: y.add_(x)) == "AddBackward0"


def test_a_node_can_be_called_and_carries_what_a_program_notes(torch: Any) -> None:
    node = (torch.ones(2, requires_grad=True) * 3).grad_fn
    of_tensor, of_number = node(torch.ones(2))
    assert (of_tensor.tolist(), of_number) == ([3, 3], None)
    assert node.metadata == {}
    node.metadata["note"] = 1
    assert node.metadata == {"note": 1}

"""Are nested tensors made, and refused, as in PyTorch?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

MADE = """
N([torch.ones(2, 3), torch.zeros(4, 3)])
N([torch.ones(2, 3), torch.zeros(2, 3)])
N([torch.ones(2, 3), torch.zeros(2, 5)])
N([torch.ones(2, 3), torch.zeros(4, 5)])
N([torch.ones(2, 3), torch.zeros(4)])
N([torch.ones(2, 3), torch.zeros(4, 3, dtype=torch.float64)])
N([])
N([T(1.0), T(2.0)])
N([[1, 2], [3]])
N([[1.0, 2.0], [3.0]], dtype=torch.float64)
N([torch.ones(2), torch.ones(1)], requires_grad=True)
N([torch.ones(2, dtype=torch.int64)], requires_grad=True)
N([torch.ones(2), torch.ones(1)], device='meta').shape[0]
nested.nested_tensor([torch.ones(2)], layout=torch.sparse_coo)
nested.as_nested_tensor([torch.ones(2), torch.ones(3)], layout=jagged)
nested.as_nested_tensor((torch.ones(2), torch.ones(3)), layout=jagged, dtype=torch.float64)
nested.as_nested_tensor(torch.ones(2, 3, 2), layout=jagged)
nested.as_nested_tensor(torch.ones(2), layout=jagged)
nested.as_nested_tensor(3, layout=jagged)
nested.as_nested_tensor([1, 2], layout=jagged)
nested.as_nested_tensor(a, layout=jagged)
nested.as_nested_tensor(a, layout=jagged, dtype=torch.float64)
nested.as_nested_tensor(a)
nested.as_nested_tensor(torch.ones(2, 3), layout=torch.sparse_coo)
J(numbers, offsets)
J(numbers)
J(numbers, lengths=T([2, 4, 1]))
J(numbers, offsets, T([1, 1, 1]))
J(numbers, offsets, jagged_dim=0)
J(torch.ones(2, 7), offsets, jagged_dim=2)
J(numbers, offsets, min_seqlen=1, max_seqlen=4)
J(numbers, T([[0, 7]]))
J(numbers, offsets, T([1, 1]))
J(a, offsets)
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, T([0, 1, 2]), T([2, 3, 1]), layout=jagged)
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, 0, T([2, 3, 1]), layout=jagged)
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, 0, 4, layout=jagged)
nested.narrow(torch.arange(24.).view(3, 4, 2), 2, 0, 4, layout=jagged)
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, 0, T([1, 2]), layout=jagged)
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, 'a', 4, layout=jagged)
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, 0.5, T([1, 2]))
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, T([0]), T([1, 2]))
nested.narrow(torch.arange(24.).view(3, 4, 2), 1, 0, 4, layout=torch.sparse_coo)
nested.masked_select(numbers, numbers > 0)
nested.masked_select(numbers, T([False]))
nested.masked_select(numbers.to_sparse(), T([False]))
nested.masked_select(numbers, (numbers > 0).to_sparse())
J(numbers.clone().requires_grad_(), offsets).requires_grad
J(numbers, offsets)._is_view()
""".strip().splitlines()


@pytest.mark.parametrize("expression", MADE)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_what_is_not_here_is_refused_by_name() -> None:
    tensors = [glasstorch.ones(2), glasstorch.ones(3)]
    for call in (
        lambda: glasstorch.nested.nested_tensor(tensors),
        lambda: glasstorch.nested.as_nested_tensor(tensors),
        lambda: glasstorch.nested.narrow(glasstorch.ones(2, 3), 1, 0, 2),
    ):
        with pytest.raises(NotImplementedError, match=r"give layout=torch\.jagged"):
            call()


def test_an_addition_of_plain_tensors_runs_as_many_lines_as_before() -> None:
    program = """
import glasstorch
from tests.steps import lines_run
x, y = glasstorch.ones(8), glasstorch.ones(8)
calls = [lambda: x + y, lambda: x[0], lambda: x.view(2, 4), lambda: x.sum()]
for call in calls:
    call()
before = [lines_run(call) for call in calls]
glasstorch.nested.nested_tensor([x, y], layout=glasstorch.jagged).sin()
for call in calls:
    call()
print(before == [lines_run(call) for call in calls], before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True"), done.stdout

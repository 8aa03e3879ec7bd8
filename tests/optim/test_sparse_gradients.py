"""Do optimizers take sparse gradients, or refuse them, as PyTorch's do?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch
from tests.sparse.quiet import invariants_switched_off


@pytest.fixture(autouse=True)
def _without_the_warning() -> Iterator[None]:
    with invariants_switched_off():
        yield


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda torch, p: torch.optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda torch, p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Nesterov": lambda torch, p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "SGD of several": lambda torch, p: torch.optim.SGD(p, lr=0.1, foreach=True),
    "Adagrad": lambda torch, p: torch.optim.Adagrad(p, lr=0.1),
    "Adagrad of several": lambda torch, p: torch.optim.Adagrad(p, lr=0.1, foreach=True),
    "SparseAdam": lambda torch, p: torch.optim.SparseAdam(p, lr=0.1),
    "SparseAdam upwards": lambda torch, p: torch.optim.SparseAdam(p, lr=0.1, maximize=True, betas=(0.5, 0.9)),
}
REFUSED = "Adam AdamW RMSprop Adadelta Adamax NAdam RAdam ASGD Rprop Adafactor".split()  # noqa: SIM905


def trained(torch: Any, make: Callable[[Any, Any], Any], module: str = "Embedding", **options: Any) -> list[float]:
    """The table after three steps, row after row."""
    table = getattr(torch.nn, module)(6, 2, sparse=True, **options)
    with torch.no_grad():
        table.weight.copy_(torch.arange(12.0).reshape(6, 2) / 10)
    optimizer = make(torch, list(table.parameters()))
    for k in range(3):
        optimizer.zero_grad()
        table(torch.tensor([[1, 2], [2, 4 - k]])).pow(2).sum().backward()
        assert table.weight.grad.is_sparse
        optimizer.step()
    return table.weight.detach().reshape(12).tolist()


@pytest.mark.parametrize("name", STEPS)
def test_three_steps_lead_where_pytorchs_lead(require: Callable[[str], Any], name: str) -> None:
    assert trained(glasstorch, STEPS[name]) == pytest.approx(trained(require("torch"), STEPS[name]), abs=2e-5)


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("left_out", [None, 2])
def test_bags_have_sparse_gradients_too(require: Callable[[str], Any], mode: str, left_out: int | None) -> None:
    found = [
        trained(library, STEPS["SGD"], "EmbeddingBag", mode=mode, padding_idx=left_out)
        for library in (glasstorch, require("torch"))
    ]
    assert found[0] == pytest.approx(found[1], abs=2e-5)


def test_a_row_that_is_left_out_has_no_gradient(torch: Any) -> None:
    table = torch.nn.Embedding(6, 2, sparse=True, padding_idx=2)
    table(torch.tensor([1, 2, 2])).sum().backward()
    assert table.weight.grad._indices().tolist() == [[1]]


@pytest.mark.parametrize("name", REFUSED)
def test_an_optimizer_without_sparse_steps_refuses_by_name(torch: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        trained(torch, lambda torch, p: getattr(torch.optim, name)(p, lr=0.1))


def test_sparse_adam_refuses_dense_gradients_and_sparse_parameters(torch: Any) -> None:
    weight = torch.ones(2, requires_grad=True)
    weight.sum().backward()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        torch.optim.SparseAdam([weight]).step()
    with pytest.raises(ValueError, match=r"Sparse params at indices \[\[0, 0\]\]: SparseAdam requires dense parameter"):
        torch.optim.SparseAdam([torch.eye(2).to_sparse().requires_grad_()])


@pytest.mark.parametrize("name", ["SGD", "Adagrad"])
def test_weight_decay_does_not_go_with_sparse_gradients(torch: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match=r"weight_decay option is not compatible|not supported"):
        trained(torch, lambda torch, p: getattr(torch.optim, name)(p, lr=0.1, weight_decay=0.1))

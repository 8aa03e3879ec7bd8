"""Does a small program that goes through several parts of the library give what its user expects?

The tests of one part lie with that part. These fail whichever part is at fault, and do not say which: a repair
carries them (decisions/0032).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch.devices import runtime
from glasstorch.library import Library
from glasstorch.utils._python_dispatch import TorchDispatchMode


@pytest.fixture
def simulated() -> Iterator[None]:
    """Leaves no simulated device on."""
    yield
    runtime.use_driver(None)


@pytest.mark.parametrize("kind", ["int16", "float32", "float64"])
def test_the_bytes_of_any_row_are_those_that_numpy_gives(kind: str) -> None:
    table = torch.arange(24).to(getattr(torch, kind)).view(4, 6)
    for row in range(4):
        ours = table[row:, 2:].contiguous()[1:].view(torch.uint8).flatten().tolist()
        assert bytes(ours) == table.numpy()[row:, 2:][1:].tobytes()
        assert bytes(table[row].view(torch.uint8).tolist()) == table.numpy()[row].tobytes()


def test_a_setting_in_float64_does_not_widen_what_is_trained_in_float32() -> None:
    weights, momentum = torch.ones(3), torch.zeros(3)
    rate, decay = (torch.tensor(value, dtype=torch.float64) for value in (0.1, 0.5))
    for _ in range(3):
        momentum = decay * momentum + weights
        weights = torch.where(weights > rate, weights - rate * momentum, weights)
    assert (weights.dtype, momentum.dtype) == (torch.float32, torch.float32)
    assert np.allclose(weights.tolist(), 0.9 * 0.9 - 0.05 - (0.5 * 1.4 + 0.76) * 0.1)


def test_a_kernel_that_is_registered_after_a_first_run_is_called_as_one_before_it() -> None:
    x, classes = torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]), torch.tensor([2, 0])
    seen: list[tuple[int, ...]] = []

    def noting(scores: Any, *rest: Any) -> Any:
        seen.append(tuple(scores.shape))
        return torch.tensor(7.0)

    for calls in (1, 2):  # the second time, the loss has been computed with ours
        with Library("aten", "IMPL") as library:
            library.impl("nll_loss_nd", noting, "", allow_override=True)
            assert torch.nn.functional.cross_entropy(x, classes).item() == 7
        assert seen == [(2, 3)] * calls
        assert torch.nn.functional.cross_entropy(x, classes).tolist() != 7


@pytest.mark.parametrize("saved", [lambda y: y.exp(), lambda y: (y * 3).sin(), lambda y: (y * 2) * (y + 1)])
def test_a_change_of_what_is_saved_is_noticed_through_any_alias(saved: Any) -> None:
    aliases: list[Callable[[Any], Any]] = [
        lambda t: t,
        lambda t: t[1:],
        lambda t: t.detach(),
        lambda t: t.detach().view(3, 1),
    ]
    for alias in aliases:
        x = torch.tensor([0.5, 1.0, 3.0], requires_grad=True)
        y = x * 2
        total = saved(y).sum() + (y * y).sum()
        with torch.no_grad():
            alias(y).zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            total.backward()


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_memory_that_another_stream_reads_is_not_given_out_again(order: str) -> None:
    torch.cuda.use_simulator(order=order, check_streams=False)
    side = torch.cuda.Stream()
    x = torch.full((500,), 2.0, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        doubled = x * 2
    x.record_stream(side)
    del x
    torch.cuda.current_stream().synchronize()
    later = torch.full((500,), 7.0, device="cuda")
    torch.cuda.current_stream().synchronize()
    side.synchronize()
    assert (doubled.sum().item(), later.sum().item()) == (2000, 3500)


def test_a_traced_step_reads_a_state_after_it_was_written() -> None:
    def step(x: Any, state: Any) -> Any:
        row, change = state[1], x * 2
        state.mul_(change)
        largest, total = change.max(), change.sum()
        return change - row, largest, total

    x = torch.tensor([1.0, 2.0, 3.0])
    traced = torch.jit.trace(step, (x, torch.ones(2, 3)), check_trace=False)
    for given, wanted in zip(traced(x, torch.ones(2, 3)), step(x, torch.ones(2, 3)), strict=True):
        assert given.tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
def test_a_converted_network_computes_in_the_dtype_that_it_was_converted_to(kind: str) -> None:
    class Places(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.arange(12).view(3, 4) / 7, persistent=False)

        def forward(self, tokens: Any) -> Any:
            return tokens + self.table

    dtype = getattr(torch, kind)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), Places(), torch.nn.BatchNorm1d(4), torch.nn.ReLU()).to(dtype)
    result = net(torch.ones(3, 4, dtype=dtype))
    assert (result.dtype, result.shape) == (dtype, (3, 4))


@pytest.mark.parametrize("width", [1, 2, 3, 17])
def test_what_is_drawn_in_a_fork_changes_nothing_after_it(width: int) -> None:
    def run(looks: bool) -> Any:
        torch.manual_seed(3)
        found = []
        for _ in range(3):
            found += torch.randn(4).tolist()
            if looks:
                with torch.random.fork_rng():
                    torch.nn.init.normal_(torch.empty(width))
        return found

    assert run(looks=True) == run(looks=False)


@pytest.mark.parametrize("form", ["foreach", "fused"])
def test_a_network_whose_gradients_lie_in_one_block_learns_as_any_other(form: str) -> None:
    def losses(in_one_block: bool, **options: Any) -> list[float]:
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        params = list(net.parameters())
        block = torch.zeros(sum(p.numel() for p in params))
        optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9, **options)
        found = []
        for step in range(4):
            if in_one_block and step == 0:
                for p, part in zip(params, block.split([p.numel() for p in params]), strict=True):
                    p.grad = part.view_as(p)
            if in_one_block:
                block.zero_()
            else:
                optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    assert np.allclose(losses(True, **{form: True}), losses(False), rtol=1e-5)


def test_products_in_half_precision_follow_weights_that_change_from_step_to_step() -> None:
    weights, batch = torch.ones(4, 1, requires_grad=True), torch.ones(2, 4)
    seen = []
    for _ in range(3):
        with torch.autocast("cpu"):
            answers = batch @ weights
            with torch.autocast("cpu", enabled=False):
                seen.append(answers.float().sum().item())
        with torch.no_grad():
            weights += 1
    assert seen == [8, 16, 24]


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_a_batch_in_several_parts_has_the_gradient_of_the_whole(parts: int) -> None:
    tokens, positions = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    batch = torch.arange(12).view(4, 3) / 2
    for part in batch.split(4 // parts):
        (part * (tokens + positions)).sum().backward()
    assert tokens.grad.tolist() == positions.grad.tolist() == batch.sum(0).tolist()


def test_columns_are_centred_and_scaled_along_a_dimension_that_is_named() -> None:
    table = torch.tensor([[1.0, 10.0], [3.0, 50.0]])
    centred = table - table.mean(dim=0)
    assert (centred / centred.abs().amax(dim=0)).tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    assert table.sum(dim=1).tolist() == [11.0, 53.0]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_count_of_operators_around_other_counts_has_what_all_of_them_have(depth: int) -> None:
    class Counting(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.count += 1
            return func(*args, **(kwargs or {}))

    counts = [Counting() for _ in range(depth)]
    x = torch.ones(2)
    with ExitStack() as stack:
        for count in counts:
            stack.enter_context(count)
        assert (x.neg() + x).tolist() == [0, 0]
    assert [count.count for count in counts] == [2] * depth

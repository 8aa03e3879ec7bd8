"""Does a compiled checkpoint use the random numbers again that it drew first, and do gradients know them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._functorch.aot_autograd import aot_function
from glasstorch._functorch.compilers import nop
from glasstorch._functorch.partitioners import default_partition, min_cut_rematerialization_partition
from glasstorch.nn.functional import dropout, gumbel_softmax, rrelu
from glasstorch.utils.checkpoint import checkpoint


def inner(x: Any) -> Any:
    return dropout(x.cos(), 0.5).sin()


def outer(x: Any) -> Any:
    return dropout(once(x) + torch.rand(4), 0.5).exp()


def once(x: Any) -> Any:
    return checkpoint(inner, x, use_reentrant=False) * 2


def twice_of_one_argument(x: Any) -> Any:
    return once(x) + once(x).cos()


def nested(x: Any) -> Any:
    return checkpoint(outer, once(x), use_reentrant=False)


def of_no_checkpoint(x: Any) -> Any:
    mask = torch.empty(4).bernoulli_(0.5)
    return (dropout(x, 0.5) * mask).sin() * mask + rrelu(x - 1.5, training=True) + gumbel_softmax(x)


def gradients(run: Callable[[Any], Any], seed: int) -> tuple[Any, Any]:
    x = torch.linspace(1, 2, 4, requires_grad=True)
    torch.manual_seed(seed)
    result = run(x)
    return result, torch.autograd.grad(result.sum(), x)[0]


@pytest.mark.parametrize("partition", [default_partition, min_cut_rematerialization_partition])
@pytest.mark.parametrize("fn", [once, twice_of_one_argument, nested, of_no_checkpoint])
def test_it_gives_what_eager_mode_gives(fn: Callable[[Any], Any], partition: Any) -> None:
    run = aot_function(fn, nop, partition_fn=partition)
    for seed in range(3):
        for ours, wanted in zip(gradients(run, seed), gradients(fn, seed), strict=True):
            assert torch.allclose(ours, wanted, atol=1e-6)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_checkpoints(backend: str) -> None:
    run = torch.compile(twice_of_one_argument, backend=backend)
    ours, wanted = gradients(run, 1), gradients(twice_of_one_argument, 1)
    assert all(map(torch.allclose, ours, wanted))


def test_a_checkpoint_that_draws_anew() -> None:
    """Without `preserve_rng_state` other numbers are drawn, as in eager mode."""
    run = aot_function(lambda x: checkpoint(inner, x, use_reentrant=False, preserve_rng_state=False), nop)
    x = torch.linspace(1, 2, 64, requires_grad=True)
    result = run(x)
    dropped = result == 0
    assert not torch.equal(torch.autograd.grad(result.sum(), x)[0] == 0, dropped)

"""Does a batch norm become part of the convolution before it, where nobody would notice?"""

from __future__ import annotations

import sys
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._dynamo.utils import counters

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")

nn, F = torch.nn, torch.nn.functional
COUNT = "fuse_conv_bn"


def net(dims: int, *, bias: bool = True, affine: bool = True, **kwargs: Any) -> Any:
    """A convolution and a batch norm whose statistics are not those of the beginning."""
    torch.manual_seed(0)
    convolution = getattr(nn, f"Conv{dims}d")(4, 6, 3, bias=bias, **kwargs)
    norm = getattr(nn, f"BatchNorm{dims}d")(6, affine=affine)
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    if affine:
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    return nn.Sequential(convolution, norm).eval()


def compiled(module: Any, x: Any) -> tuple[Any, int]:
    """What a compiled module gives, and how often a batch norm was folded."""
    counters.clear()
    found = torch.compile(module)(x)
    return found, counters["inductor"][COUNT]


@pytest.mark.parametrize(
    "made",
    [net(2), net(1, bias=False), net(2, affine=False, groups=2, padding=1), net(2, padding="same", dilation=2)],
    ids=["2", "1, no bias", "groups", "same"],
)
def test_it_is_folded_and_gives_the_same(made: Any) -> None:
    x = torch.randn(2, 4, 9, 9) if isinstance(made[0], nn.Conv2d) else torch.randn(3, 4, 50)
    with torch.no_grad():
        found, count = compiled(made, x)
        torch.testing.assert_close(found, made(x), rtol=1e-4, atol=1e-5)
    assert count == 1


def test_weights_that_change_are_seen() -> None:
    made, x = net(2), torch.randn(2, 4, 9, 9)
    run = torch.compile(made)
    with torch.no_grad():
        run(x)
        made[0].weight.mul_(3)
        made[1].running_var.add_(1)
        torch.testing.assert_close(run(x), made(x), rtol=1e-4, atol=1e-5)


def test_it_is_left_while_gradients_are_recorded() -> None:
    made, x = net(2), torch.randn(2, 4, 9, 9)
    found, count = compiled(made, x)
    assert count == 0
    weights = torch.randn(*found.shape)
    wanted = torch.autograd.grad((made(x) * weights).sum(), list(made.parameters()))
    of_found = torch.autograd.grad((found * weights).sum(), list(made.parameters()))
    torch.testing.assert_close(of_found, wanted, rtol=1e-4, atol=1e-5)


def test_near_misses_are_left() -> None:
    x = torch.randn(2, 4, 9, 9)
    made = net(2)

    class Shown(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = made

        def forward(self, x: Any) -> Any:
            y = self.inner[0](x)
            return self.inner[1](y) + y

    class Training(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = made

        def forward(self, x: Any) -> Any:
            return F.batch_norm(self.inner[0](x), None, None, training=True)

    with torch.no_grad():
        for module in (Shown(), Training(), nn.Sequential(made[0], nn.ReLU(), made[1])):
            found, count = compiled(module.eval(), x)
            assert count == 0
            torch.testing.assert_close(found, module(x), rtol=1e-4, atol=1e-5)
        assert compiled(made, x[:1, :, :3, :3])[1] == 0  # the output is one element for each channel

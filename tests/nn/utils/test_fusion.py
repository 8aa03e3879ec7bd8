"""Are layers fused with the normalization behind them as PyTorch fuses them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import Program, assert_same


def numbered(module: Any, torch: Any) -> Any:
    """A module in evaluation mode whose tensors hold numbers that differ; variances are positive."""
    with torch.no_grad():
        for i, tensor in enumerate((*module.parameters(), *module.buffers())):
            if tensor.is_floating_point():
                tensor.copy_((torch.arange(float(tensor.numel())).view(tensor.shape) + 3 * i).sin().abs() + 0.25)
    return module.eval()


def shown(module: Any) -> Any:
    return (
        repr(module), module.weight.tolist(), module.bias.tolist(), str(module.weight.dtype), str(module.bias.dtype),
        module.weight.requires_grad, module.bias.requires_grad, list(module.state_dict()),
        type(module.weight).__name__, module.training,
    )  # fmt: skip


def convolutions(torch: Any) -> Any:
    found = []
    for dims in (1, 2, 3):
        for name, transpose in ((f"Conv{dims}d", False), (f"ConvTranspose{dims}d", True)):
            for bias in (True, False):
                for affine in (True, False):
                    conv = numbered(getattr(torch.nn, name)(2, 3, 2, bias=bias), torch)
                    bn = numbered(getattr(torch.nn, f"BatchNorm{dims}d")(3, affine=affine), torch)
                    fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
                    x = (torch.arange(2.0 * 3**dims).view(1, 2, *(3,) * dims) + 1).cos()
                    found.append((shown(fused), (fused(x) - bn(conv(x))).abs().max().item() < 1e-5, fused is conv))
    return found


def groups_of_channels(torch: Any) -> Any:
    conv = numbered(torch.nn.Conv2d(4, 4, 2, groups=2), torch)
    return shown(torch.nn.utils.fuse_conv_bn_eval(conv, numbered(torch.nn.BatchNorm2d(4), torch)))


def the_originals_stay(torch: Any) -> Any:
    conv, bn = numbered(torch.nn.Conv2d(2, 3, 2), torch), numbered(torch.nn.BatchNorm2d(3), torch)
    before = shown(conv)
    torch.nn.utils.fuse_conv_bn_eval(conv, bn)
    return before == shown(conv)


def frozen(torch: Any) -> Any:
    conv, bn = numbered(torch.nn.Conv2d(2, 3, 2), torch), numbered(torch.nn.BatchNorm2d(3), torch)
    conv.weight.requires_grad_(False)
    return shown(torch.nn.utils.fuse_conv_bn_eval(conv, bn))


def half_precision(torch: Any) -> Any:
    found = []
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        conv, bn = numbered(torch.nn.Conv1d(2, 3, 2), torch).to(dtype), numbered(torch.nn.BatchNorm1d(3), torch)
        linear = numbered(torch.nn.Linear(2, 3), torch)
        linear.weight.data = linear.weight.data.to(dtype)
        fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn), torch.nn.utils.fuse_linear_bn_eval(linear, bn)
        found.append([(str(m.weight.dtype), str(m.bias.dtype)) for m in fused])
    return found


def tensors(torch: Any) -> Any:
    one = torch.arange(1.0, 4.0)
    fused = torch.nn.utils.fuse_conv_bn_weights(torch.ones(3, 2, 1), None, one, one, 1e-3, None, None)
    other = torch.nn.utils.fuse_linear_bn_weights(torch.ones(3, 2), None, one, one, 1e-3, one, one)
    return [(type(t).__name__, t.tolist(), t.requires_grad) for t in (*fused, *other)]


def linear_layers(torch: Any) -> Any:
    found = []
    for bias in (True, False):
        for features in (3, 1):
            linear = numbered(torch.nn.Linear(2, 3, bias=bias), torch)
            bn = numbered(torch.nn.BatchNorm1d(features), torch)
            found.append(shown(torch.nn.utils.fuse_linear_bn_eval(linear, bn)))
    return found


def other_numbers_of_features(torch: Any) -> Any:
    linear = numbered(torch.nn.Linear(2, 3), torch)
    torch.nn.utils.fuse_linear_bn_eval(linear, numbered(torch.nn.BatchNorm1d(2), torch))


def linear_without_affine(torch: Any) -> Any:
    linear = numbered(torch.nn.Linear(2, 3), torch)
    torch.nn.utils.fuse_linear_bn_eval(linear, numbered(torch.nn.BatchNorm1d(3, affine=False), torch))


def in_training(torch: Any) -> Any:
    torch.nn.utils.fuse_conv_bn_eval(torch.nn.Conv2d(2, 3, 2), torch.nn.BatchNorm2d(3).eval())


def linear_in_training(torch: Any) -> Any:
    torch.nn.utils.fuse_linear_bn_eval(torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(3))


def without_statistics(torch: Any) -> Any:
    bn = torch.nn.BatchNorm2d(3, track_running_stats=False).eval()
    torch.nn.utils.fuse_conv_bn_eval(torch.nn.Conv2d(2, 3, 2).eval(), bn)


def linear_without_statistics(torch: Any) -> Any:
    bn = torch.nn.BatchNorm1d(3, track_running_stats=False).eval()
    torch.nn.utils.fuse_linear_bn_eval(torch.nn.Linear(2, 3).eval(), bn)


PROGRAMS = [
    convolutions, groups_of_channels, the_originals_stay, frozen, half_precision, tensors, linear_layers,
    other_numbers_of_features, linear_without_affine, in_training, linear_in_training, without_statistics,
    linear_without_statistics,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"), within=1e-6)

"""Do the weights of convolutions come to lie in the order that PyTorch gives them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import Program, assert_same

FORMATS = ("channels_last", "contiguous_format", "preserve_format")
FORMATS_3D = ("channels_last_3d", "contiguous_format", "preserve_format")


def network(torch: Any) -> Any:
    nn = torch.nn
    layers = [
        nn.Conv1d(2, 3, 2), nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(2, 3, (1, 2)), nn.Conv2d(1, 3, 1),
        nn.Conv2d(2, 3, 1),
        nn.Conv3d(2, 3, 2), nn.ConvTranspose3d(2, 3, (1, 2, 1)), nn.Conv3d(1, 2, 1), nn.Linear(2, 2),
        nn.BatchNorm2d(3),
    ]  # fmt: skip
    net = nn.Sequential(*layers[:5], nn.Sequential(*layers[5:]))
    with torch.no_grad():
        for i, parameter in enumerate(net.parameters()):
            parameter.copy_(torch.arange(parameter.numel()).view(parameter.shape) + i)
    return net


def converted(torch: Any, name: str, formats: tuple[str, ...]) -> Any:
    found = []
    for format in formats:
        net = network(torch)
        weights = list(net.parameters())
        returned = getattr(torch.nn.utils, name)(net, getattr(torch, format))
        found.append((
            returned is net,
            [(p.stride(), p.tolist()) for p in net.parameters()],
            all(p is before for p, before in zip(net.parameters(), weights, strict=True)),
        ))  # fmt: skip
    return found


def images(torch: Any) -> Any:
    return converted(torch, "convert_conv2d_weight_memory_format", FORMATS)


def volumes(torch: Any) -> Any:
    return converted(torch, "convert_conv3d_weight_memory_format", FORMATS_3D)


def there_and_back(torch: Any) -> Any:
    net = network(torch)
    convert = torch.nn.utils.convert_conv2d_weight_memory_format
    convert(convert(net, torch.channels_last), torch.contiguous_format)
    return [p.stride() for p in net.parameters()]


def a_module_alone(torch: Any) -> Any:
    layer = torch.nn.Conv2d(2, 3, 2)
    torch.nn.utils.convert_conv2d_weight_memory_format(layer, torch.channels_last)
    out = layer(torch.ones(1, 2, 3, 3))
    out.sum().backward()
    return layer.weight.stride(), layer.weight.requires_grad, list(out.shape)


def a_format_of_another_rank(torch: Any) -> Any:
    torch.nn.utils.convert_conv2d_weight_memory_format(network(torch), torch.channels_last_3d)


def volumes_as_images(torch: Any) -> Any:
    torch.nn.utils.convert_conv3d_weight_memory_format(network(torch), torch.channels_last)


def no_format(torch: Any) -> Any:
    torch.nn.utils.convert_conv2d_weight_memory_format(network(torch), "channels_last")


@pytest.mark.parametrize(
    "program",
    [images, volumes, there_and_back, a_module_alone, a_format_of_another_rank, volumes_as_images],
    ids=lambda program: program.__name__,
)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))


def test_a_word_is_no_format(require: Callable[[str], Any]) -> None:
    assert_same(no_format, require("torch"), words=False)

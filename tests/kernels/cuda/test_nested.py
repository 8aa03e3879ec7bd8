"""Do nested tensors compute on a CUDA device what they compute on the CPU, with their gradients?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch as torch
from tests.devices.devices import Devices

F = torch.nn.functional
SEQUENCES = [torch.arange(6.0).view(2, 3) / 4, torch.arange(12.0).view(4, 3) / 5, torch.ones(1, 3)]
WEIGHT = torch.arange(9.0).view(3, 3) / 9


def attend(x: Any, w: Any) -> Any:
    swapped = F.linear(x, w).unflatten(-1, [1, 3]).transpose(1, 2)
    return F.scaled_dot_product_attention(swapped, swapped, swapped).transpose(1, 2)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "product with a number": lambda x, w: x * 2,
    "a strided tensor broadcast": lambda x, w: x + w.unsqueeze(1),
    "sum of each sequence": lambda x, w: x.sum(1),
    "maximum of each sequence": lambda x, w: x.amax(1),
    "softmax of each sequence": lambda x, w: F.softmax(x, 1),
    "padding": lambda x, w: x.to_padded_tensor(-1.0),
    "padding to fewer": lambda x, w: x.to_padded_tensor(-1.0, (3, 4, 3)),
    "product with a matrix": lambda x, w: x @ w,
    "attention": attend,
}


def values_of(result: Any) -> Any:
    return result.values() if result.is_nested else result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_and_its_gradient_are_those_of_the_cpu(cuda: Devices, name: str) -> None:
    found = []
    for device in ("cpu", cuda.device):
        x = torch.nested.nested_tensor(SEQUENCES, layout=torch.jagged, device=device, requires_grad=True)
        result = values_of(FUNCTIONS[name](x, WEIGHT.to(device)))
        (result * result).sum().backward()
        assert x.grad is not None
        found.append((result.cpu(), x.grad.values().cpu()))
    for here, there in zip(*found, strict=True):
        assert torch.allclose(here, there, atol=1e-5)


def test_a_copy_on_another_device_has_the_same_symbol_and_other_keys(cuda: Devices) -> None:
    x = torch.nested.nested_tensor(SEQUENCES, layout=torch.jagged, device=cuda.device)
    assert x.cpu().shape == x.shape
    assert "NestedTensorCUDA" in str(torch._C._dispatch_keys(x))
    assert x.offsets().device == x.device

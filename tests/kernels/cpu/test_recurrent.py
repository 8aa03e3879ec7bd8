"""Does a layer of an LSTM, computed over all steps at once, give what its cells give one step after another?"""

from __future__ import annotations

import pytest

import glasstorch as torch
from glasstorch import Tensor

LSTM = 2


def drawn(width: int, dtype: torch.dtype) -> list[Tensor]:
    """Seven steps of three sequences of five features, the weights, the biases, and the states."""
    torch.manual_seed(0)
    gates = 4 * width
    shapes = (7, 3, 5), (gates, 5), (gates, width), (gates,), (gates,), (3, width), (3, width)
    return [torch.randn(*shape, dtype=dtype).requires_grad_() for shape in shapes]


def at_once(tensors: list[Tensor], reverse: bool) -> list[Tensor]:
    settings = (reverse, [], LSTM, tensors[2].size(1), 1, True, False, False, True)
    return list(torch.ops.aten.mkldnn_rnn_layer(*tensors, *settings)[:3])


def by_cells(tensors: list[Tensor], reverse: bool) -> list[Tensor]:
    inputs, w_ih, w_hh, b_ih, b_hh, hidden, cell = tensors
    outputs = []
    for step in (reversed if reverse else iter)(range(len(inputs))):
        hidden, cell = torch.lstm_cell(inputs[step], (hidden, cell), w_ih, w_hh, b_ih, b_hh)
        outputs.append(hidden)
    return [torch.stack(outputs[::-1] if reverse else outputs), hidden, cell]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("width", [1, 2, 6])
def test_a_layer_gives_what_its_cells_give(width: int, reverse: bool, dtype: torch.dtype) -> None:
    results, gradients = [], []
    for run in (at_once, by_cells):
        tensors = drawn(width, dtype)
        found = run(tensors, reverse)
        weights = [torch.linspace(-1, 1, one.numel(), dtype=dtype).view_as(one) for one in found]
        results.append(found)
        gradients.append(torch.autograd.grad(found, tensors, weights))
    for one, other in zip([*results[0], *gradients[0]], [*results[1], *gradients[1]], strict=True):
        torch.testing.assert_close(one, other)

"""Which random calls reach a layer of an LSTM?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of
from tests.kernels.cpu.fast.held import Call

LSTM = 2


def drawn(rng: np.random.Generator) -> tuple[list[Tensor], list[Any]]:
    """The inputs of some steps, weights, biases and states; and the settings of the operator."""
    steps, batch, features, width = (int(n) for n in rng.integers(1, 6, 4))
    dtype, special = one_of(rng, (*FLOATS, *FLOATS, *HALVES)), one_of(rng, [0, 0, 0, 0.01])
    gates, state = 4 * width, [batch, width]
    shapes = [steps, batch, features], [gates, features], [gates, width], [gates], [gates], state, state
    tensors = [laid_out(rng, shape, dtype, special) for shape in shapes]
    return tensors, [bool(rng.integers(2)), [], LSTM, width, 1, True, False, False, True]


def layer(settings: list[Any], *tensors: Tensor) -> tuple[Tensor, ...]:
    outputs, hidden, cell, _ = torch.ops.aten.mkldnn_rnn_layer(*tensors, *settings)
    return outputs, hidden, cell


def forward(rng: np.random.Generator) -> Call:
    tensors, settings = drawn(rng)
    return Call(layer, (settings, *tensors))


def gradients(settings: list[Any], *tensors: Tensor) -> tuple[Tensor, ...]:
    """Of what reads the outputs, the last state, or both."""
    leaves = [tensor.detach().requires_grad_() for tensor in tensors]
    outputs, hidden, cell = layer(settings, *leaves)
    read = outputs.sum() if settings[0] else outputs.sum() + (hidden * cell).sum()
    return torch.autograd.grad(read, leaves)


def backward(rng: np.random.Generator) -> Call:
    tensors, settings = drawn(rng)
    return Call(gradients, (settings, *tensors))


CALLS = {"cpu.recurrent.forward": forward, "cpu.recurrent.backward": backward}

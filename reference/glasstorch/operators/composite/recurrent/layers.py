"""How does a layer carry its state over all steps of a sequence?

A layer's runner takes the inputs of all steps, the state before the first one, the weights and the direction; it gives
the outputs of all steps and the state after the last one. What the input gives to the gates does not depend on the
state, and is one product before the loop.

# Note [Packed sequences]
A batch of sequences of several lengths, the longest first, is packed as the first steps of all, then the second steps
of those that have one, and so on; `batch_sizes` says how many each step has. Forward, the states of sequences that have
ended are put aside; backward, sequences begin as their last step is reached.

Mirrors: aten/src/ATen/native/RNN.cpp (FullLayer, PackedLayer, ReversedPackedLayer), mkldnn/RNN.cpp (mkldnn_rnn)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from glasstorch.core.errors import ShapeError
from glasstorch.operators.composite.recurrent.cells import Cell, Weights
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.recurrent import LSTM

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor
    from glasstorch.operators.composite.recurrent.cells import State

Runner = Callable[["Tensor", "State", Weights, bool], "tuple[Tensor, State]"]


def stepwise(cell: Cell) -> Runner:
    """Runs a cell over inputs (T, N, width), step by step."""

    def run(inputs: Tensor, state: State, weights: Weights, reverse: bool) -> tuple[Tensor, State]:
        steps = weights.of_input(inputs).unbind(0)
        if not steps:
            raise ShapeError("Expected sequence length to be larger than 0 in RNN")
        outputs = []
        for given in reversed(steps) if reverse else steps:
            state = cell(given, state, weights)
            outputs.append(state[0])
        return f.stack(outputs[::-1] if reverse else outputs), state

    return run


def packed(cell: Cell, batch_sizes: list[int]) -> Runner:
    """Runs a cell over packed inputs; see Note [Packed sequences]."""
    ends = list(accumulate(batch_sizes))

    def run(inputs: Tensor, state: State, weights: Weights, reverse: bool) -> tuple[Tensor, State]:
        given = weights.of_input(inputs)
        steps = [given.narrow(0, end - size, size) for end, size in zip(ends, batch_sizes, strict=True)]
        return (_backward if reverse else _forward)(steps, state, weights)

    def _forward(steps: list[Tensor], state: State, weights: Weights) -> tuple[Tensor, State]:
        outputs, ended = [], []
        for given in steps:
            running = given.size(0)
            if running < state[0].size(0):
                ended.append(tuple(part[running:] for part in state))
                state = tuple(part[:running] for part in state)
            state = cell(given, state, weights)
            outputs.append(state[0])
        ended.append(state)
        return f.cat(outputs), tuple(f.cat(parts) for parts in zip(*reversed(ended), strict=True))

    def _backward(steps: list[Tensor], initial: State, weights: Weights) -> tuple[Tensor, State]:
        outputs: list[Tensor] = []
        state = tuple(part[: batch_sizes[-1]] for part in initial)
        for given in reversed(steps):
            running, before = given.size(0), state[0].size(0)
            if running > before:
                begun = (part[before:running] for part in initial)
                state = tuple(f.cat(both) for both in zip(state, begun, strict=True))
            state = cell(given, state, weights)
            outputs.append(state[0])
        return f.cat(outputs[::-1]), state

    return run


def whole(train: bool) -> Runner:
    """Runs an LSTM over inputs (T, N, width) in one operator, which keeps the gates of all steps in one tensor."""

    def run(inputs: Tensor, state: State, weights: Weights, reverse: bool) -> tuple[Tensor, State]:
        if not inputs.size(0):
            raise ShapeError("Expected sequence length to be larger than 0 in RNN")
        biased = weights.b_ih is not None
        zeros = weights.w_ih.new_zeros(weights.w_ih.size(0))
        b_ih, b_hh = (zeros if bias is None else bias for bias in weights[2:4])
        w_ih, w_hh = weights[:2]
        width, layers, bidirectional, batch_first = w_hh.size(1), 1, False, False
        settings: tuple[Any, ...] = (reverse, [], LSTM, width, layers, biased, bidirectional, batch_first, train)
        outputs, hidden, cell, _ = f.mkldnn_rnn_layer(inputs, w_ih, w_hh, b_ih, b_hh, state[0], state[1], *settings)
        return outputs, (hidden, cell)

    return run

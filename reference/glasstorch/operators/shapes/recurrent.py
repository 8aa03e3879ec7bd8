"""What shape have the results of a layer of recurrent cells, and which inputs are refused?

Mirrors: aten/src/ATen/native/RNN.cpp (check_rnn_cell_forward_input, check_rnn_cell_forward_hidden), mkldnn/RNN.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

LSTM = 2  # the number of an LSTM among the kinds of recurrent networks: rnn_relu, rnn_tanh, lstm, gru


def check_cell_input(input: Tensor, input_size: int) -> None:
    """A cell reads (N, input_size)."""
    if input.size(1) != input_size:
        raise ShapeError(f"input has inconsistent input_size: got {input.size(1)} expected {input_size}")


def check_cell_weights(w_ih: Tensor, w_hh: Tensor, gates: int) -> None:
    """The weights are (gates * hidden_size, input_size) and (gates * hidden_size, hidden_size)."""
    expected = gates * w_hh.size(1)
    for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.size(0) != expected:
            raise ShapeError(f"{name} first dim must be {gates} * hidden_size = {expected}, but got {weight.size(0)}")


def check_cell_hidden(input: Tensor, hx: Tensor, hidden_size: int, number: int) -> None:
    """A state is (N, hidden_size)."""
    if input.size(0) != hx.size(0):
        raise ShapeError(f"Input batch size {input.size(0)} doesn't match hidden{number} batch size {hx.size(0)}")
    if hx.size(1) != hidden_size:
        raise ShapeError(f"hidden{number} has inconsistent hidden_size: got {hx.size(1)}, expected {hidden_size}")


def layer(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[Result, Result, Result, Result]:
    """The outputs (T, N, H), the last state and the last cell (N, H), and what the gradient needs."""
    if mode != LSTM or batch_sizes:
        raise ArgumentError(
            f"mkldnn_rnn_layer: expected an LSTM (mode {LSTM}) over sequences of one length (no batch_sizes), got mode "
            f"{mode} and batch_sizes {list(batch_sizes)}"
        )
    if input.dtype not in FLOATS:
        raise not_implemented_for("mkldnn_rnn_layer", input.dtype)
    steps, batch, width = _three(input)
    wanted = {
        "weight0": (weight0, (4 * hidden_size, width)),
        "weight1": (weight1, (4 * hidden_size, hidden_size)),
        "weight2": (weight2, (4 * hidden_size,)),
        "weight3": (weight3, (4 * hidden_size,)),
        "hx_": (hx_, (batch, hidden_size)),
        "cx_": (cx_, (batch, hidden_size)),
    }
    for name, (tensor, shape) in wanted.items():
        if tensor._shape != shape:
            raise ShapeError(f"mkldnn_rnn_layer: expected {name} of sizes {list(shape)}, got {list(tensor._shape)}")
        if tensor.dtype is not input.dtype:
            raise DtypeError(
                f"mkldnn_rnn_layer: expected {name} of the input's dtype {input.dtype}, got {tensor.dtype}"
            )
    state = Result((batch, hidden_size), input.dtype)
    kept = Result((steps * batch * 5 * hidden_size,), input.dtype)
    return Result((steps, batch, hidden_size), input.dtype), state, state, kept


def _three(input: Tensor) -> tuple[int, int, int]:
    if len(input._shape) != 3:
        raise ShapeError(f"mkldnn_rnn_layer: expected an input (T, N, width), got {list(input._shape)}")
    steps, batch, width = input._shape
    return steps, batch, width


def layer_backward(input: Tensor, *rest: object) -> tuple[Result, ...]:
    """The sizes of input, weights and states."""
    weights_and_states: tuple[Tensor, ...] = rest[:6]  # type: ignore[assignment]
    return tuple(Result(one._shape, input.dtype) for one in (input, *weights_and_states))

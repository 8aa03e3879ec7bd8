"""How are layers of recurrent cells put one above the other, in one direction or in both?

Mirrors: aten/src/ATen/native/RNN.cpp (_lstm_impl, apply_layer_stack, gather_params, and the operators)
Differs: `use_mkldnn` asks only for the dtype and the device; the layer's operator is computed by our own kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import bfloat16, float16, float32
from glasstorch.core.errors import ArgumentError, DeviceError
from glasstorch.operators.composite.recurrent import cells, layers
from glasstorch.operators.composite.recurrent.cells import Cell, Weights
from glasstorch.operators.composite.recurrent.layers import Runner
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor
    from glasstorch.operators.composite.recurrent.cells import State


def stacked(
    run: Runner,
    input: Tensor,
    states: Sequence[State],
    weights: Sequence[Weights],
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, list[State]]:
    """The outputs of the last layer, and the last states of all layers and directions."""
    directions = 2 if bidirectional else 1
    if len(states) % directions or len(weights) % directions:
        raise ArgumentError("Odd number of params or hiddens given to a bidirectional RNN")
    if len(states) != num_layers * directions:
        raise ArgumentError("Expected more hidden states in stacked_rnn")
    if len(weights) != num_layers * directions:
        raise ArgumentError("Expected more weights in stacked_rnn")
    last: list[State] = []
    for layer in range(num_layers):
        if layer and dropout and train:
            input = f.dropout(input, dropout, True)
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            output, state = run(input, states[number], weights[number], direction == 1)
            outputs.append(output)
            last.append(state)
        input = f.cat(outputs, -1) if bidirectional else outputs[0]
    return input, last


def gathered(params: Sequence[Tensor], has_biases: bool, projected: bool = False) -> list[Weights]:
    """The parameters, which lie in one list, cell by cell."""
    each = (4 if has_biases else 2) + projected
    if len(params) % each:
        raise ArgumentError("got an incorrect number of RNN parameters")
    cells = (params[start : start + each] for start in range(0, len(params), each))
    if has_biases:
        return [Weights(*one) for one in cells]
    return [Weights(one[0], one[1], w_hr=one[2] if projected else None) for one in cells]


def _check_devices(input: Tensor, params: Sequence[Tensor], hiddens: Sequence[Tensor]) -> None:
    for name, tensors in (("hidden", hiddens), ("parameter", params)):
        for tensor in tensors:
            if tensor.device != input.device:
                raise DeviceError(
                    f"Input and {name} tensors are not at the same device, found input tensor at {input.device} and "
                    f"{name} tensor at {tensor.device}"
                )


# Simple cells, and gated recurrent units ------------------------------------------------------------------------


def _over_input(cell: Cell, doc: str) -> Callable[..., tuple[Tensor, Tensor]]:
    def operator(
        input: Tensor,
        hx: Tensor,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Tensor, Tensor]:
        _check_devices(input, params, [hx])
        steps = input.transpose(0, 1) if batch_first else input
        states = [(state,) for state in hx.unbind(0)]
        weights = gathered(params, has_biases)
        run = layers.stepwise(cell)
        output, last = stacked(run, steps, states, weights, num_layers, dropout, train, bidirectional)
        hidden = f.stack([state for (state,) in last])
        return output.transpose_(0, 1) if batch_first else output, hidden

    operator.__doc__ = doc
    return operator


def _over_data(cell: Cell, doc: str) -> Callable[..., tuple[Tensor, Tensor]]:
    def operator(
        data: Tensor,
        batch_sizes: Tensor,
        hx: Tensor,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> tuple[Tensor, Tensor]:
        states = [(state,) for state in hx.unbind(0)]
        weights = gathered(params, has_biases)
        run = layers.packed(cell, batch_sizes.tolist())
        output, last = stacked(run, data, states, weights, num_layers, dropout, train, bidirectional)
        return output, f.stack([state for (state,) in last])

    operator.__doc__ = doc
    return operator


rnn_tanh_input = _over_input(cells.tanh, "Layers of simple cells with tanh, over (T, N, width).")
rnn_relu_input = _over_input(cells.relu, "Layers of simple cells with relu, over (T, N, width).")
gru_input = _over_input(cells.gru, "Layers of gated recurrent units, over (T, N, width).")
rnn_tanh_data = _over_data(cells.tanh, "Layers of simple cells with tanh, over a packed sequence.")
rnn_relu_data = _over_data(cells.relu, "Layers of simple cells with relu, over a packed sequence.")
gru_data = _over_data(cells.gru, "Layers of gated recurrent units, over a packed sequence.")


# Long short-term memory -----------------------------------------------------------------------------------------


def lstm_input(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Layers of cells with long short-term memory, over (T, N, width)."""
    _check_pair(hx)
    _check_devices(input, params, hx)
    run = layers.whole(train) if _takes_whole_layers(input, hx) else layers.stepwise(cells.lstm)
    steps = input.transpose(0, 1) if batch_first else input
    output, *last = _lstm(run, steps, hx, params, has_biases, num_layers, dropout, train, bidirectional)
    return output.transpose(0, 1) if batch_first else output, last[0], last[1]


def lstm_data(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Layers of cells with long short-term memory, over a packed sequence."""
    _check_pair(hx)
    run = layers.packed(cells.lstm, batch_sizes.tolist())
    return _lstm(run, data, hx, params, has_biases, num_layers, dropout, train, bidirectional)


def _check_pair(hx: Sequence[Tensor]) -> None:
    if len(hx) != 2:
        raise ArgumentError("lstm expects two hidden states")


def _lstm(
    run: Runner,
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    states = list(zip(hx[0].unbind(0), hx[1].unbind(0), strict=False))
    weights = gathered(params, has_biases, _is_projected(hx))
    output, last = stacked(run, input, states, weights, num_layers, dropout, train, bidirectional)
    hidden, cell = (f.stack(list(parts)) for parts in zip(*last, strict=True))
    return output, hidden, cell


def _is_projected(hx: Sequence[Tensor]) -> bool:
    return bool(hx[0].size(2) != hx[1].size(2))


def _takes_whole_layers(input: Tensor, hx: Sequence[Tensor]) -> bool:
    """Whether a layer is one operator; otherwise its steps are: for float64, for projections, without elements."""
    return (
        input.device.type == "cpu"
        and input.dtype in (float32, float16, bfloat16)
        and input.numel() != 0
        and not _is_projected(hx)
    )

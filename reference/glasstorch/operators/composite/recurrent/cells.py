"""What does a recurrent cell compute in one step?

A cell is a function of what the input gives to its gates, of its state, and of its weights. The state is a tuple whose
first tensor is what the cell puts out.

Mirrors: aten/src/ATen/native/RNN.cpp (SimpleCell, LSTMCell, GRUCell, and the operators of one step)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.recurrent import check_cell_hidden, check_cell_input, check_cell_weights

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

    State = tuple[Tensor, ...]


class Weights(NamedTuple):
    """The parameters of a cell: of its input, of its hidden state, and perhaps of a projection of its output."""

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor | None = None
    b_hh: Tensor | None = None
    w_hr: Tensor | None = None

    def of_input(self, input: Tensor) -> Tensor:
        """What the input gives to the gates: of one step, or of all steps in one product."""
        return f.linear(input, self.w_ih, self.b_ih)

    def of_hidden(self, hidden: Tensor) -> Tensor:
        """What the hidden state gives to the gates."""
        return f.linear(hidden, self.w_hh, self.b_hh)


Cell = Callable[["Tensor", "State", Weights], "State"]


def _gates(joined: Tensor, number: int) -> tuple[Tensor, ...]:
    """The gates, which lie side by side."""
    gates = joined.unsafe_chunk(number, 1)
    if len(gates) != number:
        raise ShapeError(f"expected weights of {number} gates of one size, got {joined.size(1)} rows")
    return gates


def tanh(given: Tensor, state: State, weights: Weights) -> State:
    """tanh(given + W h)."""
    return (f.tanh(weights.of_hidden(state[0]).add_(given)),)


def relu(given: Tensor, state: State, weights: Weights) -> State:
    """relu(given + W h)."""
    return (f.relu(weights.of_hidden(state[0]).add_(given)),)


def lstm(given: Tensor, state: State, weights: Weights) -> State:
    """An input gate i, a forget gate f and an output gate o: c' = f * c + i * tanh(g), h' = o * tanh(c')."""
    hidden, cell = state
    i, forget, g, o = _gates(weights.of_hidden(hidden).add_(given), 4)
    i, forget, g, o = i.sigmoid_(), forget.sigmoid_(), g.tanh_(), o.sigmoid_()
    cell = (forget * cell).add_(i * g)
    hidden = o * f.tanh(cell)
    return hidden if weights.w_hr is None else f.matmul(hidden, weights.w_hr.t()), cell


def gru(given: Tensor, state: State, weights: Weights) -> State:
    """A reset gate r and an update gate z: n = tanh(given_n + r * W h), h' = n + z * (h - n)."""
    (hidden,) = state
    given_r, given_z, given_n = _gates(given, 3)
    hidden_r, hidden_z, hidden_n = _gates(weights.of_hidden(hidden), 3)
    r, z = hidden_r.add_(given_r).sigmoid_(), hidden_z.add_(given_z).sigmoid_()
    n = given_n.add(hidden_n.mul_(r)).tanh_()
    return ((hidden - n).mul_(z).add_(n),)


# Operators ------------------------------------------------------------------------------------------------------


def _simple(cell: Cell, gates: int, doc: str) -> Callable[..., Tensor]:
    def operator(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
    ) -> Tensor:
        check_cell_input(input, w_ih.size(1))
        check_cell_weights(w_ih, w_hh, gates)
        check_cell_hidden(input, hx, w_hh.size(1), 0)
        weights = Weights(w_ih, w_hh, b_ih, b_hh)
        return cell(weights.of_input(input), (hx,), weights)[0]

    operator.__doc__ = doc
    return operator


rnn_tanh_cell = _simple(tanh, 1, "A step of a simple cell with tanh.")
rnn_relu_cell = _simple(relu, 1, "A step of a simple cell with relu.")
gru_cell = _simple(gru, 3, "A step of a gated recurrent unit.")


def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> State:
    """A step of a cell with long short-term memory."""
    if len(hx) != 2:
        raise ArgumentError("lstm_cell expects two hidden states")
    check_cell_input(input, w_ih.size(1))
    check_cell_weights(w_ih, w_hh, 4)
    for number, state in enumerate(hx):
        check_cell_hidden(input, state, w_hh.size(1), number)
    weights = Weights(w_ih, w_hh, b_ih, b_hh)
    return lstm(weights.of_input(input), tuple(hx), weights)

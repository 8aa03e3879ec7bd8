"""What are the gradients of a layer of an LSTM?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (mkldnn_rnn_layer_differentiable_backward)
Differs: the gates are computed again from the inputs, so that every derivative of the gradient is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def rnn_layer_backward(
    tensors: Sequence[Tensor], results: Sequence[Tensor], grads: Sequence[Tensor | None], reverse: bool, *rest: Any
) -> tuple[Tensor | None, ...]:
    """The gradients of input, weights, biases and states: by one kernel, or by operators if they are differentiated."""
    if is_grad_enabled():
        return _by_operators(tensors, grads, reverse)
    arguments: tuple[Any, ...] = (*tensors, *results[:3], *grads[:3], reverse, *rest)
    found: tuple[Tensor, ...] = f.mkldnn_rnn_layer_backward(*arguments)
    return found


def _by_operators(
    tensors: Sequence[Tensor], grads: Sequence[Tensor | None], reverse: bool
) -> tuple[Tensor | None, ...]:
    """Forward over the steps once more, then backward."""
    input, w_ih, w_hh, b_ih, b_hh, hidden, cell = tensors
    order = range(input.size(0))[:: -1 if reverse else 1]
    seen = []
    for t in order:
        gates = f.linear(input[t], w_ih, b_ih) + f.linear(hidden, w_hh, b_hh)
        i, forget, g, o = gates.chunk(4, 1)
        i, forget, g, o = f.sigmoid(i), f.sigmoid(forget), f.tanh(g), f.sigmoid(o)
        new_cell = forget * cell + i * g
        squashed = f.tanh(new_cell)
        seen.append((t, i, forget, g, o, hidden, cell, squashed))
        hidden, cell = o * squashed, new_cell

    to_outputs = f.zeros_like(input[..., :1]) if grads[0] is None else grads[0]
    to_hidden = f.zeros_like(hidden) if grads[1] is None else grads[1]
    to_cell = f.zeros_like(cell) if grads[2] is None else grads[2]
    moves: dict[int, Tensor] = {}
    for t, i, forget, g, o, _, before, squashed in reversed(seen):
        to_hidden = to_hidden + to_outputs[t]
        to_cell = to_cell + to_hidden * o * (1 - squashed * squashed)
        of_gates = (g * i * (1 - i), before * forget * (1 - forget), i * (1 - g * g))
        moves[t] = f.cat([*(to_cell * each for each in of_gates), to_hidden * squashed * o * (1 - o)], 1)
        to_cell = to_cell * forget
        to_hidden = f.matmul(moves[t], w_hh)
    moved = f.stack([moves[t] for t in range(input.size(0))])
    earlier = {t: hidden for t, _, _, _, _, hidden, *_ in seen}
    flat = moved.flatten(0, 1)
    to_w_hh = f.matmul(flat.t(), f.cat([earlier[t] for t in range(input.size(0))]))
    to_bias = flat.sum(0)
    return (
        f.matmul(moved, w_ih),
        f.matmul(flat.t(), input.flatten(0, 1)),
        to_w_hh,
        to_bias,
        to_bias,
        to_hidden,
        to_cell,
    )

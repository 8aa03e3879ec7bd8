"""How is a layer of an LSTM computed on the CPU, over all steps, and how its gradients?

# Note [Gates of all steps]
One product gives what the inputs of all steps add to the gates; the loop adds what the hidden state gives. The gates
after their sigmoid or tanh, and the cells, are kept for the gradient. There, all that does not depend on what comes
from later steps is computed for all steps at once: by how much each gate moves the cell or the output. The loop
multiplies with it, and the gradients of the weights are again one product over all steps.

Mirrors: aten/src/ATen/native/mkldnn/RNN.cpp (mkldnn_rnn_layer, mkldnn_rnn_layer_backward)
Differs: NumPy computes what oneDNN does. Half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish, structured
from glasstorch.operators.shapes import recurrent as shapes

CPU = KernelTable("CPU")


def kept(workspace: Array, steps: int, batch: int, width: int) -> tuple[Array, Array]:
    """The gates (T, N, 4H) and the cells (T, N, H) of all steps, which share one array."""
    gates, cells = np.split(workspace, [steps * batch * 4 * width])
    return gates.reshape(steps, batch, 4 * width), cells.reshape(steps, batch, width)


def each_gate(gates: Array) -> tuple[Array, Array, Array, Array]:
    """The input gate, the forget gate, the candidate and the output gate: quarters of the last dimension."""
    i, f, g, o = np.split(gates, 4, axis=2)
    return i, f, g, o


def to_sigmoid(x: Array) -> None:
    """The sigmoid, in place."""
    np.exp(-x, out=x)  # not np.negative in place, for the reason in `pointwise/steps.py`
    x += 1
    np.reciprocal(x, out=x)


@slot
def forward(
    inputs: Array, w_ih: Array, w_hh: Array, bias: Array, hidden: Array, cell: Array
) -> tuple[Array, Array, Array, Array]:
    """The outputs of all steps, the last hidden state and cell, and the workspace; see Note [Gates of all steps]."""
    steps, batch, _ = inputs.shape
    width = hidden.shape[1]
    workspace = np.empty(steps * batch * 5 * width, inputs.dtype)
    gates, cells = kept(workspace, steps, batch, width)
    np.matmul(inputs.reshape(steps * batch, -1), w_ih.T, out=gates.reshape(steps * batch, -1))
    gates += bias
    outputs = np.empty((steps, batch, width), inputs.dtype)
    from_hidden = np.ascontiguousarray(w_hh.T)
    i, f, g, o = each_gate(gates)
    for t in range(steps):
        gates[t] += hidden @ from_hidden
        to_sigmoid(gates[t, :, : 2 * width])
        np.tanh(g[t], out=g[t])
        to_sigmoid(o[t])
        np.multiply(f[t], cell, out=cells[t])
        cells[t] += i[t] * g[t]
        np.multiply(o[t], np.tanh(cells[t]), out=outputs[t])
        hidden, cell = outputs[t], cells[t]
    return outputs, hidden.copy(), cell.copy(), workspace


@slot
def backward(
    inputs: Array,
    w_ih: Array,
    w_hh: Array,
    hidden: Array,
    cell: Array,
    outputs: Array,
    grads: tuple[Any, Any, Any],
    workspace: Array,
) -> tuple[Array, ...]:
    """The gradients of inputs, w_ih, w_hh, the bias, the first hidden state and the first cell."""
    steps, batch, width = outputs.shape
    gates, cells = kept(workspace, steps, batch, width)
    i, f, g, o = each_gate(gates)
    before = np.concatenate([cell[None], cells[:-1]])
    squashed = np.tanh(cells)
    # By how much the gates, before their sigmoid or tanh, move the cell; the last of them moves the output.
    moves = np.empty_like(gates)
    of_i, of_f, of_g, of_o = each_gate(moves)
    of_i[...] = g * i * (1 - i)
    of_f[...] = before * f * (1 - f)
    of_g[...] = i * (1 - g * g)
    of_o[...] = squashed * o * (1 - o)
    through_cell = o * (1 - squashed * squashed)

    shaped = moves.reshape(steps, batch, 4, width)
    to_outputs, to_hidden, to_cell = grads
    for t in reversed(range(steps)):
        to_hidden = to_hidden + to_outputs[t]
        to_cell = to_cell + to_hidden * through_cell[t]
        shaped[t, :, :3] *= to_cell[:, None]
        of_o[t] *= to_hidden
        to_cell = to_cell * f[t]
        to_hidden = moves[t] @ w_hh
    flat = moves.reshape(steps * batch, 4 * width)
    earlier = np.concatenate([hidden[None], outputs[:-1]]).reshape(steps * batch, width)
    return (
        (flat @ w_ih).reshape(inputs.shape),
        flat.T @ inputs.reshape(steps * batch, -1),
        flat.T @ earlier,
        flat.sum(0),
        to_hidden,
        to_cell,
    )


def in_order(array: Array, reverse: bool) -> Array:
    """The steps in the order in which the layer takes them."""
    return array[::-1] if reverse else array


@structured(CPU, "mkldnn_rnn_layer")
def layer(
    keys: int,
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    reverse: bool,
    *rest: Any,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """The outputs (T, N, H), the last hidden state and cell (N, H), and what the gradient needs."""
    tensors = (input, weight0, weight1, weight2, weight3, hx_, cx_)
    shapes.layer(*tensors, reverse, *rest)
    inputs, w_ih, w_hh, b_ih, b_hh, hidden, cell = (widened(one.array()) for one in tensors)
    found = quietly(forward.run, in_order(inputs, reverse), w_ih, w_hh, b_ih + b_hh, hidden, cell)
    outputs, *others = found
    arrays = (in_order(outputs, reverse), *others)
    return tuple(finish(array, input.dtype, one) for array, one in zip(arrays, out or (None,) * 4, strict=True))


@structured(CPU, "mkldnn_rnn_layer_backward")
def layer_backward(
    keys: int,
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    weight4: Tensor,
    hx_: Tensor,
    cx_tmp: Tensor,
    output: Tensor,
    hy_: Tensor,
    cy_: Tensor,
    grad_output: Tensor | None,
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    reverse: bool,
    *rest: Any,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """The gradients of input, weights, biases and states."""
    workspace: Tensor = rest[-1]
    grads = tuple(
        np.zeros_like(like.array(), np.float32) if grad is None else widened(grad.array())
        for grad, like in ((grad_output, output), (grad_hy, hy_), (grad_cy, cy_))
    )
    w_ih, w_hh, hidden, cell = (widened(one.array()) for one in (weight1, weight2, hx_, cx_tmp))
    to_inputs, to_w_ih, to_w_hh, to_bias, to_hidden, to_cell = quietly(
        backward.run,
        in_order(widened(input.array()), reverse),
        w_ih,
        w_hh,
        hidden,
        cell,
        in_order(widened(output.array()), reverse),
        (in_order(grads[0], reverse), grads[1], grads[2]),
        widened(workspace.array()),
    )
    found = (in_order(to_inputs, reverse), to_w_ih, to_w_hh, to_bias, to_bias.copy(), to_hidden, to_cell)
    return tuple(finish(array, input.dtype, one) for array, one in zip(found, out or (None,) * 7, strict=True))

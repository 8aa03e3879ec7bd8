"""How is a layer of an LSTM computed with fewer calls of NumPy a step?

The arrays of a step are so small that a call costs as much as what it computes. All four gates go through one
exponential, which needs no sign because the weights of three of them are negated at the start, and everything is
written where it belongs. For the gradient, what can be computed for all steps at once is computed in place.

Mirrors: the fused cells of oneDNN (aten/src/ATen/native/mkldnn/RNN.cpp)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import recurrent as plain
from glasstorch.kernels.cpu.fast.blocks import fresh
from glasstorch.kernels.cpu.recurrent import each_gate, kept

BENCHMARK = "LSTM of 128 over 64 steps, a step"


def negated(rows: Array) -> Array:
    """A copy of what gives the four gates, negated but for the candidate, which has no sigmoid."""
    copy = -rows
    candidate = slice(len(rows) // 2, len(rows) * 3 // 4)
    copy[candidate] = rows[candidate]
    return copy


@fast(plain.forward, when="always", benchmark=BENCHMARK, exact=64.0)
def forward(
    inputs: Array, w_ih: Array, w_hh: Array, bias: Array, hidden: Array, cell: Array
) -> tuple[Array, Array, Array, Array]:  # hot path: benchmarks/networks.py
    steps, batch, _ = inputs.shape
    width = hidden.shape[1]
    workspace = fresh((steps * batch * 5 * width,), inputs.dtype)
    gates, cells = kept(workspace, steps, batch, width)
    np.matmul(inputs.reshape(steps * batch, -1), negated(w_ih).T, out=gates.reshape(steps * batch, -1))
    gates += negated(bias)
    outputs = fresh((steps, batch, width), inputs.dtype)
    from_hidden = np.ascontiguousarray(negated(w_hh).T)
    given, candidate, part = np.empty_like(gates[0]), np.empty_like(cell), np.empty_like(cell)
    for gate, i, f, g, o, reached, output in zip(gates, *each_gate(gates), cells, outputs, strict=True):
        np.matmul(hidden, from_hidden, given)
        gate += given
        np.tanh(g, candidate)
        np.exp(gate, gate)
        gate += 1
        np.reciprocal(gate, gate)
        g[...] = candidate
        np.multiply(f, cell, reached)
        candidate *= i
        reached += candidate
        np.tanh(reached, part)
        np.multiply(o, part, output)
        hidden, cell = output, reached
    return outputs, hidden.copy(), cell.copy(), workspace


@fast(plain.backward, when="always", benchmark=BENCHMARK, exact=64.0)
def backward(
    inputs: Array,
    w_ih: Array,
    w_hh: Array,
    hidden: Array,
    cell: Array,
    outputs: Array,
    grads: tuple[Any, Any, Any],
    workspace: Array,
) -> tuple[Array, ...]:  # hot path: benchmarks/networks.py
    steps, batch, width = outputs.shape
    gates, cells = kept(workspace, steps, batch, width)
    i, f, g, o = each_gate(gates)
    squashed = np.tanh(cells, fresh(cells.shape, cells.dtype))
    moves = np.subtract(1, gates, fresh(gates.shape, gates.dtype))
    moves *= gates  # the slope of a sigmoid
    of_i, of_f, of_g, of_o = each_gate(moves)
    of_i *= g
    of_f[1:] *= cells[:-1]
    of_f[:1] *= cell
    np.multiply(g, g, of_g)
    np.subtract(1, of_g, of_g)
    of_g *= i
    of_o *= squashed
    through_cell = np.multiply(squashed, squashed, squashed)
    np.subtract(1, through_cell, through_cell)
    through_cell *= o

    shaped = moves.reshape(steps, batch, 4, width)
    to_outputs, (to_hidden, to_cell) = grads[0], (np.array(grad, moves.dtype) for grad in grads[1:])
    part = np.empty_like(to_cell)
    for t in reversed(range(steps)):
        to_hidden += to_outputs[t]
        np.multiply(to_hidden, through_cell[t], part)
        to_cell += part
        shaped[t, :, :3] *= to_cell[:, None]
        shaped[t, :, 3] *= to_hidden
        to_cell *= f[t]
        np.matmul(moves[t], w_hh, to_hidden)
    flat = moves.reshape(steps * batch, 4 * width)
    to_w_hh = flat[batch:].T @ outputs[:-1].reshape((steps - 1) * batch, width)
    to_w_hh += moves[0].T @ hidden
    to_inputs = fresh(inputs.shape, inputs.dtype)
    np.matmul(flat, w_ih, to_inputs.reshape(steps * batch, -1))
    return (
        to_inputs,
        flat.T @ inputs.reshape(steps * batch, -1),
        to_w_hh,
        flat.sum(0),
        to_hidden,
        to_cell,
    )

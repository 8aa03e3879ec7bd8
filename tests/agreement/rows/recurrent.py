"""What do the operators of the family recurrent compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.samples import SAME, Row, call, row, t

Array = np.ndarray[Any, Any]
State = tuple[Array, ...]
EXACT = ("float32", "float64")


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def simple(function: Callable[[Array], Array]) -> Callable[..., State]:
    def cell(x: Array, state: State, w_ih: Array, w_hh: Array, b_ih: Any = 0, b_hh: Any = 0) -> State:
        return (function(x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh),)

    return cell


def lstm(x: Array, state: State, w_ih: Array, w_hh: Array, b_ih: Any = 0, b_hh: Any = 0) -> State:
    i, f, g, o = np.split(x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh, 4, -1)
    cell = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


def gru(x: Array, state: State, w_ih: Array, w_hh: Array, b_ih: Any = 0, b_hh: Any = 0) -> State:
    from_input, from_hidden = np.split(x @ w_ih.T + b_ih, 3, -1), np.split(state[0] @ w_hh.T + b_hh, 3, -1)
    r, z = sigmoid(from_input[0] + from_hidden[0]), sigmoid(from_input[1] + from_hidden[1])
    n = np.tanh(from_input[2] + r * from_hidden[2])
    return ((1 - z) * n + z * state[0],)


def positive(x: Array) -> Array:
    return np.maximum(x, 0)


def cell_of(cell: Callable[..., State]) -> Callable[..., Any]:
    def step(x: Array, hx: Any, *weights: Any) -> Any:
        found = cell(x, tuple(hx) if isinstance(hx, list) else (hx,), *weights)
        return found if len(found) > 1 else found[0]

    return step


def layer_of(cell: Callable[..., State]) -> Callable[..., State]:
    """One layer, or two directions of one, over (T, N, width), or (N, T, width) with the last argument."""

    def run(x: Array, hx: Any, params: list[Array], biased: bool, *settings: Any) -> State:
        *_, both_ways, batch_first = settings
        steps = x.swapaxes(0, 1) if batch_first else x
        outputs, last = [], []
        for direction in range(2 if both_ways else 1):
            state = tuple(one[direction] for one in (hx if isinstance(hx, list) else [hx]))
            each = 4 if biased else 2
            weights = params[direction * each : (direction + 1) * each]
            order = slice(None, None, -1 if direction else 1)
            found = []
            for step in steps[order]:
                state = cell(step, state, *weights)
                found.append(state[0])
            outputs.append(np.stack(found)[order])
            last.append(state)
        joined = np.concatenate(outputs, -1)
        return joined.swapaxes(0, 1) if batch_first else joined, *map(np.stack, zip(*last, strict=True))

    return run


def pad(sequences: list[Array], batch_first: bool = False, value: float = 0.0, side: str = "right") -> Array:
    longest = max(map(len, sequences))
    after = [(0, longest - len(s)) if side == "right" else (longest - len(s), 0) for s in sequences]
    padded = [
        np.pad(s, (a, *((0, 0),) * (s.ndim - 1)), constant_values=value) for s, a in zip(sequences, after, strict=True)
    ]
    return np.stack(padded, 0 if batch_first else 1)


def weights(gates: int, both_ways: bool = False) -> list[Any]:
    one = [t(gates * 2, 3), t(gates * 2, 2), t(gates * 2), t(gates * 2)]
    return one * 2 if both_ways else one


def over(name: str, cell: Callable[..., State], gates: int, states: int) -> Row:
    """The row of a network of one layer: forward, and in both directions without biases."""

    def hx(directions: int) -> Any:
        found = [t(directions, 2, 2) for _ in range(states)]
        return found if states > 1 else found[0]

    bare = [t(gates * 2, 3), t(gates * 2, 2)]
    return row(f"{name}.input", layer_of(cell),
        call(t(4, 2, 3), hx(1), weights(gates), True, 1, 0.0, True, False, False),
        call(t(2, 4, 3), hx(2), bare * 2, False, 1, 0.0, False, True, True),
        dtypes=EXACT, result=(SAME,) * (states + 1))  # fmt: skip


ROWS: tuple[Row, ...] = (
    over("lstm", lstm, 4, 2),
    over("gru", gru, 3, 1),
    over("rnn_tanh", simple(np.tanh), 1, 1),
    over("rnn_relu", simple(positive), 1, 1),
    row("lstm_cell", cell_of(lstm), call(t(2, 3), [t(2, 2), t(2, 2)], *weights(4)),
        call(t(2, 3), [t(2, 2), t(2, 2)], *weights(4)[:2]), dtypes=EXACT, result=(SAME, SAME)),
    row("gru_cell", cell_of(gru), call(t(2, 3), t(2, 2), *weights(3)), dtypes=EXACT),
    row("rnn_tanh_cell", cell_of(simple(np.tanh)), call(t(2, 3), t(2, 2), *weights(1)), dtypes=EXACT),
    row("rnn_relu_cell", cell_of(simple(positive)), call(t(2, 3), t(2, 2), *weights(1)), dtypes=EXACT),
    row("pad_sequence", pad, call([t(2, 3), t(4, 3)]), call([t(2, 3), t(4, 3)], True, 0.5, "left"), dtypes=EXACT),
)  # fmt: skip

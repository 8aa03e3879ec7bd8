"""How is the connectionist temporal classification loss computed on the CPU?

A target of S labels is a chain of 2 * S + 1 states: its labels, with a blank before, between and behind them. At each
step of the input a path stays in its state, goes to the next, or skips a blank between two labels that differ. The
likelihood is the sum over all paths that end in the last label or in the blank behind it.

Mirrors: aten/src/ATen/native/LossCTC.cpp (ctc_loss_cpu_template, ctc_loss_backward_cpu_template)
Differs: all sequences of a batch take a step together, in float64. The log probabilities of beginnings that no path
    reaches are -inf; PyTorch leaves those behind the end of a sequence unwritten. Labels that do not exist are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import IndexValueError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, finish, structured
from glasstorch.operators.shapes.loss import sequences as shapes

CPU = KernelTable("CPU")
NEVER = -np.inf  # the logarithm of probability 0


class Chains(NamedTuple):
    """The states of all targets: L = 2 * S + 1 for each of N sequences, of which the first `counts` exist."""

    labels: Array  # (N, L)
    exists: Array  # (N, L)
    skips: Array  # (N, L): whether a path may come from two states before
    emitted: Array  # (T, N, L): the log probability of each state's label at each step
    counts: Array  # (N,)
    steps: Array  # (N,): how many steps the input has


@structured(CPU, "_ctc_loss")
def ctc_loss(
    keys: int,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
    out: Outs = None,
) -> tuple[Tensor, Tensor]:
    """The negative log likelihood (N) and the log probabilities of beginnings (N, T, L)."""
    loss, _ = shapes.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
    chains = chains_of(log_probs, targets, input_lengths, target_lengths, blank)
    beginnings = quietly(forward_probabilities, chains)
    likelihood = quietly(log_likelihood, beginnings, chains)
    to_loss, to_beginnings = out or (None, None)
    return finish(-likelihood, loss.dtype, to_loss), finish(beginnings.swapaxes(0, 1), loss.dtype, to_beginnings)


@structured(CPU, "_ctc_loss.Tensor")
def ctc_loss_of_tensors(
    keys: int,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    zero_infinity: bool,
    out: Outs = None,
) -> tuple[Tensor, Tensor]:
    """As ctc_loss, with lengths in tensors."""
    lengths = shapes.lengths_of(input_lengths, target_lengths)
    return ctc_loss(keys, log_probs, targets, *lengths, blank, zero_infinity, out)


@structured(CPU, "_ctc_loss_backward")
def ctc_loss_backward(
    keys: int,
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
    out: Out = None,
) -> Tensor:
    """The probability of each label minus that of the paths that pass through it, given the target.

    This is the gradient with respect to what log_softmax was given, of which log probabilities pass it on unchanged.
    """
    dtype = shapes.ctc_loss_backward(
        grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity
    ).dtype
    chains = chains_of(log_probs, targets, input_lengths, target_lengths, blank)
    beginnings = log_alpha.array().astype(np.float64).swapaxes(0, 1)  # (T, N, L)
    loss = neg_log_likelihood.array().astype(np.float64)

    def gradient() -> Any:
        logs = log_probs.array().astype(np.float64)
        passing = np.exp(beginnings + backward_probabilities(chains) - chains.emitted + loss[:, None])
        result = np.exp(logs) - summed_by_label(np.where(chains.exists, passing, 0), chains.labels, logs.shape[2])
        result[:, np.isinf(loss)] = 0 if zero_infinity else np.nan
        result *= grad.array().astype(np.float64)[:, None]
        result[np.arange(len(logs))[:, None] >= chains.steps] = 0
        return result

    return finish(quietly(gradient), dtype, out)


@structured(CPU, "_ctc_loss_backward.Tensor")
def ctc_loss_backward_of_tensors(
    keys: int,
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Tensor:
    """As ctc_loss_backward, with lengths in tensors."""
    lengths = shapes.lengths_of(input_lengths, target_lengths)
    return ctc_loss_backward(
        keys, grad, log_probs, targets, *lengths, neg_log_likelihood, log_alpha, blank, zero_infinity
    )


def chains_of(
    log_probs: Tensor, targets: Tensor, input_lengths: Sequence[int], target_lengths: Sequence[int], blank: int
) -> Chains:
    """The chain of states of each target."""
    logs = log_probs.array().astype(np.float64)
    lengths = np.asarray(target_lengths, np.int64)
    order = np.arange(2 * lengths.max() + 1)
    counts = 2 * lengths + 1
    exists = order < counts[:, None]
    labels = np.full(exists.shape, blank)
    labels[exists & (order % 2 == 1)] = _labels_in_a_row(targets.array(), lengths)
    wrong = labels[(labels < 0) | (labels >= logs.shape[2])]
    if wrong.size:
        raise IndexValueError(f"ctc_loss: label {wrong[0]} in targets; expected one from 0 to {logs.shape[2] - 1}")
    skips = np.zeros(labels.shape, bool)
    skips[:, 2:] = labels[:, 2:] != labels[:, :-2]
    emitted = logs[:, np.arange(len(lengths))[:, None], labels]
    return Chains(labels, exists, skips, emitted, counts, np.asarray(input_lengths, np.int64))


def _labels_in_a_row(targets: Array, lengths: Array) -> Array:
    """The labels of all targets, one sequence after the other."""
    return targets if targets.ndim == 1 else targets[np.arange(targets.shape[1]) < lengths[:, None]]


def forward_probabilities(chains: Chains) -> Array:
    """The log probability (T, N, L) of all paths that are in a state after a step."""
    steps, batch, states = chains.emitted.shape
    result = np.full((steps, batch, states), NEVER)
    start = np.full((batch, states), NEVER)
    start[:, :2] = 0
    before = start
    for step in range(steps):
        arriving = start if step == 0 else entered(before, chains.skips)
        alive = chains.exists & (step < chains.steps)[:, None]
        before = result[step] = np.where(alive, arriving + chains.emitted[step], NEVER)
    return result


def entered(before: Array, skips: Array) -> Array:
    """The log probability of being in each state (N, L), before its label is emitted: stayed, moved on or skipped."""
    arriving = before.copy()
    arriving[:, 1:] = np.logaddexp(arriving[:, 1:], before[:, :-1])
    skipped = np.where(skips[:, 2:], before[:, :-2], NEVER)
    arriving[:, 2:] = np.logaddexp(arriving[:, 2:], skipped)
    return arriving


def log_likelihood(beginnings: Array, chains: Chains) -> Array:
    """The log probability (N) of all paths that end in the last label or in the blank behind it."""
    rows, last = np.arange(len(chains.counts)), chains.counts - 1
    ends = beginnings[chains.steps - 1, rows]  # (N, L)
    in_label = np.where(last > 0, ends[rows, last - 1], NEVER)
    no_steps = np.where(last > 0, NEVER, 0)
    return np.where(chains.steps > 0, np.logaddexp(ends[rows, last], in_label), no_steps)


def backward_probabilities(chains: Chains) -> Array:
    """The log probability (T, N, L) of the rest of all paths that are in a state at a step, that step included.

    It is the forward one of the chains read from their ends: the last state comes first.
    """
    steps, batch, states = chains.emitted.shape
    result = np.full((steps, batch, states), NEVER)
    order = np.arange(states)
    final = np.where((order >= chains.counts[:, None] - 2) & chains.exists, 0, NEVER)
    leaving = np.zeros((batch, states), bool)  # whether a path may go two states on
    leaving[:, :-2] = chains.skips[:, 2:]
    after = final
    for step in reversed(range(steps)):
        ends_here = np.equal(chains.steps - 1, step)[:, None]
        onward = entered(after[:, ::-1], leaving[:, ::-1])[:, ::-1]
        alive = chains.exists & (step < chains.steps)[:, None]
        after = result[step] = np.where(alive, np.where(ends_here, final, onward) + chains.emitted[step], NEVER)
    return result


def summed_by_label(values: Array, labels: Array, count: int) -> Array:
    """The sums (T, N, C) of what the states (T, N, L) have, by their labels (N, L)."""
    steps, batch, _ = values.shape
    place = np.arange(steps * batch).reshape(steps, batch, 1) * count + labels
    sums = np.bincount(place.reshape(-1), values.reshape(-1), steps * batch * count)
    return sums.reshape(steps, batch, count)

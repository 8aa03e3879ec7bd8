"""How do fused operators take one step of an optimizer on the CPU?

Each updates all parameters of a list, and what is remembered of them, in place. All is checked before anything changes.

Mirrors: aten/src/ATen/native/FusedAdam.cpp, FusedSGD.cpp, FusedAdagrad.cpp, cpu/FusedAdamKernel.cpp,
    cpu/FusedSGDKernel.cpp, cpu/FusedAdagradKernel.cpp
Differs: every operation rounds as the operator does that the single form of the optimizer calls, so that both forms
    give the same bits in single and double precision. Half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOATS
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import cast, widened
from glasstorch.kernels.quiet import quietly

CPU = KernelTable("CPU")

Tensors = Sequence[Tensor]
Update = Any  # update(parameter, grad, *remembered, step=): in place, on arrays


# What all share ---------------------------------------------------------------------------------------------------


def check(self: Tensors, *lists: Tensors) -> None:
    """All lists are as long as that of the parameters, with tensors of their sizes, in one floating dtype each."""
    for tensors in lists:
        if len(tensors) != len(self):
            raise ArgumentError(
                f"Tensor lists must have the same number of tensors, got {len(self)} and {len(tensors)}"
            )
        for parameter, tensor in zip(self, tensors, strict=True):
            if tensor._shape != parameter._shape:
                raise ShapeError(
                    f"params, grads and what is remembered must have the same sizes, got {list(parameter._shape)} and "
                    f"{list(tensor._shape)}"
                )
            if tensor.dtype is not parameter.dtype:
                raise DtypeError(
                    f"params, grads and what is remembered must have the same dtype, got {parameter.dtype} and "
                    f"{tensor.dtype}"
                )
    for parameter in self:
        if parameter.dtype not in FLOATS:
            raise DtypeError(f"fused optimizers take floating point parameters, got {parameter.dtype}")


def update_each(
    update: Update,
    lists: Sequence[Tensors],
    steps: Sequence[float],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Update one parameter after the other; the gradients, the second list, are unscaled first and stay so.

    Nothing changes if some gradient was found to be infinite.
    """
    if found_inf is not None and found_inf.array().item() == 1.0:
        return
    for place, step in enumerate(steps):
        tensors = [own_array(tensors[place]) for tensors in lists]
        arrays = [widened(array) for array in tensors]
        if grad_scale is not None:
            arrays[1] = arrays[1] / arrays[1].dtype.type(grad_scale.array().item())
            cast.run(tensors[1], arrays[1])
        update(*arrays, step=step)
        for tensor, array in zip(tensors, arrays, strict=True):
            if array is not tensor and tensor is not tensors[1]:
                cast.run(tensor, array)


def own_array(tensor: Tensor) -> Array:
    """The elements of a tensor that is to be changed; of a lazy copy, which no kernel above makes real, its own."""
    storage = tensor._storage
    if storage is not None and storage.lazy is not None:
        storage.materialize()
    return tensor.array()


def counts(state_steps: Tensors) -> list[float]:
    """The number of each parameter's step."""
    return [float(step.array()) for step in state_steps]


def number(lr: float | Tensor) -> float:
    """A learning rate, which a tensor may hold."""
    return float(lr.array().item() if isinstance(lr, Tensor) else lr)


# Adam -------------------------------------------------------------------------------------------------------------


class Adam(NamedTuple):
    """The options of Adam."""

    lr: float
    beta1: float
    beta2: float
    weight_decay: float
    eps: float
    amsgrad: bool
    maximize: bool
    is_decoupled: bool

    def corrections(self, step: float) -> tuple[float, float]:
        """The factor of the update, and the divisor of the root of the mean of squares."""
        return -(self.lr / (1 - self.beta1**step)), (1 - self.beta2**step) ** 0.5

    def __call__(self, p: Array, g: Array, mean: Array, square_mean: Array, *largest: Array, step: float) -> None:
        factor, divisor = self.corrections(step)
        if self.maximize:
            g = -g
        if self.weight_decay != 0:
            if self.is_decoupled:
                p *= 1 - self.lr * self.weight_decay
            else:
                g = g + self.weight_decay * p
        weight = 1 - self.beta1
        mean[...] = mean + weight * (g - mean) if abs(weight) < 0.5 else g - (g - mean) * (1 - weight)
        square_mean *= self.beta2
        square_mean += (1 - self.beta2) * g * g
        for most in largest:
            np.maximum(most, square_mean, out=most)
            square_mean = most
        denominator = np.sqrt(square_mean) / divisor + self.eps
        p += factor * mean / denominator


def _fused_adam(is_decoupled: bool, lists: Sequence[Tensors], state_steps: Tensors, options: Sequence[Any]) -> None:
    lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf = options
    rate = number(lr)
    rule = Adam(rate, beta1, beta2, weight_decay, eps, amsgrad, maximize, is_decoupled)
    used = lists if amsgrad else lists[:-1]
    check(*used)
    quietly(update_each, rule, used, counts(state_steps), grad_scale, found_inf)


@CPU.impl("_fused_adam_", "_fused_adam_.tensor_lr")
def fused_adam(
    keys: int,
    self: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *options: Any,
) -> None:
    """A step of Adam. The steps have been counted already."""
    _fused_adam(False, (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs), state_steps, options)


@CPU.impl("_fused_adamw_", "_fused_adamw_.tensor_lr")
def fused_adamw(
    keys: int,
    self: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *options: Any,
) -> None:
    """A step of Adam with decoupled weight decay. The steps have been counted already."""
    _fused_adam(True, (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs), state_steps, options)


# SGD --------------------------------------------------------------------------------------------------------------


@CPU.impl("_fused_sgd_", "_fused_sgd_.tensor_lr")
def fused_sgd(
    keys: int,
    self: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    weight_decay: float,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """A step of SGD. There are no buffers without momentum; in the first step they become the gradients."""
    rate = number(lr)

    def update(p: Array, g: Array, *buffers: Array, step: float) -> None:
        if maximize:
            g = -g
        if weight_decay != 0:
            g = g + weight_decay * p
        for buffer in buffers:
            if is_first_step:
                buffer[...] = g
            else:
                buffer *= momentum
                buffer += (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p += -rate * g

    lists = (self, grads, momentum_buffer_list) if momentum != 0 else (self, grads)
    check(*lists)
    quietly(update_each, update, lists, [0.0] * len(self), grad_scale, found_inf)


# Adagrad ----------------------------------------------------------------------------------------------------------


@CPU.impl("_fused_adagrad_", "_fused_adagrad_.tensor_lr")
def fused_adagrad(
    keys: int,
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    lr: float | Tensor,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """A step of Adagrad. The steps have been counted already."""
    rate = number(lr)

    def update(p: Array, g: Array, total: Array, step: float) -> None:
        if maximize:
            g = -g
        if weight_decay != 0:
            g = g + weight_decay * p
        total += g * g
        p += -(rate / (1 + (step - 1) * lr_decay)) * g / (np.sqrt(total) + eps)

    check(self, grads, state_sums)
    quietly(update_each, update, (self, grads, state_sums), counts(state_steps), grad_scale, found_inf)

"""How are the weights of a model averaged over the steps of training?

Mirrors: torch/optim/swa_utils.py
Differs: a running average of moments is known by `running_mean` and `momentum`, whatever the module's class.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.dtype import int64
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.modules.module import Module
from glasstorch.operators.generated import functions as f
from glasstorch.optim.lr_scheduler.scheduler import LRScheduler, for_each_group
from glasstorch.optim.optimizer import Optimizer

__all__ = [
    "AveragedModel",
    "update_bn",
    "SWALR",
    "get_ema_multi_avg_fn",
    "get_swa_multi_avg_fn",
    "get_ema_avg_fn",
    "get_swa_avg_fn",
]

Tensors = list[Tensor]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Tensors, Tensors, Any], None]:
    """A function that moves averages towards parameters, by 1 - decay of the way."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Tensors, current_param_list: Tensors, _: Any) -> None:
        if _can_be_between(ema_param_list[0]):
            f._foreach_lerp_(ema_param_list, current_param_list, 1 - decay)
            return
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Tensors, Tensors, Any], None]:
    """A function that makes averages of n models those of n + 1."""

    @no_grad()
    def swa_update(averaged_param_list: Tensors, current_param_list: Tensors, num_averaged: Any) -> None:
        if _can_be_between(averaged_param_list[0]):
            f._foreach_lerp_(averaged_param_list, current_param_list, 1 / (int(num_averaged) + 1))
            return
        differences = f._foreach_sub(current_param_list, averaged_param_list)
        if isinstance(num_averaged, Tensor):
            f._foreach_addcdiv_(averaged_param_list, differences, [num_averaged + 1] * len(averaged_param_list))
        else:
            f._foreach_add_(averaged_param_list, differences, alpha=1.0 / (num_averaged + 1))

    return swa_update


def _can_be_between(tensor: Tensor) -> bool:
    """Whether the dtype has values between others; integers are rounded."""
    return tensor.is_floating_point() or tensor.is_complex()


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Tensor, Tensor, Any], Tensor]:
    """As get_ema_multi_avg_fn, for one parameter; the function returns the new average."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Tensor, Tensor, Any], Tensor]:
    """As get_swa_multi_avg_fn, for one parameter; the function returns the new average."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        moved: Tensor = averaged_param + (current_param - averaged_param) / (num_averaged + 1)
        return moved

    return swa_update


def _take_in(averages: Tensors, current: Tensors, n_averaged: Tensor) -> None:
    """Change averages of `n_averaged` models, in place, to include one more; the first is copied.

    There is no branch on `n_averaged`, so that a compiler can make one graph of it.
    """
    average_of_all = get_swa_avg_fn()
    for average, new in zip(averages, current, strict=True):
        count = n_averaged.to(average.device)
        moved = average_of_all(average, new, count).to(average.dtype)
        average.copy_(f.where(count == 0, new, moved))


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that `update_parameters` was given.

    `avg_fn(average, parameter, n_averaged)` returns a new average; `multi_avg_fn` changes a list of averages. Buffers
    are copied, or averaged too if `use_buffers`.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Tensor, Tensor, Any], Tensor] | None = None,
        multi_avg_fn: Callable[[Tensors, Tensors, Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", f.zeros((), dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model answers."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of a model into the averages; those of the first are copied."""
        mine, theirs = (list(self._averaged(one)) for one in (self.module, model))
        averages = [tensor.detach() for tensor in mine]
        current = [new.detach().to(old.device) for new, old in zip(theirs, averages, strict=False)]
        if self.avg_fn is None and self.multi_avg_fn is None:
            _take_in(averages, current, self.n_averaged)
        elif self.n_averaged == 0:
            f._foreach_copy_(averages, current)
        elif self.avg_fn is not None:
            for average, new in zip(averages, current, strict=True):
                average.copy_(self.avg_fn(average, new, self.n_averaged.to(average.device)))
        elif self.multi_avg_fn is not None:
            for kind in dict.fromkeys((tensor.device, tensor.dtype) for tensor in averages):
                some = [i for i, tensor in enumerate(averages) if (tensor.device, tensor.dtype) == kind]
                self.multi_avg_fn([averages[i] for i in some], [current[i] for i in some], self.n_averaged.to(kind[0]))
        if not self.use_buffers:
            for buffer, new in zip(self.module.buffers(), model.buffers(), strict=True):
                buffer.detach().copy_(new.detach().to(buffer.device))
        self.n_averaged += 1

    def _averaged(self, model: Module) -> Iterable[Tensor]:
        """The tensors of a model of which averages are kept."""
        return itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running averages of batch norm modules anew, by one pass over the inputs."""
    momenta: dict[Any, Any] = {
        module: module.momentum
        for module in model.modules()
        if hasattr(module, "running_mean") and hasattr(module, "reset_running_stats")
    }
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # the plain average
    for batch in loader:
        batch = batch[0] if isinstance(batch, list | tuple) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the present rate to `swa_lr` in `anneal_epochs` steps, along a cosine or a line, and constant then."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: Any = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(for_each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, share: float) -> float:
        """How far a rate has come after a share of the steps."""
        return share if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * share)) / 2

    def get_lr(self) -> list[Any]:
        self._warn_outside_of_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        steps = max(1, self.anneal_epochs)
        before, now = (self.anneal_func(max(0, min(1, count / steps))) for count in (step - 1, step))
        groups = self.optimizer.param_groups
        starts = [_before_annealing(group["lr"], group["swa_lr"], before) for group in groups]
        return [group["swa_lr"] * now + start * (1 - now) for group, start in zip(groups, starts, strict=True)]


def _before_annealing(lr: Any, swa_lr: Any, share: float) -> Any:
    """The rate that the present one has come from."""
    return swa_lr if share == 1 else (lr - share * swa_lr) / (1 - share)


__getattr__ = _refuse_unknown_names(__name__)

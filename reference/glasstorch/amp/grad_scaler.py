"""How do small gradients survive in float16?

The loss is multiplied by a scale before the backward pass, and the gradients are divided by it before the optimizer
sees them. A scale that is too large makes some of them infinite: that step is skipped, and the scale lowered.

Mirrors: torch/amp/grad_scaler.py
Differs: sparse gradients do not exist yet.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any, cast

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.device import device as device_
from glasstorch.core.dtype import dtype, float16, float32, int32
from glasstorch.core.user_line import warn_user
from glasstorch.devices.runtime import is_available
from glasstorch.operators.generated.functions import _amp_foreach_non_finite_check_and_unscale_ as _unscale
from glasstorch.operators.generated.functions import _amp_update_scale_, full

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far an optimizer has come since the last `update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    """The entry of an optimizer at the beginning of a step; a function of the module, so that it can be pickled."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class _OnEachDevice:
    """A tensor, and a copy of it on each device that asked for one."""

    def __init__(self, original: Tensor) -> None:
        self.original = original
        self.copies: dict[device_, Tensor] = {}

    def on(self, device: device_) -> Tensor:
        if device not in self.copies:
            self.copies[device] = self.original.to(device=device, non_blocking=True, copy=True)
        return self.copies[device]


class GradScaler:
    """Scales losses, unscales gradients, and adapts the scale to what float16 can hold.

    Each step: `scale(loss).backward()`, `step(optimizer)`, `update()`. After `growth_interval` steps without an
    infinite gradient the scale is multiplied by `growth_factor`; after one with, by `backoff_factor`, and the
    optimizer's step was skipped. With `enabled=False`, or without CUDA for the device "cuda", every method passes
    things on as they are.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if device == "cuda" and enabled and not is_available():
            warn_user("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
            self._init_scale = init_scale
            self._scale: Tensor | None = None  # on the device of the first loss, once there is one
            self._growth_factor = growth_factor
            self._backoff_factor = backoff_factor
            self._growth_interval = growth_interval
            self._init_growth_tracker = 0
            self._growth_tracker: Tensor | None = None  # how many steps in a row were taken
            self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_refresh_per_optimizer_state)

    # A step of training ---------------------------------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """A loss, or an iterable of them however nested, multiplied by the scale; lists and tuples keep their type."""
        if not self._enabled:
            return outputs
        on_each: _OnEachDevice | None = None

        def scaled(value: Any) -> Any:
            nonlocal on_each
            if isinstance(value, Tensor):
                if on_each is None:
                    on_each = _OnEachDevice(self._scale_on(value.device))
                return value * on_each.on(value.device)
            if isinstance(value, Iterable):
                each = map(scaled, value)
                return type(value)(each) if isinstance(value, list | tuple) else each
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")

        return scaled(outputs)

    def _scale_on(self, device: device_) -> Tensor:
        """The scale, made on the device of the first loss."""
        if self._scale is None:
            assert self._growth_tracker is None, "_growth_tracker initialized before _scale"
            self._scale = full((), self._init_scale, dtype=float32, device=device)
            self._growth_tracker = full((), self._init_growth_tracker, dtype=int32, device=device)
        return self._scale

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the scale, in place, so that they can be clipped before `step`.

        `step` does it otherwise. Once for each optimizer and step.
        """
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()  # rounded once
        found_inf = full((), 0.0, dtype=float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found_inf, allow_fp16=False)
        state["stage"] = OptState.UNSCALED

    def _unscale_grads_(
        self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[device_, Tensor]:
        """Multiply an optimizer's gradients by `inv_scale`; for each device, whether one was infinite or NaN."""
        inverses, found = _OnEachDevice(inv_scale), _OnEachDevice(found_inf)
        grads: dict[tuple[device_, dtype], list[Tensor]] = defaultdict(list)
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    if not isinstance(param, Tensor):
                        raise AssertionError(f"expected param to be torch.Tensor, got {type(param).__name__}")
                    grad = param.grad
                    if grad is None:
                        continue
                    if not allow_fp16 and grad.dtype is float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    grads[grad.device, grad.dtype].append(grad)
            for (device, _), several in grads.items():
                _unscale(several, found.on(device), inverses.on(device))
        return found.copies

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> float | None:
        """Unscale an optimizer's gradients, unless it was done, and let it step if all are finite.

        Returns what its step returns, or None if it was skipped. A closure is refused. An optimizer that says
        `_step_supports_amp_scaling` is given the scale as `grad_scale` and `found_inf`, and steps always.
        """
        if not self._enabled:
            return cast("float | None", optimizer.step(*args, **kwargs))
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_of_fused(optimizer, state, args, kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not state["found_inf_per_device"]:
                raise AssertionError("No inf checks were recorded for this optimizer.")
            result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _maybe_opt_step(
        self, optimizer: Any, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any
    ) -> float | None:
        """The optimizer's step, or None if a gradient was infinite or NaN."""
        if sum(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return cast("float | None", optimizer.step(*args, **kwargs))

    def _step_of_fused(self, optimizer: Any, state: dict[str, Any], args: Any, kwargs: dict[str, Any]) -> float | None:
        """The step of an optimizer that unscales the gradients itself, or asks this scaler to."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warn_user(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near "
                "future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed optimizer and "
                "let the optimizer use them directly.",
                FutureWarning,
            )
            return cast("float | None", optimizer.step(*args, **kwargs, grad_scaler=self))
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale, _ = self._check_scale_growth_tracker("step")
        before = getattr(optimizer, "grad_scale", None)
        if state["stage"] is not OptState.UNSCALED:
            before = scale if before is None else scale * before
        optimizer.grad_scale = before
        found = [one.to(scale.device, non_blocking=True) for one in state["found_inf_per_device"].values()]
        optimizer.found_inf = sum(found)
        try:
            return cast("float | None", optimizer.step(*args, **kwargs))
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """End a step: raise or lower the scale, or set it to `new_scale`."""
        if not self._enabled:
            return
        scale, growth_tracker = self._check_scale_growth_tracker("update")
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                    "requires_grad=False."
                )
            scale.copy_(new_scale)
        else:
            found = [
                one.to(device=scale.device, non_blocking=True)
                for state in self._per_optimizer_states.values()
                for one in state["found_inf_per_device"].values()
            ]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            combined = found[0]
            for one in found[1:]:
                combined += one
            factors = self._growth_factor, self._backoff_factor
            _amp_update_scale_(scale, growth_tracker, combined, *factors, self._growth_interval)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, function: str) -> tuple[Tensor, Tensor]:
        """The scale and the count of steps, of which there are none before the first loss."""
        for name in ("_scale", "_growth_tracker"):
            if getattr(self, name) is None:
                raise AssertionError(
                    f"Attempted {function} but {name} is None.  This may indicate your script did not use "
                    f"scaler.scale(loss or outputs) earlier in the iteration."
                )
        assert self._scale is not None
        assert self._growth_tracker is not None
        return self._scale, self._growth_tracker

    def _check_inf_per_device(self, optimizer: Any) -> dict[device_, Tensor]:
        """For each device, whether a gradient is infinite or NaN; none is changed."""
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one, found = (full((), value, dtype=float32, device=scale.device) for value in (1.0, 0.0))
        per_device = self._unscale_grads_(optimizer, one, found, allow_fp16=True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = per_device
        return per_device

    def _found_inf_per_device(self, optimizer: Any) -> dict[device_, Tensor]:
        return cast("dict[device_, Tensor]", self._per_optimizer_states[id(optimizer)]["found_inf_per_device"])

    # What it is set to ----------------------------------------------------------------------------------------

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """The scale as a number, for which a CUDA device is waited for; 1.0 if scaling is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else cast(float, self._scale.item())

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after an infinite gradient."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by after an infinite gradient."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps in a row the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps in a row the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else cast(int, tracker.item())

    def is_enabled(self) -> bool:
        """Whether it scales anything."""
        return self._enabled

    # Saving it ------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The scale, both factors, the interval and the count of steps, as numbers; empty if it is disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; that of a disabled scaler is refused."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")
        scale, growth, backoff, interval, tracker = (state_dict[name] for name in names)
        self._init_scale, self._init_growth_tracker = scale, tracker
        self._growth_factor, self._backoff_factor, self._growth_interval = growth, backoff, interval
        if self._scale is not None:
            self._scale.fill_(scale)
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                    "scaler.update()."
                )
            state |= {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker()}
            state |= {"_scale": None, "_growth_tracker": None}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

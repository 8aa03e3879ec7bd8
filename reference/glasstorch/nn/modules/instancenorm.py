"""Which layers normalize each image by itself?

Mirrors: torch/nn/modules/instancenorm.py
"""

from __future__ import annotations

import warnings
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import functional as F
from glasstorch.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """InstanceNorm of any number of dimensions; by default without parameters and running statistics."""

    dims: int  # besides batch and channels

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        least = self.dims + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")

    def _get_no_batch_dim(self) -> int:
        return self.dims + 1

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channels = input.dim() - self._get_no_batch_dim()
        if input.shape[channels] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channels} to match num_features ({self.num_features}), but got: "
                    f"{input.shape[channels]}."
                )
            warnings.warn(
                f"input's size at dim={channels} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        return self._handle_no_batch_input(input) if channels == 0 else self._apply_instance_norm(input)

    def _handle_no_batch_input(self, input: Tensor) -> Tensor:
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Before there were versions, running statistics were saved that this layer may not have."""
        name = type(self).__name__
        old = [key for key in (prefix + "running_mean", prefix + "running_var") if key in state_dict]
        if local_metadata.get("version") is None and not self.track_running_stats and old:
            listed = " and ".join(f'"{key}"' for key in old)
            error_msgs.append(
                f"Unexpected running stats buffer(s) {listed} for {name} with track_running_stats=False. If state_dict "
                f"is a checkpoint saved before 0.4.0, this may be expected because {name} does not track running stats "
                "by default since 0.4.0. Please remove these keys from state_dict. If the running stats are actually "
                f"needed, instead set track_running_stats=True in {name} to enable them. See the documentation of "
                f"{name} for details."
            )
            for key in old:
                del state_dict[key]
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalize each channel of (C, L) or (N, C, L), image by image."""

    dims = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalize each channel of (C, H, W) or (N, C, H, W), image by image."""

    dims = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalize each channel of (C, D, H, W) or (N, C, D, H, W), image by image."""

    dims = 3


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm1d that takes `num_features` from its first input, of shape (N, C, ...)."""

    cls_to_become = InstanceNorm1d
    dims = 1


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm2d that takes `num_features` from its first input, of shape (N, C, ...)."""

    cls_to_become = InstanceNorm2d
    dims = 2


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm3d that takes `num_features` from its first input, of shape (N, C, ...)."""

    cls_to_become = InstanceNorm3d
    dims = 3

"""Which layers normalize over a batch?

Mirrors: torch/nn/modules/batchnorm.py
Differs: SyncBatchNorm has no processes to synchronize with, and computes as BatchNorm.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import int64
from glasstorch.nn import functional as F
from glasstorch.nn import init
from glasstorch.nn.modules.lazy import LazyModuleMixin
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from glasstorch.operators.generated import functions as operators

__all__ = [
    "BatchNorm1d",
    "LazyBatchNorm1d",
    "BatchNorm2d",
    "LazyBatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """What BatchNorm and InstanceNorm share: parameters of a channel, and running statistics."""

    _version = 2
    __constants__ = ("track_running_stats", "momentum", "eps", "num_features", "affine")

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            empty = operators.empty(num_features, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if empty is None else Parameter(empty))
        if track_running_stats:
            self.register_buffer("running_mean", operators.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", operators.ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", operators.zeros((), device=device, dtype=int64))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """A mean of 0, a variance of 1, and no batches counted."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Fresh running statistics, weights of 1 and biases of 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """Values of version 1 do not count batches."""
        key, counted = prefix + "num_batches_tracked", self.num_batches_tracked
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            here = counted is not None and not counted.is_meta
            state_dict[key] = counted if here else operators.zeros((), dtype=int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """BatchNorm or InstanceNorm without `num_features`."""

    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = operators.zeros((), device=device, dtype=int64)

    def reset_parameters(self) -> None:
        """As the ordinary layer's, once there are sizes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and running statistics as many elements as this input has channels."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        waiting = ["weight", "bias"] if self.affine else []
        for name in waiting:
            parameter = getattr(self, name)
            if parameter is None and name == "bias":
                continue
            if not isinstance(parameter, UninitializedParameter):
                raise AssertionError(f"self.{name} must be an UninitializedParameter")
            parameter.materialize((self.num_features,))
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))
            self.running_var.materialize((self.num_features,))
        self.reset_parameters()


class _BatchNorm(_NormBase):
    """BatchNorm of any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean of all batches so far
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        moved = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if moved else None,
            self.running_var if moved else None,
            self.weight,
            self.bias,
            by_batch,
            momentum,
            self.eps,
        )


def _refuse_dims(input: Tensor, expected: str, accepted: tuple[int, ...]) -> None:
    if input.dim() not in accepted:
        raise ValueError(f"expected {expected} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Normalize each channel of (N, C) or (N, C, L) over the batch."""

    def _check_input_dim(self, input: Tensor) -> None:
        _refuse_dims(input, "2D or 3D", (2, 3))


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that takes `num_features` from its first input."""

    cls_to_become = BatchNorm1d

    def _check_input_dim(self, input: Tensor) -> None:
        _refuse_dims(input, "2D or 3D", (2, 3))


class BatchNorm2d(_BatchNorm):
    """Normalize each channel of (N, C, H, W) over the batch."""

    def _check_input_dim(self, input: Tensor) -> None:
        _refuse_dims(input, "4D", (4,))


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d that takes `num_features` from its first input."""

    cls_to_become = BatchNorm2d

    def _check_input_dim(self, input: Tensor) -> None:
        _refuse_dims(input, "4D", (4,))


class BatchNorm3d(_BatchNorm):
    """Normalize each channel of (N, C, D, H, W) over the batch."""

    def _check_input_dim(self, input: Tensor) -> None:
        _refuse_dims(input, "5D", (5,))


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that takes `num_features` from its first input."""

    cls_to_become = BatchNorm3d

    def _check_input_dim(self, input: Tensor) -> None:
        _refuse_dims(input, "5D", (5,))


class SyncBatchNorm(_BatchNorm):
    """BatchNorm of (N, C, ...), for batches that are spread over processes; with one process, the same."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any | None = None,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if not input.shape[1]:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any | None = None) -> Module:
        """The module with every BatchNorm in it replaced by a SyncBatchNorm with the same parameters and buffers."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(converted, name, getattr(module, name))
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted

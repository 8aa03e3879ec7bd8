"""Which names has torch.autograd.profiler_legacy?

Mirrors: torch/autograd/profiler_legacy.py
Differs: the legacy profile is the one of torch.autograd.profiler, with the parameters that it had.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.profiler.autograd_profile import profile as _profile

__all__ = ["profile"]


class profile(_profile):
    """The oldest form of a profile; use `torch.profiler.profile`."""

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
    ) -> None:
        super().__init__(
            enabled,
            use_device="cuda" if use_cuda else None,
            record_shapes=record_shapes,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
        )


__getattr__ = _refuse_unknown_names(__name__)

"""How does a layer take its sizes from its first input?

Mirrors: torch/nn/modules/lazy.py

A lazy layer holds parameters without sizes. A hook before its first `forward` calls `initialize_parameters` with that
input; then the hooks are removed, and the layer's class becomes that of the ordinary layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, NoReturn

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.modules.module import Module
from glasstorch.nn.uninitialized import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """What makes a module a lazy one; it stands before the module's class among the bases.

    A subclass defines `initialize_parameters`, and `cls_to_become` unless its class stays.
    """

    cls_to_become: ClassVar[type[Module] | None] = None

    _load_hook: RemovableHandle
    _initialize_hook: RemovableHandle

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give sizes and values to the parameters, for these arguments of `forward`."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module, not of its children, has no sizes yet."""
        return any(is_lazy(tensor) for _, tensor in self._own_tensors())

    def _own_tensors(self: Any) -> Iterator[tuple[str, Tensor | None]]:
        yield from chain(self._parameters.items(), self._buffers.items())

    def _infer_parameters(
        self: Any, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None
    ) -> None:
        """The hook before the first `forward`; `module` is the layer that is called."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        """As every module's, where what has no sizes is saved as it is; extra state is not saved."""
        for name, tensor in self._own_tensors():
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if is_lazy(tensor) or keep_vars else tensor.detach()

    def _lazy_load_hook(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: Mapping[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Before values are loaded: what has no sizes here takes those of the loaded value."""
        for name, tensor in self._own_tensors():
            value = state_dict.get(prefix + name)
            if isinstance(tensor, Tensor) and is_lazy(tensor) and prefix + name in state_dict and not is_lazy(value):
                with no_grad():
                    tensor.materialize(value.shape)  # type: ignore[attr-defined,union-attr]

    def _replicate_for_data_parallel(self) -> NoReturn:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )


__getattr__ = _refuse_unknown_names(__name__)

"""How are elements of a parameter taken out of use, by masks?

Mirrors: torch/nn/utils/prune.py

A pruned parameter "weight" is two tensors: the parameter weight_orig, which is trained, and the buffer weight_mask.
Before each call of the module a hook makes the attribute weight their product. A method of pruning says which mask; a
further method for the same parameter joins the first in a PruningContainer, and prunes what is left.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.core.layout import contiguous_format
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.modules.module import Module
from glasstorch.nn.utils.convert_parameters import parameters_to_vector
from glasstorch.operators.generated import functions as operators
from glasstorch.python_forms.norm import norm as norm_of

SomeModule = TypeVar("SomeModule", bound=Module)
Amount = float  # a share from 0 to 1, or as an int how many


# The protocol of a method -----------------------------------------------------------------------------------------


class BasePruningMethod(ABC):
    """A method of pruning and, once it is applied, the hook that multiplies a parameter by its mask.

    A subclass says in PRUNING_TYPE whether `compute_mask` is given the elements that are left in a container
    ("unstructured"), the slices along its `dim` in which any are left ("structured"), or everything ("global").
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask of the elements of `default_mask` that stay, chosen by the scores `t` of the same shape."""

    def apply_mask(self, module: Module) -> Tensor:
        """The original multiplied by its mask, in the original's dtype."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask: Tensor = getattr(module, self._tensor_name + "_mask")
        original: Tensor = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter of a module by this method, made with the arguments; returns it, or its container.

        The scores are those given, of the parameter's shape, or its values. After an error in the method the parameter
        is as it was before.
        """
        method = _joined(module, name, lambda: cls(*args, **kwargs))
        first = not isinstance(method, PruningContainer)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance_scores.shape} vs {original.shape}"
            )
        if first:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            mask = operators.ones_like(original)
        else:
            mask = getattr(module, name + "_mask").detach().clone(memory_format=contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(importance_scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor multiplied by the mask that the method computes; no module has to do with it."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}"
            )
        scores = t if importance_scores is None else importance_scores
        mask = operators.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the pruned tensor the parameter; the hook stays, and the function `remove` takes it away."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        assert original is not None
        original.data = pruned.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _joined(module: Module, name: str, make: Callable[[], BasePruningMethod]) -> BasePruningMethod:
    """A method, or a container of it and of those by which the parameter is pruned already, whose hook is taken."""
    found = [key for key, hook in module._forward_pre_hooks.items() if _prunes(hook, name)]
    if len(found) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
    before = [module._forward_pre_hooks.pop(key) for key in found]
    method = make()
    method._tensor_name = name
    if not before:
        return method
    container = before[0] if isinstance(before[0], PruningContainer) else PruningContainer(before[0])
    container.add_pruning_method(method)
    return container


def _prunes(hook: object, name: str) -> bool:
    return isinstance(hook, BasePruningMethod) and hook._tensor_name == name


class PruningContainer(BasePruningMethod):
    """The methods by which one parameter is pruned, in their order: each prunes what those before it left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method for the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask after the last of the methods, which sees what is left of it, in the dtype of `t`."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = _left(method, t, default_mask)
        partial = method.compute_mask(t[left], default_mask=default_mask[left])
        mask[left] = partial.to(dtype=mask.dtype)
        return mask


def _left(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Any:
    """The index of the part of a tensor that a method in a container is given."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    whole: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
            )
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        whole[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(whole)


# Which elements ---------------------------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The given mask itself."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> BasePruningMethod:  # type: ignore[override]
        """As `identity`, but returns the method."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: `amount` is their share or number."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Amount) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Without the elements whose random numbers are the largest."""
        return _without_elements(self.amount, t, default_mask, lambda: operators.rand_like(t), largest=True)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Amount) -> BasePruningMethod:  # type: ignore[override]
        """As `random_unstructured`, but returns the method."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of the smallest absolute values: `amount` is their share or number."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Amount) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Without the elements whose scores are the smallest."""
        return _without_elements(self.amount, t, default_mask, lambda: operators.abs(t), largest=False)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Amount, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        """As `l1_unstructured`, but returns the method."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _without_elements(
    amount: Amount, t: Tensor, default_mask: Tensor, scores: Callable[[], Tensor], largest: bool
) -> Tensor:
    """A copy of a mask with zeros where the scores are the largest or smallest."""
    count = _compute_nparams_toprune(amount, t.nelement())
    _validate_pruning_amount(count, t.nelement())
    mask = default_mask.clone(memory_format=contiguous_format)
    if count != 0:
        _, indices = operators.topk(scores().view(-1), k=count, largest=largest)
        mask.view(-1)[indices] = 0
    return mask


class RandomStructured(BasePruningMethod):
    """Prunes slices along `dim` at random: `amount` is their share or number."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Without the slices whose random numbers are the smallest."""
        size, count = _slices_to_prune(self.amount, t, self.dim)
        if count == 0:
            return default_mask
        numbers = operators.rand(size)
        threshold, _ = operators.kthvalue(numbers, k=count)
        return _slices_of(default_mask, t, self.dim, numbers > threshold)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Amount, dim: int = -1
    ) -> BasePruningMethod:
        """As `random_structured`, but returns the method."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prunes the slices along `dim` of the smallest norms of order `n`: `amount` is their share or number."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Without the slices whose scores have the smallest norms."""
        size, count = _slices_to_prune(self.amount, t, self.dim)
        _, indices = operators.topk(_compute_norm(t, self.n, self.dim), k=size - count, largest=True)
        return default_mask if count == 0 else _slices_of(default_mask, t, self.dim, indices)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Amount, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        """As `ln_structured`, but returns the method."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


def _slices_to_prune(amount: Amount, t: Tensor, dim: int) -> tuple[int, int]:
    """How many slices a tensor has along a dimension, and how many of them are to be pruned."""
    _validate_structured_pruning(t)
    _validate_pruning_dim(t, dim)
    size = t.shape[dim]
    count = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(count, size)
    return size, count


def _slices_of(default_mask: Tensor, t: Tensor, dim: int, kept: Tensor) -> Tensor:
    """A mask in the dtype of `t` with zeros but in the slices that are kept."""
    mask = operators.zeros_like(t)
    index: list[Any] = [slice(None)] * t.dim()
    index[dim] = kept
    mask[tuple(index)] = 1
    mask *= default_mask.to(dtype=mask.dtype)
    return mask


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The product of both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> BasePruningMethod:  # type: ignore[override]
        """As `custom_from_mask`, but returns the method."""
        return super().apply(module, name, mask=mask)


# Functions --------------------------------------------------------------------------------------------------------


def identity(module: SomeModule, name: str) -> SomeModule:
    """Make the mask of a parameter without pruning it; returns the module, changed in place."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: SomeModule, name: str, amount: Amount) -> SomeModule:
    """Prune elements at random, by their share or number; returns the module, changed in place."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: SomeModule, name: str, amount: Amount, importance_scores: Tensor | None = None
) -> SomeModule:
    """Prune the elements of the smallest absolute values or scores; returns the module, changed in place."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: SomeModule, name: str, amount: Amount, dim: int) -> SomeModule:
    """Prune slices along a dimension at random, by their share or number; returns the module, changed in place."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: SomeModule, name: str, amount: Amount, n: Any, dim: int, importance_scores: Tensor | None = None
) -> SomeModule:
    """Prune the slices along a dimension of the smallest norms of order `n`; returns the module, changed in place."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: SomeModule, name: str, mask: Tensor) -> SomeModule:
    """Prune what a mask says; returns the module, changed in place."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters, pairs of a module and a name, as if they were one, by an unstructured method.

    `kwargs` are the method's. `importance_scores` has other scores for some of the pairs.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    all_scores = parameters_to_vector(
        [scores.get((module, name), getattr(module, name)) for module, name in parameters]
    )
    all_masks = parameters_to_vector(
        [getattr(module, name + "_mask", operators.ones_like(getattr(module, name))) for module, name in parameters]
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    mask = container.compute_mask(all_scores, all_masks)
    begin = 0
    for module, name in parameters:
        parameter = getattr(module, name)
        end = begin + parameter.numel()
        custom_from_mask(module, name, mask=mask[begin:end].view_as(parameter))
        begin = end


def remove(module: SomeModule, name: str) -> SomeModule:
    """Make a pruned tensor the parameter, without mask and hook; returns the module, changed in place."""
    for key, hook in module._forward_pre_hooks.items():
        if _prunes(hook, name):
            hook.remove(module)  # type: ignore[attr-defined]
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether the module, or one below it, has the hook of a method of pruning."""
    return any(
        isinstance(hook, BasePruningMethod)
        for _, below in module.named_modules()
        for hook in below._forward_pre_hooks.values()
    )


# What is refused --------------------------------------------------------------------------------------------------


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if float(amount) < 0 or (not whole and float(amount) > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    shape = t.shape
    if len(shape) <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{shape} with {len(shape)} dims"
        )


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> Any:
    """How many of so many: the number, or the share of them, rounded."""
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """The norm of each slice along a dimension."""
    dims = list(range(t.dim()))
    dims.remove(dims[dim] if dim < 0 else dim)
    return norm_of(t, p=n, dim=dims)


__getattr__ = _refuse_unknown_names(__name__)

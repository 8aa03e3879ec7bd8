"""How does a module compute one of its parameters from others, each time that it is read?

Mirrors: torch/nn/utils/parametrize.py
Differs: while values are kept (`cached`), a deep copy keeps its own, where PyTorch gives it those of its original.
    Parameters hold tensors only, no opaque objects.

A parametrized module gets a class of its own, derived from the one it had, with a property in the parameter's place.
The property calls the modules of a ParametrizationList one after another; the list is a child module, and it holds the
tensors that they are given. So the optimizer, `state_dict` and `to` find those tensors and not the computed one.
"""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.autograd.swap_tensors import swap_tensors
from glasstorch.core import hooks
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.python_fallback import is_taken_apart
from glasstorch.nn.modules.container import ModuleDict, ModuleList
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.replacement import get_swap_module_params_on_conversion
from glasstorch.nn.parameter import Parameter

__all__ = [
    "cached",
    "ParametrizationList",
    "register_parametrization",
    "is_parametrized",
    "remove_parametrizations",
    "type_before_parametrizations",
    "transfer_parametrizations_and_params",
]

_cache_enabled = 0  # how many `cached` blocks are open
_cache: dict[tuple[int, str], Tensor] = {}  # by the module's identity and the name of the tensor


@contextmanager
def cached() -> Iterator[None]:
    """In the `with` block, every parametrized tensor is computed once, when it is first read; blocks may be nested."""
    global _cache, _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order in which they are applied, and what the first is applied to.

    That is `original`, or `original0`, `original1` ... where the `right_inverse` of the first returns a sequence.
    Call it without arguments for the computed tensor. `register_parametrization` makes it.
    """

    original: Tensor
    unsafe: bool
    is_tensor: bool
    ntensors: int

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype  # `original` may soon have others

        new: Any = original
        with no_grad():
            for module in reversed(list(self)):
                new = _inverted(module, new)
        if not isinstance(new, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            self._keep_the_object(original, new)
        else:
            self._register_several(original, new)
        if not unsafe:
            self._check_what_it_computes(dtype, shape)

    def _keep_the_object(self, original: Tensor, new: Tensor) -> None:
        """Give the parameter itself the new values, so that an optimizer that holds it goes on training it."""
        for what, before, after in (
            ("dtype", original.dtype, new.dtype),
            ("device", original.device, new.device),
        ):
            if before != after:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                    f"original.{what}: {before}\n"
                    f"right_inverse(original).{what}: {after}"
                )
        with no_grad():
            _become(original, new)
        _register(self, "original", original)

    def _register_several(self, original: Tensor, new: Sequence[Any]) -> None:
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(tensor).__name__}."
                )
            held = Parameter(tensor, original.requires_grad) if isinstance(original, Parameter) else tensor
            held.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", held)

    def _check_what_it_computes(self, dtype: Any, shape: Any) -> None:
        computed = self()
        if not isinstance(computed, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(computed).__name__}.")
        for what, before, after in (("dtype", dtype, computed.dtype), ("shape", shape, computed.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    "enabled.\n"
                    f"unparametrized {what}: {before}\n"
                    f"parametrized {what}: {after}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Overwrite the held tensors so that calling the list gives `value`; all modules must have `right_inverse`."""
        new: Any = value
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                new = module.right_inverse(new)
            if self.is_tensor:
                self._overwrite_one(new)
            else:
                self._overwrite_several(new)

    def _overwrite_one(self, new: Any) -> None:
        if not isinstance(new, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(new).__name__}")
        if new.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {new.dtype} "
                f"while `original` has dtype {self.original.dtype}"
            )
        self.original.set_(new)

    def _overwrite_several(self, new: Any) -> None:
        if not isinstance(new, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(new).__name__}.")
        if len(new) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. "
                f"Got a sequence of length {len(new)}."
            )
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. "
                    f"Got element {i} of type {type(tensor).__name__}."
                )
            held = getattr(self, f"original{i}")
            if held.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} "
                    f"while `original{i}` has dtype {held.dtype}"
                )
            held.set_(tensor)

    def forward(self) -> Tensor:
        """The computed tensor."""
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        computed = self[0](*(getattr(self, name) for name in names))
        for position in count(1):  # by number: a user may have given the list other children as well
            if not hasattr(self, str(position)):
                break
            computed = self[position](computed)
        return computed  # type: ignore[no-any-return]  # which may be no tensor: the caller checks


def _inverted(module: Module, value: Any) -> Any:
    """What a parametrization is to be given so that it returns `value`; `value` itself if it does not say."""
    if hasattr(module, "right_inverse"):
        try:
            return module.right_inverse(value)
        except NotImplementedError:
            pass
    return value


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Replace a parameter or buffer by what `parametrization` computes of it; returns the module, changed in place.

    The tensor moves to `module.parametrizations[tensor_name].original`. A parametrization may have a `right_inverse`:
    it gives the original's first value, or a sequence of originals, and what an assignment to the tensor stores. A
    further parametrization of the same tensor is applied after those before it. Unless `unsafe` is set, both functions
    are called once and must keep the dtype and shape; ValueError says which does not, or that no tensor has this name.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        assert isinstance(module.parametrizations, ModuleDict)
        parametrizations = module.parametrizations[tensor_name]
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_further(module: Module, tensor_name: str, parametrization: Any) -> None:
    """Refuse to append a parametrization that changes dtype or shape, there or back."""
    before = getattr(module, tensor_name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                "enabled.\n"
                f"module.{tensor_name}.{what}: {getattr(before, what)}\n"
                f"parametrization(module.{tensor_name}).{what}: {getattr(after, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(before, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                f"module.{tensor_name}, unless the `unsafe` flag is enabled.\n"
                f"module.{tensor_name}.{what}: {getattr(before, what)}\n"
                f"returned {what}: {getattr(back, what)}"
            )


def _inject_new_class(module: Module) -> None:
    """Give the module a class of its own, in which properties can be put; it can be copied deeply but not pickled."""
    kind = type(module)
    body: dict[str, Any] = {"__getstate__": _refuse_to_pickle}
    if not hasattr(kind, "__deepcopy__"):
        body["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), body)


def _refuse_to_pickle(self: Module) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(self: Module, memo: dict[int, Any]) -> Any:
    """What `copy.deepcopy` does with an object that can be pickled."""
    made = memo.get(id(self))
    if made is None:
        made = memo[id(self)] = self.__new__(type(self))
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
            if hasattr(self, slot):
                setattr(made, slot, copy.deepcopy(getattr(self, slot), memo))
    return made


def _inject_property(module: Module, tensor_name: str) -> None:
    """Put a property into the class that `_inject_new_class` made: it computes the tensor, and takes assignments."""
    if hasattr(module, tensor_name):
        raise AssertionError(f"Module already has an attribute named '{tensor_name}'")

    def get(self: Any) -> Tensor:
        parametrizations: ParametrizationList = self.parametrizations[tensor_name]
        if not _cache_enabled:
            return parametrizations()  # type: ignore[no-any-return]
        if hooks.trace_hooks is not None and hooks.trace_hooks.records_here():
            raise RuntimeError("Cannot trace a model while caching parametrizations.")
        key = (id(self), tensor_name)
        if key not in _cache:
            _cache[key] = parametrizations()
        return _cache[key]

    def set(self: Any, value: Tensor) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(get, set))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the tensor of this name, or without a name any tensor of the module, is computed by parametrizations."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a parametrized tensor a parameter or buffer again; returns the module, changed in place.

    It has the computed value or, with `leave_parametrized=False`, the original's; that is refused where there are
    several. An only original stays the same object, which an optimizer may hold.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    assert isinstance(module.parametrizations, ModuleDict)
    held: ParametrizationList = module.parametrizations[tensor_name]
    if held.is_tensor:
        tensor = held.original
        if leave_parametrized:
            with no_grad():
                _overwrite(tensor, getattr(module, tensor_name))
    elif leave_parametrized:
        computed = getattr(module, tensor_name)  # with its history, which says whether an original is trained
        tensor = Parameter(computed) if computed.requires_grad else computed
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, tensor)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def _overwrite(tensor: Tensor, value: Tensor) -> None:
    if type(tensor) is Tensor:
        _become(tensor, value)
        return
    try:
        _become(tensor, value)
    except RuntimeError as error:
        raise RuntimeError(
            "Calling remove_parametrizations() with leave_parametrized=True for a parameter that is an instance of a "
            "tensor subclass requires set_() to be implemented correctly for the tensor subclass."
            "Alternatively, one can opt into the swap_tensors path"
            "Either set leave_parametrized=False or provide a working implementation"
            "for set_() in the tensor subclass or set torch.__future__.set_swap_module_params_on_conversion(True)."
        ) from error


def _become(tensor: Tensor, value: Tensor) -> None:
    """Let a tensor have another one's elements: its storage, or all of it where that was chosen."""
    if not (get_swap_module_params_on_conversion() or is_taken_apart(type(tensor))):
        tensor.set_(value)
        return
    if isinstance(tensor, Parameter) and not isinstance(value, Parameter):
        value = Parameter(value, requires_grad=tensor.requires_grad)
    swap_tensors(tensor, value)


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before its first parametrization; its class if it has none."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Parametrize another module's tensors as this one's are, with the same originals; returns the other module.

    All parametrized tensors are transferred, or the one of this name; the other module gets those that it lacks.
    """
    if not is_parametrized(from_module):
        return to_module
    assert isinstance(from_module.parametrizations, ModuleDict)
    names: Iterable[str] = from_module.parametrizations if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        held: ParametrizationList = from_module.parametrizations[name]
        for parametrization in held:
            register_parametrization(to_module, name, parametrization)
        assert isinstance(to_module.parametrizations, ModuleDict)
        given: ParametrizationList = to_module.parametrizations[name]
        originals = ["original"] if hasattr(held, "original") else _numbered_originals(held)
        for original in originals:
            setattr(given, original, getattr(held, original))
    return to_module


def _numbered_originals(held: ParametrizationList) -> Iterator[str]:
    for i in count():
        if not hasattr(held, f"original{i}"):
            return
        yield f"original{i}"


__getattr__ = _refuse_unknown_names(__name__)

"""How does a function become an operator?

Mirrors: torch/_library/custom_ops.py
Differs: an operator is told of one kernel for each device, whose functions may be replaced; PyTorch's compiler, which
    must not look into them, is not here.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, overload
from weakref import WeakValueDictionary

from glasstorch._dispatch_queries import _dispatch_key_for_device
from glasstorch._library.autocast import autocast_kernel, check_device
from glasstorch._library.autograd import Formula, autograd_kernel
from glasstorch._library.by_name import DeviceTypes, several
from glasstorch._library.fake_impl import fake_impl_of
from glasstorch._library.infer_schema import infer_schema
from glasstorch._library.schemas import (
    can_be_faked_without_a_kernel,
    has_tensor,
    has_tensor_by_name,
    is_functional,
    is_inplace,
    is_mutable,
    is_out,
    is_view,
    memory_of,
    place_of_device,
    tensors_in,
    written,
)
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    BELOW_ADINPLACEORVIEW,
    DispatchKey,
    key_set_of,
)
from glasstorch.core.unknown_names import as_torch
from glasstorch.dispatch.library import Library, caller
from glasstorch.dispatch.operator import Boxed, Kernel
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.dispatch.tags import Tag
from glasstorch.func.users_rule import UsersRule

F = TypeVar("F", bound=Callable[..., Any])
# Where PyTorch's errors say that a kernel is, whose functions are wrapped in this module
OWN_MODULE = f"<module '{as_torch(__name__)}' from {__file__!r}>"
Tags = Tag | Sequence[Tag] | None

log = logging.getLogger(__name__)


@overload
def custom_op(
    name: str,
    fn: None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: DeviceTypes = None,
    schema: str | None = None,
    tags: Tags = None,
) -> Callable[[Callable[..., Any]], CustomOpDef]: ...


@overload
def custom_op(
    name: str,
    fn: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: DeviceTypes = None,
    schema: str | None = None,
    tags: Tags = None,
) -> CustomOpDef: ...


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: DeviceTypes = None,
    schema: str | None = None,
    tags: Tags = None,
) -> Callable[[Callable[..., Any]], CustomOpDef] | CustomOpDef:
    """Make the function below, or `fn`, the operator `namespace::name`.

    Its schema is read from its annotations unless `schema` gives it. `mutates_args` are the names of the arguments that
    it writes to, or "unknown". Without `device_types` it runs on all devices. Calling the result calls the operator.

    >>> from glasstorch import Tensor
    >>> def doubled(x: Tensor) -> Tensor:
    ...     return x * 2
    >>> operator = custom_op("docs::doubled", doubled, mutates_args=())
    >>> str(operator._opoverload._schema)
    'docs::doubled(Tensor x) -> Tensor'
    """
    where = caller(1)

    def decorate(function: Callable[..., Any]) -> CustomOpDef:
        given = _as_tuple(tags)
        text = infer_schema(function, mutates_args=mutates_args, tags=given) if schema is None else schema
        namespace, opname = name.split("::")
        made = CustomOpDef(namespace, opname, text, function, given, where)
        if schema is not None:
            arguments = made._opoverload.schema.arguments
            expected = {arguments[i].name for i in written(made._opoverload.schema)}
            if expected != set(mutates_args):
                raise ValueError(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The "
                    f"schema suggests that the op mutates {expected}which is different from what was provided to us "
                    f"in `mutates_args`. Please make these consistent."
                )
        made.register_kernel(device_types)(function)
        return made

    return decorate if fn is None else decorate(fn)


def _as_tuple(tags: Tags) -> tuple[Tag, ...]:
    return () if tags is None else (tags,) if isinstance(tags, Tag) else tuple(dict.fromkeys(tags))


_definitions: WeakValueDictionary[str, CustomOpDef] = WeakValueDictionary()
_libraries: dict[
    str, Library
] = {}  # of each operator that custom_op has made; a second one of the name takes its place


def _library_for(namespace: str, name: str) -> Library:
    """A Library of its own for an operator; what was registered under its name before is removed."""
    full = f"{namespace}::{name}"
    if full in _libraries:
        _libraries.pop(full).close()
    made = _libraries[full] = Library(namespace, "FRAGMENT")
    return made


def definition_of(operator: CustomOpDef | OpOverload | str) -> CustomOpDef | None:
    """The custom operator of that name, if it is one."""
    if isinstance(operator, CustomOpDef):
        return operator
    return _definitions.get(str(operator.name if isinstance(operator, OpOverload) else operator))


def _trust(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
    """A view shares memory, as its schema says."""


class CustomOpDef:
    """A function as an operator, and what else is registered for it. Made by `custom_op`."""

    def __init__(
        self, namespace: str, name: str, schema: str, fn: Callable[..., Any], tags: Tags = None, where: str = ""
    ) -> None:
        self._namespace, self._name, self._schema, self._init_fn = namespace, name, schema, fn
        self._tags = (Tag.pt2_compliant_tag, *_as_tuple(tags))
        self._where = where or caller(1)
        self._backend_fns: dict[str | None, Callable[..., Any]] = {}
        self._disabled_kernel: set[str | None] = set()
        self._abstract_fn: Callable[..., Any] | None = None
        self._setup_context_fn: Callable[..., Any] | None = None
        self._backward_fn: Callable[..., Any] | None = None
        self._torch_dispatch_fns: dict[type, Callable[..., Any]] = {}
        self._vmap_fn: Callable[..., Any] | None = None
        self._autocast_dtype: dict[str, dtype] = {}
        parsed = FunctionSchema.parse(name + schema)
        if has_tensor_by_name(parsed) and Tag.out not in self._tags:
            raise NotImplementedError(
                f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {name}{schema}"
            )
        self._lib = _library_for(namespace, name)
        self._opoverload = self._lib.define(name + schema, tags=self._tags)
        self._opoverload.defined_at = self._where
        _definitions[self._qualname] = self
        self._register_fake_kernel()
        formula = Formula(lambda: self._backward_fn, lambda: self._setup_context_fn)
        self._impl(autograd_kernel(self._opoverload, formula), "Autograd")
        if is_mutable(self._opoverload.schema):
            self._impl(self._counts_versions(), "ADInplaceOrView")

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the operator."""
        return self._opoverload(*args, **kwargs)

    def _impl(self, kernel: Boxed, key: str) -> None:
        """Register a kernel of our own: it takes the keys, and every argument of the schema in order."""
        self._lib.register(self._name, Kernel(kernel, DispatchKey[key], self._where, True, False), allow_override=True)

    # Kernels --------------------------------------------------------------------------------------------------------

    def register_kernel(self, device_types: DeviceTypes, fn: Callable[..., Any] | None = None, /) -> Any:
        """Make the function below, or `fn`, the operator's kernel on some types of device; None stands for all.

        A second function for the same device replaces the first.
        """

        def register(function: F) -> F:
            for device_type in several(device_types):
                if device_type not in self._backend_fns:
                    key = "CompositeExplicitAutograd" if device_type is None else _dispatch_key_for_device(device_type)
                    kernel = self._kernel_on(device_type)
                    self._lib.register(
                        self._name, Kernel(kernel, DispatchKey[key], self._where, False, False, True), True
                    )
                self._backend_fns[device_type] = function
            return function

        schema = self._opoverload.schema
        if device_types is not None and not has_tensor(schema):
            place = place_of_device(schema)
            if place is None:
                raise ValueError(
                    "Functions without tensor inputs are required to have a `device: torch.device` argument"
                )
            self._impl(self._chooses_backend(place), "BackendSelect")
        return register if fn is None else register(fn)

    def _kernel_on(self, device_type: str | None) -> Boxed:
        """The kernel of a device: the function registered last, whose result is checked."""
        functions, disabled = self._backend_fns, self._disabled_kernel

        def kernel(*args: Any, **kwargs: Any) -> Any:
            function = functions[device_type] if device_type not in disabled else self._init_fn
            result = function(*args, **kwargs)
            check(function, args, kwargs, result)
            return result

        schema = self._opoverload.schema
        if is_inplace(self._opoverload):
            check = self._check_returns_first
        elif is_out(self._opoverload):
            check = self._check_returns_outs
        elif is_view(schema):
            check = _trust
        else:
            check = self._check_aliases
        return kernel

    def _check_aliases(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        """Refuse a result that shares memory with an argument or with another result."""
        seen = {memory_of(tensor) for tensor in tensors_in([*args, *kwargs.values()] if kwargs else args)}
        for tensor in tensors_in(result if isinstance(result, tuple) else (result,)):
            memory = memory_of(tensor)
            if memory in seen:
                break
            seen.add(memory)
        else:
            return
        raise RuntimeError(
            f"{self._name} (with implementation in {OWN_MODULE}): The output of this custom operator "
            f"(1) must not also be an input to this custom operator and (2) may not alias any inputs to this custom "
            f"operator or other returns. Return a clone of it instead (x.clone()), or do not return it."
        )

    def _check_returns_first(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        if result is not args[0]:
            raise RuntimeError(
                f"{self._name} (with implementation in {OWN_MODULE}): An operator tagged with "
                f"torch.Tag.inplace must return its first argument."
            )

    def _check_returns_outs(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        arguments = self._opoverload.schema.arguments
        wanted = [kwargs[arguments[i].name] for i in written(self._opoverload.schema)]
        returned = result if len(wanted) > 1 and isinstance(result, tuple) else (result,)
        if len(returned) != len(wanted) or any(a is not b for a, b in zip(returned, wanted, strict=True)):
            raise RuntimeError(
                f"{self._name} (with implementation in {OWN_MODULE}): An operator tagged with "
                f"torch.Tag.out must return its mutable keyword-only arguments."
            )

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """In a `with` block, let the kernel of a device run, or the function that the operator was made of."""
        was_disabled = device_type in self._disabled_kernel
        if device_type not in self._backend_fns:
            log.warning(
                "Attempted to %s kernel for %s but no kernel was registered for this device type.",
                "enable" if enabled else "disable",
                device_type,
            )
        if enabled is not was_disabled:
            log.warning(
                "Attempted to %s kernel for %s but it was already %s.",
                *(("enable", device_type, "enabled") if enabled else ("disable", device_type, "disabled")),
            )
        (self._disabled_kernel.discard if enabled else self._disabled_kernel.add)(device_type)
        try:
            yield
        finally:
            (self._disabled_kernel.add if was_disabled else self._disabled_kernel.discard)(device_type)

    def _chooses_backend(self, place: int) -> Boxed:
        """The kernel of BackendSelect, for an operator without tensors: the device is an argument."""

        def kernel(keys: int, *arguments: Any) -> Any:
            wanted = device(arguments[place])
            if wanted.type not in self._backend_fns:
                raise RuntimeError(
                    f"{self._name} does not have a kernel registered for {wanted.type}. Please use register_kernel to "
                    f"do so."
                )
            found = key_set_of(_dispatch_key_for_device(wanted.type))
            given = (*arguments[:place], wanted, *arguments[place + 1 :])
            return self._opoverload.table[found](found, *given)

        return kernel

    def _counts_versions(self) -> Boxed:
        """The kernel of ADInplaceOrView: the arguments that are written to get new versions."""
        table, places = self._opoverload.table, written(self._opoverload.schema)

        def kernel(keys: int, *arguments: Any) -> Any:
            for changed in tensors_in([arguments[i] for i in places]):
                if changed.key_set & ADINPLACEORVIEW:
                    changed.bump_version()
            below = keys & BELOW_ADINPLACEORVIEW
            return table[below](below, *arguments)

        return kernel

    # What else ------------------------------------------------------------------------------------------------------

    def register_fake(self, fn: F, /) -> F:
        """Make a function that returns tensors of the right sizes, strides and dtypes the operator's fake kernel."""
        if (inplace := is_inplace(self._opoverload)) or is_out(self._opoverload):
            tag = "torch.Tag.inplace" if inplace else "torch.Tag.out"
            warnings.warn(
                f"The fake registration for {self} is unnecessary. Custom ops tagged with {tag} already get an "
                f"autogenerated fake kernel. The provided fake impl will be used instead.",
                stacklevel=2,
            )
        self._abstract_fn = fn
        return fn

    def _register_fake_kernel(self) -> None:
        def fake(*args: Any, **kwargs: Any) -> Any:
            if self._abstract_fn is not None:
                return self._abstract_fn(*args, **kwargs)
            if not can_be_faked_without_a_kernel(self._opoverload):
                raise RuntimeError(
                    f"There was no fake impl registered for {self}. This is necessary for torch.compile/export/fx "
                    f"tracing to work. Please use `{self._init_fn.__name__}.register_fake` to add an fake impl."
                )
            if is_inplace(self._opoverload):
                return args[0]
            outs = (
                tuple(kwargs[self._opoverload.schema.arguments[i].name] for i in written(self._opoverload.schema))
                if is_out(self._opoverload)
                else (None,)
            )
            return outs[0] if len(outs) == 1 else outs

        fake_impl_of(self._qualname).register(fake, self._where, self._lib, allow_override=True)

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Give the operator a gradient.

        `backward(ctx, *grads)` returns a gradient, or None, for each argument that may be given by position;
        `setup_context(ctx, inputs, output)` stores what it needs, and is given `keyword_only_inputs` too where there
        are any.
        """
        schema = self._opoverload.schema
        if is_out(self._opoverload):
            raise RegistrationError(
                f"Cannot register autograd formula for operator tagged with torch.Tag.out: {self}. Out variants do not "
                f"support autograd."
            )
        if not is_functional(schema, allow_valid_view=True):
            raise RegistrationError(
                f"Cannot register autograd formula for non-functional operator {self} with schema "
                f"{self._opoverload._schema}. Please create a functional operator and register an autograd formula for "
                f"that."
            )
        self._backward_fn, self._setup_context_fn = backward, setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Give the operator a rule for a batch: `func(info, in_dims, *args)` returns the result and its `out_dims`."""

        def register(function: F) -> F:
            need_register = self._vmap_fn is None
            self._vmap_fn = function
            if need_register:
                self._impl(UsersRule(lambda: self._vmap_fn), "FuncTorchBatched")
            return function

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: dtype) -> Any:
        """Let autocast cast the arguments of floating point on a device to a dtype before the operator runs."""
        check_device(device_type)
        if device_type not in self._autocast_dtype:
            kernel, key = autocast_kernel(self._opoverload, device_type, lambda: self._autocast_dtype[device_type])
            self._impl(kernel, key)
        self._autocast_dtype.setdefault(device_type, cast_inputs)

    def register_torch_dispatch(self, torch_dispatch_class: type, fn: Callable[..., Any] | None = None, /) -> Any:
        """Say what the operator does for a class of modes or of tensors that has `__torch_dispatch__`.

        The function is called as `fn(mode, func, types, args, kwargs)`; for tensors, their class comes first.
        """

        def register(function: F) -> F:
            self._torch_dispatch_fns[torch_dispatch_class] = function
            self._opoverload.torch_dispatch_rules[torch_dispatch_class] = function
            return function

        return register if fn is None else register(fn)

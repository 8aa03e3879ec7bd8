"""How is something registered for an operator that exists, by its name?

Mirrors: torch/library.py (define, impl and the functions register_...)
Differs: what a function registers for an operator that no Library is given for stays until the process ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any, Final, TypeVar
from warnings import warn

from glasstorch._library.autocast import autocast_kernel, check_device
from glasstorch._library.autograd import Formula, autograd_kernel
from glasstorch._library.by_name import DeviceTypes, key_named, lookup_op, parse_namespace, several
from glasstorch._library.custom_ops import CustomOpDef, definition_of
from glasstorch._library.fake_impl import fake_impl_of
from glasstorch._library.schemas import has_tensor_by_name, is_functional, is_out
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import MissingKernelError, RegistrationError
from glasstorch.core.keys import DispatchKey, DispatchKeySet
from glasstorch.dispatch.library import Library, caller
from glasstorch.dispatch.operator import Boxed, Kernel, Operator, registry
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.resolve import choose, entry_for, missing_message
from glasstorch.dispatch.tags import Tag
from glasstorch.func.users_rule import UsersRule

F = TypeVar("F", bound=Callable[..., Any])
Named = str | OpOverload | CustomOpDef

NAMELESS_SCHEMA: Final = re.compile(r"\(.*\) -> .*")

_kept: Final[list[Library]] = []  # what a Library registered goes with it


def _library_of(namespace: str, lib: Library | None) -> Library:
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _kept.append(lib)
    return lib


def _definition_or_name(op: Named, called: str) -> CustomOpDef | str:
    """What `custom_op` has made, or the name of another operator."""
    if not isinstance(op, str | OpOverload | CustomOpDef):
        raise ValueError(f"{called}({op}): got unexpected type for op: {type(op)}")
    return definition_of(op) or (str(op.name) if isinstance(op, OpOverload) else str(op))


def _kernel(library: Library, qualname: str, kernel: Boxed, key: str, where: str) -> None:
    """Register a kernel of our own: it takes the keys, and every argument of the schema in order."""
    name = parse_namespace(qualname)[1]
    library.register(name, Kernel(kernel, DispatchKey[key], where, True, False), None)


# Operators and kernels ------------------------------------------------------------------------------------------------


@singledispatch
def define(qualname: Any, schema: str, *, lib: Library | None = None, tags: Tag | Sequence[Tag] = ()) -> Any:
    """Declare the operator `namespace::name` with a schema that begins with its parentheses.

    With a Library in place of the name, it is a decorator: `define(library, "name(Tensor x) -> Tensor")` declares the
    operator and makes the function below its kernel for all devices.
    """
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = parse_namespace(qualname)
    library = _library_of(namespace, lib)
    if not NAMELESS_SCHEMA.fullmatch(schema):
        raise ValueError(
            f"define(qualname, schema, ...): expected schema to look like e.g. "
            f'"(Tensor x) -> Tensor" but got "{schema}"'
        )
    library.define(name + schema, tags=tags)
    return None


@define.register
def _(qualname: Library, schema: str, alias_analysis: str = "") -> Callable[[F], F]:
    def decorate(function: F) -> F:
        qualname.impl(qualname.define(schema, alias_analysis), function)
        return function

    return decorate


@singledispatch
def impl(
    qualname: Any, types: str | Sequence[str], func: Callable[..., Any] | None = None, *, lib: Library | None = None
) -> Any:
    """Make the function below, or `func`, the kernel of an operator on types of device, or for dispatch keys.

    "default" stands for all devices. `impl(library, name, dispatch_key)` is a decorator too.
    """
    keys = dict.fromkeys(key_named(one) for one in ((types,) if isinstance(types, str) else types))

    def register(function: Callable[..., Any]) -> None:
        library = _library_of(parse_namespace(qualname)[0], lib)
        for key in keys:
            library.impl(qualname, function, key)

    return register if func is None else register(func)


@impl.register
def _(qualname: Library, name: str, dispatch_key: str = "") -> Callable[[F], F]:
    def decorate(function: F) -> F:
        qualname.impl(name, function, dispatch_key)
        return function

    return decorate


def register_kernel(
    op: Named, device_types: DeviceTypes, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Make the function below, or `func`, the kernel of an operator on types of device; None stands for all."""
    found = _definition_or_name(op, "register_kernel")
    if isinstance(found, CustomOpDef):
        return found.register_kernel(device_types, func)
    types = ["CompositeExplicitAutograd" if one is None else one for one in several(device_types)]
    return impl(found, types, func, lib=lib)


# What else an operator has --------------------------------------------------------------------------------------------


def register_fake(
    op: Named,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Make the function below, or `func`, the fake kernel of an operator: it returns tensors without elements.

    It runs for tensors on the device meta.
    """
    found = _definition_or_name(op, "register_fake")
    if isinstance(found, CustomOpDef):
        return found.register_fake if func is None else found.register_fake(func)
    where = caller(_stacklevel)

    def register(function: F) -> F:
        library = _library_of(parse_namespace(found)[0], lib)
        fake_impl_of(found).register(function, where, library, allow_override)
        return function

    return register if func is None else register(func)


def impl_abstract(qualname: str, func: Any = None, *, lib: Library | None = None, _stacklevel: int = 1) -> Any:
    """The old name of `register_fake`."""
    warn(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use that instead; we will "
        "remove `torch.library.impl_abstract` in a future version of PyTorch.",
        FutureWarning,
        stacklevel=2,
    )
    return register_fake(qualname, func, lib=lib, _stacklevel=_stacklevel + 1)


def register_autograd(
    op: Named,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Give an operator a gradient: `backward(ctx, *grads)`, and `setup_context(ctx, inputs, output)` before it."""
    found = _definition_or_name(op, "register_autograd")
    if isinstance(found, CustomOpDef):
        found.register_autograd(backward, setup_context=setup_context)
        return
    operator = lookup_op(found)
    schema = operator.schema
    if is_out(operator):
        raise RegistrationError(
            f"Cannot register autograd formula for operator tagged with torch.Tag.out: {operator}. Out variants do not "
            f"support autograd."
        )
    if not is_functional(schema):
        raise RegistrationError(
            f"Cannot register autograd formula for non-functional operator {operator} with schema {operator._schema}. "
            f"Please create a functional operator and register an autograd formula for that."
        )
    _refuse_tensors_by_name(operator, "register_autograd")
    kernel = autograd_kernel(operator, Formula(lambda: backward, lambda: setup_context))
    _kernel(_library_of(operator.namespace, lib), found, kernel, "Autograd", caller(1))


def register_vmap(op: Named, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Give an operator a rule for a batch: `func(info, in_dims, *args)` returns the result and its `out_dims`."""
    found = _definition_or_name(op, "register_vmap")
    if isinstance(found, CustomOpDef):
        return found.register_vmap(func)
    operator = lookup_op(found)
    _refuse_tensors_by_name(operator, "register_vmap")
    where = caller(1)

    def register(function: Callable[..., Any]) -> None:
        _kernel(_library_of(operator.namespace, lib), found, UsersRule(lambda: function), "FuncTorchBatched", where)

    return register if func is None else register(func)


def register_autocast(op: Named, device_type: str, cast_inputs: dtype, /, *, lib: Library | None = None) -> Any:
    """Let autocast cast the arguments of floating point on a device to a dtype before an operator runs."""
    found = _definition_or_name(op, "register_autocast")
    check_device(device_type)
    if isinstance(found, CustomOpDef):
        return found.register_autocast(device_type, cast_inputs)
    operator = lookup_op(found)
    kernel, key = autocast_kernel(operator, device_type, lambda: cast_inputs)
    _kernel(_library_of(operator.namespace, lib), found, kernel, key, caller(1))
    return None


def register_torch_dispatch(
    op: Named,
    torch_dispatch_class: type,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Say what an operator does for a class of modes or of tensors that has `__torch_dispatch__`."""
    found = _definition_or_name(op, "register_torch_dispatch")
    if isinstance(found, CustomOpDef):
        return found.register_torch_dispatch(torch_dispatch_class, func)
    operator = lookup_op(found)

    def register(function: F) -> F:
        operator.torch_dispatch_rules[torch_dispatch_class] = function
        _library_of(operator.namespace, lib).at_end(
            lambda: operator.torch_dispatch_rules.pop(torch_dispatch_class, None)  # type: ignore[arg-type]
        )
        return function

    return register if func is None else register(func)


def _refuse_tensors_by_name(operator: Operator, called: str) -> None:
    if has_tensor_by_name(operator.schema):
        raise NotImplementedError(
            f"{called} with kwarg-only Tensor args. In the original definition of the op, please make your tensors not "
            f"kwarg-only. Got: {operator._schema}"
        )


# A kernel that is registered ------------------------------------------------------------------------------------------


class SafeKernelFunction:
    """The kernel that an operator had for a key when it was asked for, whatever replaces it later."""

    def __init__(self, operator: Operator, key: DispatchKey) -> None:
        choice = choose(operator, key)
        if choice.kernel is None:
            raise MissingKernelError(missing_message(operator, choice))
        self._choice = choice
        self.op_handle = operator

    def call_boxed(self, keys: DispatchKeySet | int, *args: Any, **kwargs: Any) -> Any:
        """Call it with a key set and the arguments of a call."""
        bits = keys.bits if isinstance(keys, DispatchKeySet) else keys
        return entry_for(self.op_handle, self._choice, bits)(bits, *self.op_handle.bind(args, kwargs))

    def __repr__(self) -> str:
        assert self._choice.kernel is not None
        return f"SafeKernelFunction(debug='registered at {self._choice.kernel.where}')"


def get_kernel(op: Named, dispatch_key: str | DispatchKey) -> SafeKernelFunction:
    """The kernel that runs for an operator and a key."""
    if not isinstance(op, str | OpOverload):
        raise ValueError(f"get_kernel({op}): got unexpected type for op: {type(op)}")
    name = str(op.name) if isinstance(op, OpOverload) else op
    if isinstance(dispatch_key, str):
        if dispatch_key not in DispatchKey.__members__:
            raise ValueError(f"Invalid dispatch key: {dispatch_key}")
        dispatch_key = DispatchKey[dispatch_key]
    if name not in registry.operators:
        raise RegistrationError(f"operator {name} does not exist")
    return SafeKernelFunction(registry.operators[name], dispatch_key)


# Triton ---------------------------------------------------------------------------------------------------------------


def triton_op(name: str, fn: Any = None, /, *, mutates_args: Any, schema: str | None = None) -> Any:
    """Refused: its function runs Triton kernels, and Triton is not here."""
    raise ModuleNotFoundError(
        f"No module named 'triton': the operator {name} was to be one of Triton kernels, which glasstorch cannot run. "
        f"torch.library.custom_op makes an operator of any other function",
        name="triton",
    )


def wrap_triton(triton_kernel: Any, /) -> Any:
    """Refused: Triton is not here."""
    raise ModuleNotFoundError(
        f"No module named 'triton': {triton_kernel!r} was to be captured as a Triton kernel, which glasstorch cannot "
        f"run",
        name="triton",
    )

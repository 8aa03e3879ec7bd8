"""How do a tensor's class, an object that is no tensor, and a mode answer calls in place of the library's functions?

Mirrors: torch/overrides.py
Differs: who is asked is decided in `calls/overloaded.py`. The functions that can be overridden are found among the
    library's own: those with an operator's parser, and those that name themselves when they ask.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from inspect import Parameter, signature
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final, Self

from glasstorch import fft, functional, linalg, nn, special
from glasstorch._tensor import Tensor
from glasstorch.calls import asked_class as _asked_class
from glasstorch.calls import asked_device as _asked_device  # noqa: F401  # devices ask while a mode is on
from glasstorch.calls import overloaded as _overloaded
from glasstorch.calls.of_subclasses import functions_that_keep_types
from glasstorch.calls.overloaded import handle_torch_function as handle_torch_function
from glasstorch.calls.overloaded import has_torch_function as has_torch_function
from glasstorch.calls.overloaded import has_torch_function_unary as has_torch_function_unary
from glasstorch.calls.overloaded import has_torch_function_variadic as has_torch_function_variadic
from glasstorch.calls.parser import PythonFunction
from glasstorch.core.device import device as Device
from glasstorch.core.keys import AUTOGRAD
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.active_keys import ALLOWED_BY_DEFAULT, active_keys
from glasstorch.dispatch.overload import OpOverload
from glasstorch.operators.generated import functions, public
from glasstorch.outside_data import asarray, creation
from glasstorch.python_forms import compressed_tensors, fact_functions, nonzero, range, sparse_tensors

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]


# Modes ----------------------------------------------------------------------------------------------------------


class TorchFunctionMode:
    """In a `with` block, each public function of the library asks the mode's `__torch_function__` first.

    While it answers it is off: functions that it calls ask the mode around it, or run.

    >>> import glasstorch as torch
    >>> class Log(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **kwargs or {})
    >>> with Log():
    ...     (torch.ones(2) + 1).tolist()
    ones
    add
    tolist
    [2.0, 2.0]
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Self:
        if isinstance(getattr(self.__torch_function__, "__self__", None), type):
            raise RuntimeError(
                "Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain "
                "method"
            )
        _push_mode(self)
        return self

    def __exit__(self, *error: object) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """An instance; `with cls():` is enough, and this warns of it."""
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets each function run."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


_push_mode, _pop_mode = _overloaded.push_mode, _overloaded.pop_mode
_pop_mode_temporarily = _overloaded.without_top_mode


def _get_current_function_mode() -> Any:
    """The mode that is asked first, None where there is none."""
    modes = _overloaded.mode_stack.get()
    return modes[-1] if modes else None


def _get_current_function_mode_stack() -> list[Any]:
    """The modes that are on, from the outermost to the one that is asked first."""
    return list(_overloaded.mode_stack.get())


@contextmanager
def _enable_torch_function() -> Iterator[None]:
    with _overloaded._EnableTorchFunction():
        yield


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """In a `__torch_dispatch__`, let calls of operators go through autograd again."""
    included, allowed = active_keys.get()
    if allowed & AUTOGRAD == AUTOGRAD:
        raise RuntimeError(
            "Accessing torch dispatch state outside of '__torch_dispatch__' is not allowed: use it in the handler"
        )
    token = active_keys.set((included, allowed | ALLOWED_BY_DEFAULT))
    try:
        yield
    finally:
        active_keys.reset(token)


def redispatch_function(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Run a function's own code without asking for it, while the functions that it calls ask."""
    return _overloaded.skip_one(func, args, kwargs)


# What is a tensor, and what are its methods ---------------------------------------------------------------------


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or of a class that answers for calls as one."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function is one of Tensor's methods, or the `__get__` or `__set__` of one of its properties."""
    if getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__"):
        return True
    return any(value is func for kind in Tensor.__mro__[:-1] for value in vars(kind).values())


def wrap_torch_function(dispatcher: Any) -> Any:
    """A decorator: the function asks the relevant arguments first, which `dispatcher(*args, **kwargs)` gives."""

    def decorate(function: Any) -> Any:
        @wraps(function)
        def asked_first(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(asked_first, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asked_first

    return decorate


# Which functions can be overridden ------------------------------------------------------------------------------


def get_default_nowrap_functions() -> set[Any]:
    """The functions whose results `Tensor.__torch_function__` does not make instances of the subclass."""
    return set(functions_that_keep_types())


_TORCH = ModuleType("torch")  # the functions of the facade's own namespace, which imports this module
vars(_TORCH).update(vars(public), tensor=creation.tensor, as_tensor=creation.as_tensor, asarray=asarray.asarray)
vars(_TORCH).update({name: getattr(fact_functions, name) for name in fact_functions.__all__})
vars(_TORCH).update({name: getattr(functional, name) for name in functional.__all__})
vars(_TORCH).update(nonzero=nonzero.nonzero, range=range.range, sparse_coo_tensor=sparse_tensors.sparse_coo_tensor)
vars(_TORCH).update({name: getattr(compressed_tensors, name) for name in compressed_tensors.__all__})

NAMESPACES = (
    ("torch", _TORCH), ("torch.functional", functional), ("torch.nn.functional", nn.functional),
    ("torch.nn.init", nn.init), ("torch.Tensor", Tensor), ("torch.linalg", linalg), ("torch.fft", fft),
    ("torch.special", special),
)  # fmt: skip


# Other public functions about which no mode or class is asked: settings, facts, and makers of a tensor like another.
SETTINGS_AND_FACTS: Final = """
    are_deterministic_algorithms_enabled autocast_decrement_nesting autocast_increment_nesting broadcast_shapes
    can_cast clear_autocast_cache from_file from_numpy frombuffer get_autocast_cpu_dtype get_autocast_dtype
    get_autocast_gpu_dtype get_default_device get_default_dtype get_deterministic_debug_mode get_device_module
    get_float32_matmul_precision get_num_interop_threads get_num_threads get_rng_state initial_seed
    is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled
    is_autocast_enabled is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled
    is_storage is_tensor is_warn_always_enabled load manual_seed parse_schema promote_types rand_like randint_like
    randn_like result_type save seed set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype
    set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_default_device set_default_tensor_type
    set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads
    set_num_threads set_printoptions set_rng_state set_warn_always sparse_bsc_tensor sparse_bsr_tensor
    sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor typename
    use_deterministic_algorithms vmap
"""


def _public(namespace: Any) -> Any:
    """The module that programs have of a namespace: the facade, which imports this module, for its own functions."""
    return sys.modules["glasstorch"] if namespace is _TORCH else namespace


@cache
def _ignored() -> frozenset[Any]:
    """Public functions of which nobody can answer with a tensor: most take none."""
    found = [value for name, value in vars(_TORCH).items() if is_factory(value)]
    found += [getattr(Tensor, name) for name in _asked_class.NEVER if hasattr(Tensor, name)]
    found += [Tensor.new, Tensor.new_tensor, Tensor.new_empty, Tensor.new_zeros, Tensor.new_ones, Tensor.new_full]
    found += [Tensor.stride, Tensor.unflatten, has_torch_function, handle_torch_function]
    found += [has_torch_function_unary, has_torch_function_variadic]
    found += [creation.tensor, creation.as_tensor, asarray.asarray, range.range, public.normal, Device]
    found += [getattr(_public(_TORCH), name, None) for name in SETTINGS_AND_FACTS.split()]
    return frozenset(value for value in found if callable(value) and getattr(value, "__hash__", None))


def is_factory(value: Any) -> bool:
    """Whether a function makes a tensor and takes none."""
    return isinstance(value, FunctionType) and any(
        parser.signatures[0].is_factory and not parser.signatures[0].has_self
        for name in (f"_parse_{value.__name__}",)
        if (parser := value.__globals__.get(name)) is not None
    )


def get_ignored_functions() -> set[Any]:
    """The public functions of which no argument is asked."""
    return set(_ignored())


@cache
def _overridable() -> dict[Any, list[tuple[Any, str]]]:
    found: dict[Any, list[tuple[Any, str]]] = {}
    ignored = _ignored()
    for text, namespace in NAMESPACES:
        names = dir(namespace)
        originals = _asked_class.originals(Tensor) if namespace is Tensor else {}
        for name in names:
            value = originals.get(name, getattr(namespace, name, None))
            if (name.startswith("__") and namespace is not Tensor) or isinstance(value, ModuleType | type):
                continue
            if isinstance(value, property | MemberDescriptorType):
                for access in ("__get__",) if _is_read_only(value) else ("__get__", "__set__"):
                    found.setdefault(namespace, []).append((getattr(value, access), f"{text}.{name}.{access}"))
            elif _can_be_overridden(value, name, namespace) and value not in ignored:
                found.setdefault(namespace, []).append((value, f"{text}.{name}"))
    return found


@cache
def _published() -> frozenset[Any]:
    """The functions of which operators' parsers ask."""
    return frozenset(p.public for p in vars(functions).values() if isinstance(p, PythonFunction))


def _is_read_only(value: Any) -> bool:
    return isinstance(value, property) and value.fset is None


def _can_be_overridden(value: Any, name: str, namespace: Any) -> bool:
    """Whether a function asks: it has an operator's parser, names itself when it asks, or is a method of Tensor."""
    if not isinstance(value, FunctionType):
        return False
    if namespace is Tensor:
        return name not in _asked_class.NEVER and not name.startswith("_abc")
    if value in _published() or hasattr(value, "asks"):
        return True
    code = getattr(value, "__wrapped__", value).__code__
    asks = {"handle_torch_function", "ask"}.intersection(code.co_names)
    return bool(asks) or f"_parse_{value.__name__}" in getattr(value, "__wrapped__", value).__globals__


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that ask, by the module or class that has them."""
    found = {_public(namespace): [function for function, _ in rows] for namespace, rows in _overridable().items()}
    return defaultdict(list, found)


def resolve_name(f: Any) -> str | None:
    """The name of a function that can be overridden, or is ignored, such as `torch.Tensor.add`; None for others."""
    if hasattr(f, "overloads") or isinstance(f, OpOverload):  # `torch.ops.aten.add`, and `.Tensor` of it
        return str(f)
    names = _names()
    try:
        return names.get(f)
    except TypeError:  # it has no hash
        return None


@cache
def _names() -> dict[Any, str]:
    """The names of all functions that can be overridden or are ignored; of several, the last one."""
    rows = [row for found in _overridable().values() for row in found]
    ignored = _ignored()
    for text, namespace in NAMESPACES:
        rows += [(v, f"{text}.{n}") for n, v in _members(namespace) if isinstance(v, FunctionType) and v in ignored]
    return {**dict(rows), Device: "torch.device"}


def _members(namespace: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(namespace, name, None)) for name in dir(namespace)]


def get_testing_overrides() -> dict[Any, Callable[..., int]]:
    """For each function that asks, a function with the same parameters that returns -1."""
    return {function: _returning_minus_one(function) for rows in _overridable().values() for function, _ in rows}


def _returning_minus_one(function: Any) -> Callable[..., int]:
    def override(*args: Any, **kwargs: Any) -> int:
        return -1

    with_self = getattr(function, "__self__", None)
    if isinstance(with_self, property | MemberDescriptorType):
        names = ["self"] if function.__name__ == "__get__" else ["self", "value"]
        parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        override.__signature__ = signature(override).replace(parameters=parameters)  # type: ignore[attr-defined]
    else:
        override.__signature__ = signature(function)  # type: ignore[attr-defined]
    return override


__getattr__ = _refuse_unknown_names(__name__)

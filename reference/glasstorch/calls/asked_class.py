"""How does a class of tensors whose `__torch_function__` answers come to be asked by its methods and attributes?

Mirrors: torch/csrc/autograd/python_variable.cpp (THPVariableMetaType, the getters that call check_has_torch_function),
    torch/_tensor.py (the methods that begin with has_torch_function_unary)
Differs: PyTorch's methods look at their tensor in each call. Here a class stands between Tensor and each class that
    answers, whose methods and properties ask first; those of Tensor itself do not look.

# Note [The class that asks]
The order in which Python looks for the methods of such a class is its own classes, then `Asked`, then Tensor. So what a
program overrides counts before, `super().__add__` in it asks, and Tensor's own `a + b` needs no test of `a`. Methods
that are generated of operators are not in it: they look whether their tensor is plain, and their parser asks.

While a mode of functions is on, Tensor's methods and properties ask as well: each property is given the functions of
`Asked`, each method the code of a function that asks. Both stay the same objects, which programs compare with `func`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any, ClassVar

from glasstorch.calls import removed
from glasstorch.calls.overloaded import (
    NO_SUBCLASSES,
    NOTHING,
    UNASKED,
    _disabled_torch_function_impl,
    always,
    answers,
    ask,
    handle_torch_function,
    has_torch_function,
    mode_stack,
    on_modes,
    switched_off,
)
from glasstorch.calls.python_operators import asked_operator
from glasstorch.core.plain_types import QUIET, set_plain
from glasstorch.dispatch.python_fallback import overrides_dispatch

# Attributes of which nobody is asked: they make a tensor or a class, or call a method that asks, or are not in PyTorch.
NEVER = frozenset(
    (
        "__new__",
        "__hash__",
        "__iter__",
        "__delitem__",
        "__torch_function__",
        "__torch_dispatch__",
        "__init_subclass__",
        "as_subclass",
    )
    + ("__class_getitem__", "__array_namespace__", "to_device", "strides")
    + ("is_row_major", "array", "host_array", "read_through_bits", "set_geometry", "set_storage", "version_counter")
    + ("bump_version", "_view_func", "_view_func_unsafe", "_rev_view_func_unsafe", "key_set", "_array")
    + (
        "_autograd_meta",
        "_generation",
        "_number",
        "_offset",
        "_parts",
        "_shape",
        "_storage",
        "_strides",
        "_version_counter",
    )
    + (
        "__div__",
        "__idiv__",
        "__long__",
        "__nonzero__",
        "__weakref__",
        "__dict__",
        "_make_subclass",
        "_make_wrapper_subclass",
        "_is_param",
    )
)
# Methods written in Python in PyTorch, which pass their arguments on in one form: so many by position, `self` included,
# and all others by name, whether they were given or not.
POSITIONAL = {
    "__deepcopy__": 2, "__reduce_ex__": 2, "storage": 1, "__repr__": 1, "backward": 1, "register_hook": 2,
    "register_post_accumulate_grad_hook": 2, "is_shared": 1, "share_memory_": 1, "__reversed__": 1, "norm": 1,
    "lu": 1, "stft": 2, "istft": 2, "split": 2, "unique": 1, "unique_consecutive": 1, "__format__": 2, "__len__": 1,
    "__array__": 1, "__array_wrap__": 1, "__contains__": 2, "dim_order": 1, "__dlpack_device__": 1, "module_load": 2,
    "__setstate__": 2, "__dir__": 1, "storage_type": 1, "unflatten": 3, "resize": 2, "resize_as": 2,
}  # fmt: skip
# Attributes of the class that are the same for all tensors here, and of which PyTorch asks as of others.
CONSTANTS = frozenset(
    (
        "is_ipu",
        "is_maia",
        "is_mkldnn",
        "is_mps",
        "is_mtia",
        "is_nested",
        "is_quantized",
        "is_vulkan",
        "is_xla",
        "is_xpu",
    )
    + ("name",)
)
HANDLERS = ("__torch_function__", "__torch_dispatch__")
NOT_TOLD = ("copy", "ambiguity_check")  # parameters of such methods that are not passed on


class _TensorMeta(type):
    """The class of Tensor and its subclasses: it puts `Asked` before Tensor where a class answers."""

    root: ClassVar[Any] = None  # Tensor
    inherited: ClassVar[Any] = None  # the function of the `__torch_function__` that its subclasses have from it

    def mro(cls) -> list[type]:
        order = super().mro()
        root = _TensorMeta.root
        if root is None or "_asks" in vars(cls) or not _answers(order) or _asked_class(root) in order:
            return order
        order.insert(order.index(root), _asked_class(root))
        return order

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **more: Any) -> None:
        super().__init__(name, bases, namespace, **more)
        if _TensorMeta.root is None:
            _TensorMeta.root, _TensorMeta.inherited = cls, namespace["__torch_function__"].__func__
        if "_asks" in namespace:
            return
        if _sees_operators_only(cls):
            cls.__torch_function__ = _disabled_torch_function_impl
        else:
            _note(cls)

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        _handler_changed(cls, name)

    def __delattr__(cls, name: str) -> None:
        super().__delattr__(name)
        _handler_changed(cls, name)


def _handler_changed(cls: type, name: str) -> None:
    """Let a class and those derived from it ask, or cease to, once an attribute has been set or deleted."""
    if name == "__torch_function__":
        cls.__bases__ = cls.__bases__  # Python finds the order anew
    if name in HANDLERS:
        for kind in _with_descendants(cls):
            _note(kind)


def _note(cls: type) -> None:
    """Enter a class where calls look for it (core/plain_types.py)."""
    answers = _answers(cls.__mro__)
    function = getattr(_torch_function_of(cls.__mro__), "__func__", None)
    set_plain(cls, not answers, heir=answers and function is _TensorMeta.inherited and not overrides_dispatch(cls))


def _with_descendants(cls: Any) -> Iterator[Any]:
    """A class and all that are derived from it, the classes that only ask left out."""
    if "_asks" not in vars(cls):
        yield cls
    for kind in type.__subclasses__(cls):
        yield from _with_descendants(kind)


def _answers(order: list[type] | tuple[type, ...]) -> bool:
    """Whether a class with this order of bases answers: it is not Tensor, and its method is not the disabled one."""
    if order[0] is _TensorMeta.root:
        return False
    return _torch_function_of(order) is not _disabled_torch_function_impl


def _torch_function_of(order: list[type] | tuple[type, ...]) -> Any:
    return next(vars(kind)["__torch_function__"] for kind in order if "__torch_function__" in vars(kind))


def _sees_operators_only(cls: type) -> bool:
    """Whether a class has a `__torch_dispatch__`, whose results stay as they are, and Tensor's `__torch_function__`."""
    root = _TensorMeta.root
    of_tensor = vars(root)["__torch_function__"]
    return cls is not root and overrides_dispatch(cls) and _torch_function_of(cls.__mro__) is of_tensor


@cache
def _asked_class(tensor: Any) -> type:
    """The class that asks, with a method for each that is written by hand and a property for each attribute."""
    namespace: dict[str, Any] = {
        "__slots__": (),
        "_asks": True,
        "__hash__": object.__hash__,
        "__module__": tensor.__module__,
    }
    namespace |= {name: asking for name, _, asking in _asking(tensor)}
    return _TensorMeta("Asked", (tensor,), namespace)


@cache
def _asking(tensor: Any) -> list[tuple[str, Any, Any]]:
    """Each attribute of Tensor of which others are asked: its name, itself, and what asks in its place."""
    return list(_find_asking(tensor))


def _find_asking(tensor: Any) -> Iterator[tuple[str, Any, Any]]:
    operators = tensor._asked_as
    seen: set[str] = set(NEVER)
    for kind in tensor.__mro__[:-1]:
        for name, value in list(vars(kind).items()):
            if name in seen:
                continue
            seen.add(name)
            if name in CONSTANTS:
                value = _always(value)
            if isinstance(value, property | MemberDescriptorType):
                yield name, value, asking_property(value, name)
            elif name in operators:
                yield name, value, _asking_operator(getattr(tensor, operators[name]), value)
            elif isinstance(value, FunctionType) and not _asks_itself(value, name):
                yield name, value, asking_method(value, name)


def _always(constant: Any) -> property:
    """A constant of the class as a property of its instances."""
    return property(lambda self: constant)


def _asks_itself(function: FunctionType, name: str) -> bool:
    """Whether nobody is asked about a method here: the parser of its operator asks, or PyTorch has removed it."""
    if function in vars(removed).values():
        return True
    return f"_parse_{function.__name__}" in function.__globals__ or (name.startswith("__r") and name not in POSITIONAL)


def asking_method(original: FunctionType, name: str) -> Callable[..., Any]:
    """A method that asks before it does what Tensor's does."""
    positional = POSITIONAL.get(name)
    plain = _copy(original)
    code = original.__code__
    alone = code.co_argcount + code.co_kwonlyargcount == 1 and not code.co_flags & inspect.CO_VARARGS
    counts_self = always if alone else answers

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if switched_off.get() == NOTHING:
            return plain(self, *args, **kwargs)
        if positional is not None:
            if not has_torch_function((self,)):
                return plain(self, *args, **kwargs)
            given, named = in_form(plain, positional, (self, *args), kwargs)
            return handle_torch_function(original, (self,), *given, **named)
        answer = ask(original, f"torch.Tensor.{name}", (self, *args), kwargs or None, counts_self)
        return plain(self, *args, **kwargs) if answer is UNASKED else answer

    method.__name__, method.__qualname__, method.__doc__ = name, original.__qualname__, original.__doc__
    return method


def own_method(function: Any) -> Any:
    """A public function as a method of Tensor: a copy, since others are asked about it under the method's name."""
    return _copy(function)


def _copy(function: FunctionType) -> FunctionType:
    """The function with the code that it has now."""
    copied = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copied.__kwdefaults__, copied.__annotations__ = function.__kwdefaults__, function.__annotations__
    copied.__doc__, copied.__module__, copied.__qualname__ = (
        function.__doc__,
        function.__module__,
        function.__qualname__,
    )
    return copied


@lru_cache(512)
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def in_form(
    function: Any, positional: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with so many by position and all others by name; TypeError where the function does not take them."""
    bound = _signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    values = list(bound.arguments.values())[:positional]
    return tuple(values), {k: v for k, v in list(bound.arguments.items())[positional:] if k not in NOT_TOLD}


def _asking_operator(public: Any, original: Any) -> Callable[[Any, Any], Any]:
    """`a + b`, which asks about the method that is its public form."""

    def operator(self: Any, other: Any) -> Any:
        return asked_operator(original, self, other, public)

    operator.__name__ = operator.__qualname__ = original.__name__
    return operator


def asking_property(original: Any, name: str) -> property:
    """A property that asks before it gives, sets or deletes what Tensor's does."""
    plain = property(original.fget, original.fset, original.fdel) if isinstance(original, property) else original

    read = plain.__get__

    def ask_about(access: str, *args: Any) -> Any:
        return ask(getattr(original, access), f"torch.Tensor.{name}.{access}", args, None, always)

    def get(self: Any) -> Any:  # hot path: benchmarks/library.py
        off = switched_off.get()
        if off == NOTHING or (not mode_stack.get() and (off == NO_SUBCLASSES or type(self) in QUIET)):
            return read(self)
        answer = ask_about("__get__", self)
        return read(self) if answer is UNASKED else answer

    def set_(self: Any, value: Any) -> None:
        if ask_about("__set__", self, value) is UNASKED:
            plain.__set__(self, value)

    def delete(self: Any) -> None:
        if ask_about("__delete__", self) is UNASKED:
            plain.__delete__(self)

    if isinstance(original, property) and original.fset is None:  # Python refuses to set it
        return property(get, doc=original.__doc__)
    if plain is original:  # a slot, which programs cannot set in PyTorch: only the library does
        return property(get, plain.__set__, doc=original.__doc__)
    return property(get, set_, delete, doc=original.__doc__)


# While a mode is on ---------------------------------------------------------------------------------------------


def asking_code(function: FunctionType, asking: Callable[..., Any]) -> CodeType:
    """Code that a function can be given, and that hands its arguments to another.

    That other function is a constant of the code, since its global names are those of the function's own module.
    """

    def template(*args: Any, **kwargs: Any) -> Any:
        asking_function: Any = "asking"
        return asking_function(*args, **kwargs)

    code = template.__code__
    consts = tuple(asking if value == "asking" else value for value in code.co_consts)
    return code.replace(
        co_consts=consts,
        co_name=function.__code__.co_name,
        co_qualname=function.__code__.co_qualname,
        co_freevars=function.__code__.co_freevars,
    )


@cache
def _swaps(tensor: Any) -> list[tuple[Callable[[], None], Callable[[], None]]]:
    """For each attribute of Tensor how to make it ask, and how to undo that."""
    swaps = []
    for name, value, asking in _asking(tensor):
        if isinstance(value, property):
            swaps.append(
                (_property_swap(tensor, name, value, asking), _property_swap(tensor, name, value, _as_is(value)))
            )
        elif isinstance(value, MemberDescriptorType):
            swaps.append((_attribute_swap(tensor, name, asking), _attribute_removal(tensor, name)))
        elif isinstance(value, FunctionType) and name not in tensor._asked_as:
            plain, code = value.__code__, asking_code(value, asking)
            swaps.append((_code_swap(value, code), _code_swap(value, plain)))
    return swaps


def _as_is(value: property) -> property:
    return property(value.fget, value.fset, value.fdel, value.__doc__)


def _property_swap(tensor: Any, name: str, value: property, functions: property) -> Callable[[], None]:
    owner = next(kind for kind in tensor.__mro__ if name in vars(kind))

    def swap() -> None:
        value.__init__(functions.fget, functions.fset, functions.fdel, functions.__doc__)  # type: ignore[misc]
        type.__setattr__(owner, name, value)  # so that the interpreter forgets what it has cached

    return swap


def _attribute_swap(tensor: Any, name: str, asking: property) -> Callable[[], None]:
    return lambda: type.__setattr__(tensor, name, asking)


def _attribute_removal(tensor: Any, name: str) -> Callable[[], None]:
    return lambda: type.__delattr__(tensor, name)


def _code_swap(function: FunctionType, code: CodeType) -> Callable[[], None]:
    def swap() -> None:
        function.__code__ = code

    return swap


def _let_tensors_ask(asks: bool) -> None:
    for on, off in _swaps(_TensorMeta.root):
        on() if asks else off()


on_modes(_let_tensors_ask)


def originals(tensor: Any) -> dict[str, Any]:
    """Each attribute of Tensor of which others are asked, by its name, whether or not a mode is on."""
    return {name: value for name, value, _ in _asking(tensor)}

"""How does a program run without elements, on tensors that say which device they would be on?

Mirrors: torch/_subclasses/fake_tensor.py (FakeTensor, FakeTensorMode, FakeTensorConverter)
Differs: kernels run on tensors of the meta device that share the fake ones' storages; nothing is cached, and no kernel
    runs on made-up elements. A view becomes a fake tensor of its own geometry: its base does not.

# Note [Fake tensors]
A fake tensor is a tensor of the meta device whose `device` is another one: a name, of which no such device must exist.
The mode runs each operator on the meta device, and gives the results the device that their arguments have, or the one
that was asked for. A small tensor that was made of a program's own numbers keeps them as its `constant`, so that
`tensor(3).item()` has an answer; operators on constants alone are computed. Any other question about elements raises
DataDependentOutputException, and results whose sizes depend on elements DynamicOutputShapeException.

With a `shape_env` (fx/experimental/symbolic_shapes.py) the sizes of fake tensors are symbols, and shape functions
compute with them as with numbers. What depends on elements is a symbol, too, of which nothing is known.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, NoReturn, Self
from weakref import WeakKeyDictionary

from glasstorch._library.fake_impl import active_fake_impl_of
from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch._subclasses.errors import DataDependentOutputException as DataDependentOutputException
from glasstorch._subclasses.errors import DynamicOutputShapeException as DynamicOutputShapeException
from glasstorch._subclasses.errors import FakeTensorDeviceMismatchError as FakeTensorDeviceMismatchError
from glasstorch._subclasses.errors import UnsupportedFakeTensorException as UnsupportedFakeTensorException
from glasstorch._subclasses.errors import UnsupportedOperatorException as UnsupportedOperatorException
from glasstorch._tensor import Tensor, empty, empty_strided, tensor_of
from glasstorch._traceable import is_traceable_wrapper_subclass
from glasstorch.core import hooks
from glasstorch.core.device import CPU
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import get_default_dtype, int64
from glasstorch.core.geometry import span
from glasstorch.core.keys import KEYS_OF_DEVICE, MATH_BITS, META_KEYS, PYTHON
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.symbols import as_sizes
from glasstorch.dispatch import mode_stack
from glasstorch.dispatch.mode_stack import _TorchDispatchModeKey
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.python_fallback import _disabled_torch_dispatch_impl, keys_of_class

META = Device("meta")
CONSTANT_NUMEL_LIMIT = 1  # of a tensor that keeps its numbers
LIFT_FRESH = "aten::lift_fresh"
LIFTS = (LIFT_FRESH, f"{LIFT_FRESH}_copy", "aten::lift")  # by which a program's own numbers become a tensor
INDEX = "aten::index.Tensor"  # whose result has a size for each True of a mask
FAKE = _TorchDispatchModeKey.FAKE


class FakeStorage(UntypedStorage):
    """A storage without bytes on a device that it names; `meta` is the one that kernels see."""

    __slots__ = ("meta",)

    stands_for_others = True

    meta: UntypedStorage

    def __init__(self, meta: UntypedStorage, on: Device) -> None:
        self._fill_in(None, meta.nbytes(), on, True)
        self.meta = meta

    def nbytes(self) -> int:
        return self.meta.nbytes()


_fake_forms: WeakKeyDictionary[UntypedStorage, weakref.ref[FakeStorage]] = WeakKeyDictionary()


def _fake_form(meta: UntypedStorage, on: Device) -> FakeStorage:
    """The fake form of a storage of the meta device: one for each, so that views share theirs."""
    known = _fake_forms.get(meta)
    fake = known() if known is not None else None
    if fake is None or fake.device is not on:
        fake = FakeStorage(meta, on)
        _fake_forms[meta] = weakref.ref(fake)
    return fake


class FakeTensor(Tensor):
    """A tensor without elements that says which device it would be on; see Note [Fake tensors]."""

    fake_device: Device
    fake_mode: FakeTensorMode
    constant: Tensor | None
    item_memo: Any = None  # the symbol of its only element, until it is written to
    nonzero_memo: Any = None  # the symbol of the number of its elements that are not 0
    real_tensor: ClassVar[None] = None
    _counted: Any = None  # sizes, and the symbol of the number of their elements

    def __new__(
        cls, fake_mode: FakeTensorMode, elem: Tensor, device: Any, constant: Tensor | None = None, **ignored: Any
    ) -> Self:
        if elem.device.type != "meta":
            raise AssertionError(f"elem.device.type must be 'meta', got {elem.device.type}")
        on = _with_index(Device(device))
        keys = keys_of_class(cls, KEYS_OF_DEVICE[on.type] | (elem.key_set & MATH_BITS))
        storage = _fake_form(elem.untyped_storage(), on)
        shape = as_sizes(elem._shape)
        made: Any = tensor_of(elem.dtype, shape, keys, None, storage, elem.strides(), elem._offset, cls)
        made.fake_device, made.fake_mode, made.constant = on, fake_mode, constant
        if elem.requires_grad:
            hooks.required(made)
        own: Self = made
        return own

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    @staticmethod
    def from_tensor(t: Tensor, fake_mode: FakeTensorMode) -> FakeTensor:
        """The fake form of a tensor, in a mode."""
        return fake_mode.from_tensor(t)

    def numel(self) -> int:
        """The number of elements; one symbol however often it is asked for."""
        if type(self._shape) is tuple:
            return super().numel()
        if self._counted is None or self._counted[0] is not self._shape:
            self._counted = self._shape, super().numel()
        count: int = self._counted[1]
        return count

    nelement = numel

    def tolist(self) -> Any:
        """As nested lists, which asks for each element: refused unless they are constants."""
        return [element.tolist() for element in self] if self._shape else self.item()

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        facts = [f"size={tuple(self._shape)}"]
        if self.fake_device.type != "cpu":
            facts.insert(0, f"device='{self.fake_device}'")
        if self.dtype is not get_default_dtype():
            facts.append(f"dtype={self.dtype}")
        if self.grad_fn is not None:
            facts.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            facts.append("requires_grad=True")
        text = f"FakeTensor(..., {', '.join(facts)})"
        return f"Parameter({text})" if getattr(self, "_is_param", False) else text

    @classmethod
    def __torch_dispatch__(
        cls, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if not all(issubclass(kind, FakeTensor) for kind in types):
            return NotImplemented
        first = next(t for t in tree_leaves((args, kwargs)) if isinstance(t, FakeTensor))
        with first.fake_mode:
            return func(*args, **(kwargs or {}))


def _with_index(device: Device) -> Device:
    """A device with its index: `cuda` is the first one, since none is current where there may be none."""
    return Device("cuda:0") if device.type == "cuda" and device.index is None else device


class FakeTensorConverter:
    """Makes fake tensors of real ones: one of each, and one storage of each storage."""

    def __init__(self) -> None:
        self.tensor_memo: dict[int, tuple[weakref.ref[Tensor], FakeTensor]] = {}
        self.storage_memo: WeakKeyDictionary[UntypedStorage, UntypedStorage] = WeakKeyDictionary()

    def from_real_tensor(
        self,
        fake_mode: FakeTensorMode,
        t: Tensor,
        make_constant: bool = False,
        shape_env: Any = None,
        *,
        source: Any = None,
        symbolic_context: Any = None,
    ) -> FakeTensor:
        """The fake form of a real tensor, with its geometry and whether it requires grad; in symbols of `shape_env`."""
        known = self.tensor_memo.get(id(t))
        if known is not None and known[0]() is t and not make_constant:
            return known[1]
        if t.key_set & PYTHON and not isinstance(t, FakeTensor):
            raise UnsupportedFakeTensorException(
                f"{type(t).__name__}, whose class has a __torch_dispatch__, has no fake form in glasstorch"
            )
        shape, strides, offset = t._shape, t.strides(), t._offset
        if shape_env is not None:
            shape, strides, offset = shape_env.create_symbolic_sizes_strides_storage_offset(
                t, source, symbolic_context=symbolic_context
            )
        real = t._storage if t._storage is not None else t.untyped_storage()
        storage = self.storage_memo.get(real)
        if storage is None:
            nbytes = real.nbytes()
            if shape is not t._shape and nbytes == (span(t._shape, t.strides()) + t._offset) * t.dtype.itemsize:
                nbytes = (span(shape, strides) + offset) * t.dtype.itemsize
            storage = self.storage_memo[real] = UntypedStorage.allocate(nbytes, META)
        elem = tensor_of(t.dtype, shape, META_KEYS | (t.key_set & MATH_BITS), None, storage, strides, offset)
        kind: Any = FakeTensor
        made: Any = kind(fake_mode, elem, t.device, t if make_constant else None)
        if t.requires_grad:
            hooks.required(made)
        if getattr(t, "_is_param", False) or type(t).__name__ == "Parameter":
            made._is_param = True
        fake: FakeTensor = made
        number = id(t)
        self.tensor_memo[number] = weakref.ref(t, lambda _: self.tensor_memo.pop(number, None) and None), fake
        return fake


class DispatchCacheInfo(NamedTuple):
    """How often results were found in a cache."""

    hits: int
    misses: int
    bypasses: dict[str, int]
    size: int


class FakeTensorMode(TorchDispatchMode):
    """In the block, operators make fake tensors and run on them; see Note [Fake tensors].

    Real tensors among the arguments are refused unless `allow_non_fake_inputs` says that they become fake. Other
    options are PyTorch's and change nothing: no kernel ever runs on made-up elements.
    """

    _mode_key = FAKE
    propagate_real_tensors = False
    in_kernel_invocation = False

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: Any = None,
        static_shapes: bool | None = None,
        export: bool = False,
    ) -> None:
        super().__init__()
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = shape_env
        self.static_shapes = shape_env is None if static_shapes is None else static_shapes
        self.export = export
        self.fake_tensor_converter = FakeTensorConverter()
        self.enter_stack: list[Any] = []

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    @classmethod
    def cache_info(cls) -> DispatchCacheInfo:
        """What PyTorch's cache of results has seen; there is none here, where an operator runs on meta each time."""
        return DispatchCacheInfo(0, 0, {}, 0)

    @classmethod
    def cache_clear(cls) -> None:
        """Forget what the cache holds, which is nothing."""

    def __enter__(self) -> Self:
        outer = mode_stack.unset(FAKE)
        self.enter_stack.append(outer)
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        outer = self.enter_stack.pop()
        if outer is not None:
            mode_stack.push(outer)

    def __deepcopy__(self, memo: object) -> Self:
        return self  # a copy of a fake tensor is one of the same mode

    def is_our_fake(self, t: object) -> bool:
        """Whether an object is a fake tensor of this mode."""
        return isinstance(t, FakeTensor) and t.fake_mode is self

    def from_tensor(
        self,
        tensor: Tensor,
        *,
        static_shapes: bool | None = None,
        source: Any = None,
        symbolic_context: Any = None,
        trace: bool = True,
    ) -> FakeTensor:
        """The fake form of a tensor: the same one each time it is asked for.

        Its sizes are symbols of the mode's `shape_env`, if it has one, unless `static_shapes` says otherwise;
        `symbolic_context` says which are, and `source` where they come from.
        """
        static = self.static_shapes if static_shapes is None else static_shapes
        if static:
            if symbolic_context is not None:
                raise AssertionError("cannot set both static_shapes and symbolic_context")
            return self.fake_tensor_converter.from_real_tensor(self, tensor)
        return self.fake_tensor_converter.from_real_tensor(
            self, tensor, shape_env=self.shape_env, source=source, symbolic_context=symbolic_context
        )

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = dict(kwargs or {})
        if not all(issubclass(kind, FakeTensor) for kind in types):
            return NotImplemented
        if func.name in LIFTS and not isinstance(args[0], FakeTensor):
            real = _disabled_torch_dispatch_impl(func, (), args)
            keeps = real.numel() <= CONSTANT_NUMEL_LIMIT
            return self.fake_tensor_converter.from_real_tensor(self, real, make_constant=keeps)
        args, named = self._all_fake(func, args, named)
        given = [t for t in tree_leaves((args, named)) if isinstance(t, FakeTensor)]
        if given and all(t.constant is not None for t in given):
            computed = self._of_constants(func, args, named)
            if computed is not None:
                return computed[0]
        if self.shape_env is not None and (rule := DEPENDING_ON_ELEMENTS.get(func.name)) is not None:
            with _sizes_are_general(self.shape_env):
                answer = rule(self, *args, **named)
            if answer is not NotImplemented:
                return answer
        _refuse_questions_about_elements(func, args)
        for t in _written(func, args, named):
            t.constant = t.item_memo = t.nonzero_memo = None
        if (fake_impl := active_fake_impl_of(func.name)) is not None:
            return self._by_users_kernel(func, fake_impl, args, named)
        try:
            return self._on_meta(func, args, named, given)
        except NotImplementedError as error:
            raise UnsupportedOperatorException(func) from error

    def _by_users_kernel(self, func: Operator, fake_impl: Any, args: Any, named: Any) -> Any:
        """What the kernel returns that `torch.library.register_fake` has registered: what it makes is fake, too."""

        def refuse() -> NoReturn:
            raise DynamicOutputShapeException(func)

        with self:
            return fake_impl.on_fake(func, self.shape_env, refuse, args, named)

    def _all_fake(self, func: Operator, args: Any, named: Any) -> tuple[Any, Any]:
        """The arguments with real tensors made fake, or an error where there may be none."""

        def fake(value: Any) -> Any:
            if not isinstance(value, Tensor) or self.is_our_fake(value):
                return value
            if not self.allow_non_fake_inputs:
                if isinstance(value, FakeTensor):
                    raise AssertionError(f"Mixing fake modes NYI x.fake_mode={value.fake_mode} vs self={self}")
                raise AssertionError(
                    "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                    f"'allow_non_fake_inputs'. Found in {_call_text(func, args, named)}"
                )
            return self.fake_tensor_converter.from_real_tensor(self, value)

        fakes: tuple[Any, Any] = tree_map(fake, (tuple(args), named))
        return fakes

    def _of_constants(self, func: Operator, args: Any, named: Any) -> tuple[Any] | None:
        """What an operator gives on constants, in a tuple; None where it is random or its result is large."""
        if "nondeterministic_seeded" in map(str, func.words):
            return None
        real = tree_map(lambda t: t.constant if isinstance(t, FakeTensor) else t, (args, named))
        before = {id(t.constant): t for t in tree_leaves((args, named)) if isinstance(t, FakeTensor)}
        result = _disabled_torch_dispatch_impl(func, (), *real)
        made = [t for t in tree_leaves(result) if isinstance(t, Tensor)]
        if any(t.numel() > CONSTANT_NUMEL_LIMIT for t in made):
            return None

        def as_fake(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            return before.get(id(value)) or self.fake_tensor_converter.from_real_tensor(self, value, True)

        return (tree_map(as_fake, result),)

    def _on_meta(self, func: Operator, args: Any, named: Any, given: Sequence[FakeTensor]) -> Any:
        """Run an operator on the meta device, and give its results the device that they would be on."""
        common = _common_device(func, given)
        has_device = any(a.name == "device" for a in func.schema.arguments)
        if has_device and (named.get("device") is not None or not given):
            common = Device(named.get("device") or CPU)
            named["device"] = META
            if "pin_memory" in named:
                named["pin_memory"] = None
        twins = {id(t): (_twin(t), t) for t in given}
        of_twin = {id(twin): t for twin, t in twins.values()}
        inside = tree_map(lambda t: twins[id(t)][0] if isinstance(t, FakeTensor) else t, (args, named))
        with _sizes_are_general(self.shape_env):
            result = _disabled_torch_dispatch_impl(func, (), *inside)
        for twin, t in twins.values():  # an operator may have changed sizes in place
            shown = _fake_form(twin.untyped_storage(), t.fake_device)
            if t._shape is not twin._shape or t.strides() is not twin.strides() or t._storage is not shown:
                t.set_storage(shown, as_sizes(twin._shape), twin.strides(), twin._offset)
        kind: Any = FakeTensor

        def as_fake(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            return of_twin[id(value)] if id(value) in of_twin else kind(self, value, common or CPU)

        return tree_map(as_fake, result)


@contextmanager
def _sizes_are_general(shape_env: Any) -> Iterator[None]:
    """In the block, sizes that depend on elements count as neither 0 nor 1."""
    if shape_env is None:
        yield
        return
    shape_env.oblivious += 1
    try:
        yield
    finally:
        shape_env.oblivious -= 1


# What depends on elements, in symbols -------------------------------------------------------------------------------


def _the_element(mode: FakeTensorMode, self: FakeTensor) -> Any:
    if self.item_memo is None:
        if not mode.shape_env.allow_scalar_outputs:
            return NotImplemented
        env, dtype = mode.shape_env, self.dtype
        if dtype.is_complex:
            return NotImplemented
        make = env.create_unbacked_symfloat if dtype.is_floating_point else env.create_unbacked_symint
        self.item_memo = (env.create_unbacked_symbool if dtype.name == "bool" else make)()
    return self.item_memo


def _how_many_are_not_0(mode: FakeTensorMode, mask: FakeTensor) -> Any:
    """The number of elements of a tensor that are not 0, as a symbol."""
    if mask.nonzero_memo is None:
        count = mask.numel()
        if type(count) is int and count == 0:
            return 0
        mask.nonzero_memo = symbol = mode.shape_env.create_unbacked_symint()
        most = count if type(count) is int else None
        mode.shape_env._constrain_range_for_size(symbol.node.expr, max=most)
    return mask.nonzero_memo


def _new(mode: FakeTensorMode, like: FakeTensor, shape: tuple[Any, ...], dtype: Any) -> FakeTensor:
    kind: Any = FakeTensor
    made: FakeTensor = kind(mode, empty(shape, dtype, META), like.fake_device)
    return made


def _where_not_0(mode: FakeTensorMode, self: FakeTensor) -> Any:
    if not mode.shape_env.allow_dynamic_output_shape_ops:
        return NotImplemented
    count: Any = _how_many_are_not_0(mode, self)
    kind: Any = FakeTensor  # each column is a vector of its own
    made: FakeTensor = kind(mode, empty_strided((count, self.dim()), (1, count), int64, META), self.fake_device)
    return made


def _selected(mode: FakeTensorMode, self: FakeTensor, mask: FakeTensor) -> Any:
    if not mode.shape_env.allow_dynamic_output_shape_ops:
        return NotImplemented
    return _new(mode, self, (_how_many_are_not_0(mode, mask),), self.dtype)


def _indexed(mode: FakeTensorMode, self: FakeTensor, indices: Sequence[Any]) -> Any:
    """An index with masks: each becomes the indices of its elements that are true."""
    masks = [i for i in indices if isinstance(i, Tensor) and i.dtype.name in ("bool", "uint8")]
    if not masks or not mode.shape_env.allow_dynamic_output_shape_ops:
        return NotImplemented
    found: list[Any] = []
    with mode:
        for i in indices:
            if any(i is mask for mask in masks):
                found += registry.find("aten::nonzero")(i).unbind(1)
            else:
                found.append(i)
        return registry.find(INDEX)(self, found)


DEPENDING_ON_ELEMENTS: dict[str, Any] = {
    "aten::_local_scalar_dense": _the_element,
    "aten::nonzero": _where_not_0,
    "aten::masked_select": _selected,
    INDEX: _indexed,
}


def _twin(t: FakeTensor) -> Tensor:
    """A plain tensor of the meta device on a fake one's storage."""
    storage = t._storage
    assert isinstance(storage, FakeStorage), "each fake tensor has a storage of its own kind"
    keys = META_KEYS | (t.key_set & MATH_BITS)
    return tensor_of(t.dtype, t._shape, keys, None, storage.meta, t.strides(), t._offset)


def _common_device(func: Operator, given: Sequence[FakeTensor]) -> Device | None:
    """The device of an operator's arguments; a tensor of the CPU without dimensions may be with any other."""
    common: Device | None = None
    lone = False
    for t in given:
        is_lone = t.fake_device.type == "cpu" and not t._shape
        if common is None:
            common, lone = t.fake_device, is_lone
        elif t.fake_device == common:
            lone = lone and is_lone
        elif is_lone:
            continue
        elif lone:
            common, lone = t.fake_device, False
        elif "copy_" not in func.name and "_to_copy" not in func.name:
            raise FakeTensorDeviceMismatchError(func, common, t.fake_device)
    return common


def _refuse_questions_about_elements(func: Operator, args: Sequence[Any]) -> None:
    words = {*map(str, func.words)}
    if func.name == INDEX:
        if any(isinstance(i, Tensor) and i.dtype.name in ("bool", "uint8") for i in args[1]):
            raise DynamicOutputShapeException(registry.find("aten::nonzero"))
    elif "dynamic_output_shape" in words:
        raise DynamicOutputShapeException(func)
    elif "data_dependent_output" in words:
        raise DataDependentOutputException(func)


def _written(func: Operator, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[FakeTensor]:
    """The fake tensors that an operator writes to."""
    for i, parameter in enumerate(func.schema.arguments):
        if parameter.type.is_write:
            value = args[i] if i < len(args) else named.get(parameter.name)
            yield from (t for t in tree_leaves(value) if isinstance(t, FakeTensor))


def _call_text(func: Operator, args: Any, named: Mapping[str, Any]) -> str:
    """A call as it is shown in an error: tensors by their sizes."""

    def text(value: Any) -> str:
        if isinstance(value, Tensor) and not isinstance(value, FakeTensor):
            return f"tensor([...], size={tuple(value._shape)})"
        return f"[{', '.join(map(text, value))}]" if isinstance(value, list) else repr(value)

    shown = [*map(text, args), *(f"{name}={text(value)}" for name, value in named.items())]
    return f"{func}({', '.join(shown)})"


# Questions about fake tensors ---------------------------------------------------------------------------------------


def is_fake(x: object) -> bool:
    """Whether a tensor is fake, or wraps one that is."""
    return maybe_get_fake_mode(x) is not None


def maybe_get_fake_mode(t: object) -> FakeTensorMode | None:
    """The mode of a fake tensor, or of those that a tensor wraps; None for any other object."""
    if isinstance(t, FakeTensor):
        return t.fake_mode
    if is_traceable_wrapper_subclass(t):
        wrapper: Any = t
        inner = [maybe_get_fake_mode(getattr(wrapper, name)) for name in wrapper.__tensor_flatten__()[0]]
        return next((mode for mode in inner if mode is not None), None)
    return None


@contextmanager
def unset_fake_temporarily() -> Iterator[Any]:
    """In the block, no fake mode is on; gives the one that was."""
    mode = mode_stack.unset(FAKE)
    try:
        yield mode
    finally:
        if mode is not None:
            mode_stack.push(mode)

"""What can a program ask of an operator that it holds?

Mirrors: torch/_ops.py (OpOverload, OperatorBase)
Differs: the operator itself, and not a Python object in front of it. `name` is its full name as a string, which can be
    called for the sake of PyTorch's `name()`. A Python kernel that `py_impl` registers is kept, and runs where
    `decompose` finds it; PyTorch's Python dispatcher, which asks for the others, is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from glasstorch.core.errors import RegistrationError
from glasstorch.core.keys import DispatchKey, DispatchKeySet
from glasstorch.core.plain_types import SILENT
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Operator, keys_of
from glasstorch.dispatch.schema import FunctionSchema, Type

F = TypeVar("F", bound=Callable[..., Any])


PLAIN_TENSOR: Final[frozenset[type]] = frozenset((TensorImpl,))  # of any class that is one
PLAIN: Final[dict[str, frozenset[type]]] = {
    "Tensor": PLAIN_TENSOR,
    "int": frozenset((int,)),
    "SymInt": frozenset((int,)),
    "float": frozenset((float,)),
    "bool": frozenset((bool,)),
    "str": frozenset((str,)),
    "Scalar": frozenset((int, float, bool, complex)),
}


class OperatorName(str):
    """An operator's full name, `aten::add.Tensor`, which PyTorch gives as a method."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


class CallForm:
    """How most calls of an operator bind their arguments: as `Operator.bind` does, where nothing is converted."""

    __slots__ = ("by_position", "defaults", "kinds", "lists", "places")

    def __init__(self, schema: FunctionSchema) -> None:
        self.by_position = len(schema.positional)
        self.places = {a.name: place for place, a in enumerate(schema.arguments)}
        self.defaults = [REQUIRED if a.default is None else a.default_value for a in schema.arguments]
        self.lists = [place for place, default in enumerate(self.defaults) if isinstance(default, list)]
        self.kinds = [_kind_of(a.type) for a in schema.arguments]

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[int, list[Any] | None]:
        """The key sets of all tensors, and the arguments in the order of the schema; None if one has to be converted.

        So it is with an argument that is missing, too many or unknown: `Operator.bind` says what is wrong.
        """
        count, places = len(args), self.places
        if count > self.by_position:
            return 0, None
        given = [*args, *self.defaults[count:]]
        for place in self.lists:
            if place >= count:
                given[place] = given[place].copy()  # which the kernel may write to
        for name, value in kwargs.items():
            place = places.get(name, -1)
            if place < count:
                return 0, None
            given[place] = value
        keys = 0
        for place, kind in enumerate(self.kinds):
            value = given[place]
            if isinstance(value, TensorImpl):
                keys |= value.key_set
            elif value is REQUIRED or kind == TENSOR or (kind == INTS and type(value) is int):
                return 0, None
            elif kind == MAY_HAVE_TENSOR:
                if value is not None:
                    return 0, None
            elif kind == LIST and value is not None:
                keys |= keys_of(value)
        return keys, given


REQUIRED: Final = object()  # in place of the default of a parameter that has none
TENSOR, MAY_HAVE_TENSOR, LIST, INTS, OTHER = range(5)


def _kind_of(kind: Type) -> int:
    """What the values of a parameter have to be, so that nothing is converted."""
    if kind.is_list:
        return INTS if kind.base in ("int", "SymInt") else LIST
    if kind.is_tensor_like:
        return MAY_HAVE_TENSOR if kind.is_optional else TENSOR
    return OTHER


class Ready(NamedTuple):
    """What a call by position lacks whose arguments need no conversion."""

    tensors: tuple[int, ...]  # which of its arguments are tensors
    rest: tuple[Any, ...]  # the defaults of the others


class ReadyForms(dict[tuple[type, ...], Ready | None]):
    """The types of arguments -> what a call of an operator with them lacks; None where `bind` has to look at values.

    `CallForm` and `Operator.bind` are the plain form. The types are those of which nobody is asked, and so a few.
    """

    __slots__ = ("operator",)

    def __init__(self, operator: OpOverload) -> None:
        super().__init__()
        self.operator = operator

    def __missing__(self, types: tuple[type, ...]) -> Ready | None:
        fits = self._fits_form if self.operator.family else self._fits_plain
        found = self[types] = fits(types)
        return found

    def _fits_plain(self, types: tuple[type, ...]) -> Ready | None:
        """For a user's operator, whose arguments are checked."""
        plain = self.operator.plain
        tensors = tuple(i for i, kind in enumerate(types) if issubclass(kind, TensorImpl))
        fits = len(types) == len(plain) and all(
            plain[i] is PLAIN_TENSOR if i in tensors else kind in plain[i] for i, kind in enumerate(types)
        )
        return Ready(tensors, ()) if fits else None

    def _fits_form(self, types: tuple[type, ...]) -> Ready | None:
        """For one of the library's, which gets what it is given: only a list, or a number for one, is looked into."""
        form = self.operator.form
        rest = tuple(form.defaults[len(types) :])
        if len(types) > form.by_position or any(value is REQUIRED or isinstance(value, list) for value in rest):
            return None
        tensors = tuple(i for i, kind in enumerate(types) if issubclass(kind, TensorImpl))
        for i, kind in enumerate(types):
            needs = form.kinds[i]
            is_none = kind is type(None) and needs != TENSOR
            if not (i in tensors or is_none or needs == OTHER or (needs == INTS and kind is not int)):
                return None
        return Ready(tensors, rest)


class OpOverload(Operator):
    """One overload of one operator, with all that PyTorch lets a program ask of it.

    Its packet, `torch.ops.aten.add`, is made in calls/ops.py.
    """

    # Set by calls/ops.py: its packet, the answer of somebody else to a call, which is NotImplemented where there is
    # nobody to ask, and the arguments of a call converted to the types of the schema.
    packet_of: ClassVar[Callable[[OpOverload], Any]]
    answer: ClassVar[Callable[[OpOverload, Sequence[Any], dict[str, Any]], Any]]
    converted: ClassVar[Callable[[OpOverload, Sequence[Any], Sequence[Any]], Sequence[Any]]]
    py_kernels: dict[Any, Callable[..., Any]]
    torch_dispatch_rules: dict[type, Callable[..., Any]]  # what a class of modes or tensors does with it

    def __init__(
        self,
        name: str,
        text: str,
        defined_at: str,
        words: Sequence[str] = (),
        alias: str | None = None,
        family: str = "",
    ) -> None:
        super().__init__(OperatorName(name), text, defined_at, words, alias, family)

    def __getattr__(self, name: str) -> Any:
        """`__qualname__`, which a class cannot define for instances, and the registries, made when asked for."""
        if name == "__qualname__":
            return str(self.name)
        if name in ("py_kernels", "torch_dispatch_rules"):
            made: dict[Any, Callable[..., Any]] = {}
            setattr(self, name, made)
            return made
        raise AttributeError(f"'OpOverload' object has no attribute '{name}'", name=name, obj=self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # hot path: benchmarks/library.py
        """Call the operator; the arguments of a user's are checked, as Python code is what they come to."""
        types = tuple(map(type, args))
        if kwargs or not SILENT.issuperset(types):
            answer = self.answer(args, kwargs)
            if answer is not NotImplemented:
                return answer
        elif (ready := self.ready[types]) is not None:
            keys = 0
            for place in ready.tensors:
                keys |= args[place].key_set
            included, allowed = active_keys.get()
            keys = (keys | included) & allowed
            result = self.table[keys](keys, *args, *ready.rest)
            return self._without_names(result) if isinstance(result, tuple) and self.family else result
        if self.family:
            keys, given = self.form.bind(args, kwargs)
            if given is None:
                return super().__call__(*args, **kwargs)
            included, allowed = active_keys.get()
            keys = (keys | included) & allowed
            result = self.table[keys](keys, *given)
            return self._without_names(result) if isinstance(result, tuple) else result
        arguments: Sequence[Any] = args
        if kwargs or len(args) != len(self.plain):
            arguments = self.form.bind(args, kwargs)[1] or self.bind(args, kwargs)
        keys = 0
        for value, plain in zip(arguments, self.plain, strict=True):
            if isinstance(value, TensorImpl) and plain is PLAIN_TENSOR:
                keys |= value.key_set
            elif type(value) not in plain:
                arguments = self.converted(arguments, args)
                keys = keys_of(arguments)
                break
        included, allowed = active_keys.get()
        keys = (keys | included) & allowed
        return self.table[keys](keys, *arguments)

    def _without_names(self, result: tuple[Any, ...]) -> Any:
        """Several results, whose names are the Python functions' business."""
        return [*result] if self.schema.returns[0].type.is_list else tuple(result)

    @cached_property
    def ready(self) -> ReadyForms:
        """The calls by position that are ready as they are, by the types of their arguments."""
        return ReadyForms(self)

    @cached_property
    def form(self) -> CallForm:
        """How the arguments of a call are bound that need no conversion."""
        return CallForm(self.schema)

    @cached_property
    def plain(self) -> list[frozenset[type]]:
        """The types that each argument may have as it is."""
        return [
            PLAIN.get(str(a.type), frozenset()) if a.default != "None" else frozenset((type(None),))
            for a in self.schema.arguments
        ]

    def __deepcopy__(self, memo: object = None) -> OpOverload:
        return self

    # Its names ------------------------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return str(self.name)

    @property
    def _namespace(self) -> str:
        return self.namespace

    @property
    def _opname(self) -> str:
        return self.name.partition("::")[2].partition(".")[0]

    @property
    def _overloadname(self) -> str:
        return self.overload_name or "default"

    @property
    def __name__(self) -> str:
        return f"{self._opname}.{self._overloadname}"

    # What it is -----------------------------------------------------------------------------------------------------

    @property
    def overloadpacket(self) -> Any:
        """All overloads of its name: `torch.ops.aten.add`."""
        return self.packet_of()

    _overloadpacket = overloadpacket

    @property
    def op(self) -> Callable[..., Any]:
        """What calls it."""
        return self.__call__

    @property
    def is_view(self) -> bool:
        """Whether the schema has aliases, and none that is written to."""
        aliases = [a.type for a in self.schema.arguments if a.type.alias is not None]
        return bool(aliases) and not any(alias.is_write for alias in aliases)

    @property
    def _defined_in_python(self) -> bool:
        """Whether a Library has defined it; PyTorch's own operators are defined in C++."""
        return not self.family

    # Its kernels ----------------------------------------------------------------------------------------------------

    def has_kernel_for_dispatch_key(self, k: DispatchKey) -> bool:
        """Whether a kernel is registered for this very key or alias, or by `py_impl`."""
        return k in self.py_kernels or self.has_kernel_for(k)

    def has_kernel_for_any_dispatch_key(self, ks: DispatchKeySet) -> bool:
        """Whether a kernel is registered for a key of the set."""
        return any(self.has_kernel_for_dispatch_key(key) for key in ks)

    def py_impl(self, k: Any) -> Callable[[F], F]:
        """A decorator: keep the function below as the Python kernel of a key, or of a class of modes."""

        def keep(function: F) -> F:
            if k in self.py_kernels:
                raise RegistrationError(f"Trying to override a python impl for {k} on operator {self.name}")
            self.py_kernels[k] = function
            return function

        return keep

    def _can_decompose(self) -> bool:
        return self.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd)

    def decompose(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel that is composed of other operators; NotImplemented where there is none."""
        key = DispatchKey.CompositeImplicitAutograd
        if key in self.py_kernels:
            return self.py_kernels[key](*args, **kwargs)
        if not self.has_kernel_for(key):
            return NotImplemented
        keys = 0  # that of a call with no tensor, where a composite kernel is the one that runs
        return self.table[keys](keys, *self.bind(args, kwargs))

    def redispatch(self, keys: int | DispatchKeySet, *arguments: Any, **named: Any) -> Any:
        """Call the kernel for a key set that the caller has masked.

        With a plain int, the arguments are complete and in the order of the schema; with a DispatchKeySet, they are
        those of a call.
        """
        if isinstance(keys, DispatchKeySet):
            return self.table[keys.bits](keys.bits, *self.bind(arguments, named))
        return self.table[keys](keys, *(self.bind(arguments, named) if named else arguments))

"""What do objects of a program's own classes do: how are they made, and which methods does Python call on them?

Mirrors: torch/_dynamo/variables/user_defined.py
Differs: classes that derive from a builtin one, other than exceptions, are refused; so are metaclasses with methods of
    their own for what is asked here.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator
from enum import EnumMeta
from types import FunctionType
from typing import Any, Final

from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.classes import in_mro, is_written_in_python, of_class
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    PLAIN_OBJECTS,
    Constant,
    Context,
    Known,
    Method,
    Sequence,
    Value,
    describe,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made

# The methods of Python's operators, and how an error shows them.
COMPARISONS: Final = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
ARITHMETIC: Final = {
    "__add__": "+", "__and__": "&", "__floordiv__": "//", "__lshift__": "<<", "__matmul__": "@", "__mul__": "*",
    "__mod__": "%", "__or__": "|", "__pow__": "** or pow()", "__rshift__": ">>", "__sub__": "-", "__truediv__": "/",
    "__xor__": "^",
}  # fmt: skip
EXCHANGED: Final = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__"}
# Of each function that stands for an operator: the method of the left operand, and that of the right one.
OPERATORS: Final[dict[Callable[..., Any], tuple[str, str]]] = {
    **{getattr(operator, name): (name, EXCHANGED.get(name, name)) for name in COMPARISONS},
    **{getattr(operator, name): (name, name.replace("__", "__r", 1)) for name in ARITHMETIC},
}
IN_PLACE: Final = {getattr(operator, name.replace("__", "__i", 1)): name for name in ARITHMETIC}


def is_users(value: Value) -> bool:
    """Whether a value is an object of a class written in Python, whose methods Python would call."""
    return isinstance(value, Known) and not isinstance(value.value, PLAIN_OBJECTS)


def special(recorder: Recorder, value: Value, name: str) -> Value | None:
    """A method of the class of an object, as Python looks up what it calls itself; None if there is none."""
    if isinstance(value, Context):
        return Method(value, name)
    if not isinstance(value, Known):
        raise Unsupported(f"{name} of {describe(value)}")
    found = in_mro(type(value.value), name)
    if found is None:
        return None
    if isinstance(found, FunctionType):
        return Method(value, of_class(recorder, type(value.value), name, found))
    if isinstance(found, staticmethod | classmethod | property) or not callable(found):
        return attribute(recorder, value, name)
    raise Unsupported(f"{name} of {describe(value)}")


def of_users(recorder: Recorder, function: Callable[..., Any], left: Value, right: Value) -> Value:
    """What an operator gives of which at least one operand is an object of a user's class."""
    if function in IN_PLACE:
        name = IN_PLACE[function]
        method = special(recorder, left, name.replace("__", "__i", 1)) if is_users(left) else None
        if method is not None:
            found = recorder.call(method, [right], {})
            if not _is_not_implemented(found):
                return found
        function = getattr(operator, name)
    if function not in OPERATORS:
        raise Unsupported(f"{function.__name__} of {describe(left)} and {describe(right)}")
    name, reflected = OPERATORS[function]
    tries = [(left, right, name), (right, left, reflected)]
    first, second = (type(v.value) if isinstance(v, Known) else None for v in (left, right))
    if first is not None and second is not None and _goes_first(second, first, reflected):
        tries.reverse()
    is_comparison = name == reflected or function in (operator.lt, operator.le, operator.gt, operator.ge)
    if first is second and not is_comparison:
        del tries[1]
    for one, other, method_name in tries:
        answer = _asked(recorder, one, other, method_name)
        if answer is not None and not _is_not_implemented(answer):
            return answer
    if function in (operator.eq, operator.ne):
        return Constant(_is_one(recorder, left, right) is (function is operator.eq))
    text = "not supported between instances of" if is_comparison else "unsupported operand type(s) for"
    raise Raised(TypeError(f"{text} {(COMPARISONS | ARITHMETIC)[name]}"))


def _goes_first(second: type[Any], first: type[Any], name: str) -> bool:
    """Whether the class of a right operand, which derives from that of the left one, has a method of its own."""
    return second is not first and issubclass(second, first) and in_mro(second, name) is not in_mro(first, name)


def _asked(recorder: Recorder, one: Value, other: Value, name: str) -> Value | None:
    """What one operand answers; None if it has no such method, or Python's own one that knows no other class."""
    if not is_users(one):
        return None if isinstance(one, Constant | Known) else _unknown(one, other, name)
    assert isinstance(one, Known)
    static = in_mro(type(one.value), name)
    if static is None or static in (getattr(object, name, None), getattr(BaseException, name, None)):
        if name == "__ne__" and (method := special(recorder, one, "__eq__")) is not None:
            if not isinstance(method, Method) or isinstance(method.function, str):
                raise Unsupported(f"!= of {describe(one)}")
            found = recorder.call(method, [other], {})
            return found if _is_not_implemented(found) else Constant(not recorder.truth(found))
        return None
    method = special(recorder, one, name)
    return None if method is None else recorder.call(method, [other], {})


def _unknown(one: Value, other: Value, name: str) -> Value | None:
    raise Unsupported(f"{name} of {describe(one)} and {describe(other)}")


def _is_not_implemented(value: Value) -> bool:
    return isinstance(value, Known) and value.value is NotImplemented


def _is_one(recorder: Recorder, left: Value, right: Value) -> bool:
    return recorder.same(left, right)


def truth_of_object(recorder: Recorder, value: Known) -> bool:
    """Whether an object is true: what its class says, or that it is one."""
    for name in ("__bool__", "__len__"):
        if in_mro(type(value.value), name) is None:
            continue
        method = special(recorder, value, name)
        assert method is not None
        answer = known(recorder.call(method, [], {}))
        if name == "__bool__" and not isinstance(answer, bool):
            raise Raised(TypeError(f"__bool__ should return bool, returned {type(answer).__name__}"))
        return bool(answer)
    return True


def iterated(recorder: Recorder, value: Value) -> Iterator[Value]:
    """The items that an object of a user's class gives."""
    method = special(recorder, value, "__iter__")
    if method is None:
        raise Unsupported(f"a loop over {describe(value)}")
    found = recorder.call(method, [], {})
    if is_users(found):
        return advanced(recorder, found)
    return recorder.items(found)


def advanced(recorder: Recorder, value: Value) -> Iterator[Value]:
    """What an iterator of a user's class gives, one at a time."""
    method = special(recorder, value, "__next__")
    if method is None:
        raise Raised(TypeError(f"iter() returned non-iterator of type '{class_name(value)}'"))
    while True:
        try:
            found = recorder.call(method, [], {})
        except Raised as raised:
            if isinstance(raised.error, StopIteration):
                return
            raise
        yield found


def class_name(value: Value) -> str:
    """The name of an object's class."""
    return type(value.value).__name__ if isinstance(value, Known) else describe(value)


def instantiate(recorder: Recorder, kind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What a call of a class gives."""
    if type(kind).__call__ not in (type.__call__, EnumMeta.__call__):
        raise Unsupported(f"a call of {kind.__name__}, whose metaclass says what that is")
    if isinstance(kind, EnumMeta):
        return made(evaluated(kind, *map(known, args), **{name: known(value) for name, value in kwargs.items()}))
    maker = in_mro(kind, "__new__")
    maker = maker.__func__ if isinstance(maker, staticmethod) else maker
    if isinstance(maker, FunctionType):
        found = recorder.call(of_class(recorder, kind, "__new__", maker), [Known(kind), *args], kwargs)
        if not isinstance(found, Known) or not isinstance(found.value, kind):
            return found
    else:
        found = new_object(recorder, kind, args)
    initialize = in_mro(kind, "__init__")
    if isinstance(initialize, FunctionType):
        result = recorder.call(of_class(recorder, kind, "__init__", initialize), [found, *args], kwargs)
        if not isinstance(result, Constant) or result.value is not None:
            raise Raised(TypeError("__init__() should return None"))
    elif issubclass(kind, BaseException):
        if kwargs or initialize not in BUILTIN_INITIALIZERS:
            raise Unsupported(f"a call of {kind.__name__} with these arguments")
    elif initialize is not object.__init__:
        raise Unsupported(f"a call of {kind.__name__}, whose __init__ is not written in Python")
    elif (args or kwargs) and not isinstance(maker, FunctionType):
        raise Raised(TypeError(f"{kind.__name__}() takes no arguments"))
    return found


# Exceptions whose arguments are all that they keep.
SIMPLE_ERRORS: Final = tuple(
    kind for kind in vars(builtins).values()
    if isinstance(kind, type) and issubclass(kind, Exception)
    and not issubclass(kind, OSError | ImportError | SyntaxError | UnicodeError | BaseExceptionGroup)
)  # fmt: skip
BUILTIN_INITIALIZERS: Final = [
    vars(kind)["__init__"] for kind in (*SIMPLE_ERRORS, BaseException) if "__init__" in vars(kind)
]


def new_object(recorder: Recorder, kind: Any, args: list[Value]) -> Known:
    """An object of a class without its attributes, as `object.__new__` makes it."""
    if in_mro(kind, "__del__") is not None:
        raise Unsupported(f"a call of {kind.__name__}, which has a __del__")
    if issubclass(kind, BaseException):
        base = next(parent for parent in kind.__mro__ if not is_written_in_python(parent))
        if base not in (*SIMPLE_ERRORS, Exception):
            raise Unsupported(f"a call of {kind.__name__}")
        found = recorder.effects.make(kind, kind.__new__(kind))
        attributes = recorder.effects.attributes_of(found).items
        attributes["args"] = Sequence(list(args), tuple)
        if issubclass(kind, StopIteration):
            attributes["value"] = args[0] if args else Constant(None)
        return found
    if in_mro(kind, "__new__") is not object.__new__ and not isinstance(in_mro(kind, "__new__"), staticmethod):
        raise Unsupported(f"a call of {kind.__name__}, which derives from a class that is not written in Python")
    return recorder.effects.make(kind, evaluated(object.__new__, kind))

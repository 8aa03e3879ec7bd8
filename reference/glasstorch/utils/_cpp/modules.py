"""How do the functions of a PYBIND11_MODULE become functions of a module of Python?

Mirrors: pybind11/pybind11.h (cpp_function::initialize_generic, dispatcher)
Differs: functions only. They are objects of Python that show what pybind11's show, and run with the interpreter's lock.
"""

from __future__ import annotations

from itertools import count
from types import ModuleType
from typing import Any, Final, NamedTuple

from glasstorch.utils._cpp.calls import CppLibrary, service
from glasstorch.utils._cpp.casters import Unfit, caster


class Overload(NamedTuple):
    """One function of C++: its closure, its parameters, and how its result is shown."""

    library: CppLibrary
    closure: int
    names: list[str]  # of the parameters that have one: all or none
    kinds: list[str]
    defaults: list[Any]  # of the last parameters
    result: str
    doc: str

    @property
    def signature(self) -> str:
        """`(x: torch.Tensor, n: int = 3) -> torch.Tensor`"""
        first = len(self.kinds) - len(self.defaults)
        shown = [
            f"{self.names[i] if self.names else f'arg{i}'}: {kind}"
            + (f" = {self.defaults[i - first]!r}" if i >= first else "")
            for i, kind in enumerate(self.kinds)
        ]
        return f"({', '.join(shown)}) -> {self.result}"

    def cast(self, args: tuple[Any, ...], kwargs: dict[str, Any], convert: bool) -> list[Any]:
        """The arguments of a call as C++ takes them; Unfit if they are not these parameters'."""
        given = list(args)
        rest = dict(kwargs)
        first = len(self.kinds) - len(self.defaults)
        for i in range(len(given), len(self.kinds)):
            if self.names and self.names[i] in rest:
                given.append(rest.pop(self.names[i]))
            elif i >= first:
                given.append(self.defaults[i - first])
            else:
                raise Unfit
        if rest or len(given) > len(self.kinds):
            raise Unfit
        return [caster(kind)(value, convert) for kind, value in zip(self.kinds, given, strict=True)]

    def call(self, values: list[Any]) -> Any:
        """Run it."""
        results = self.library.run(self.closure, values, locked=True)
        if self.result.startswith("tuple["):
            return tuple(results)
        return results[0] if results else None


class CppFunction:
    """The overloads of one name."""

    def __init__(self, name: str, module: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = module
        self._overloads: list[Overload] = []

    def add(self, overload: Overload) -> None:
        """Add an overload, and say so in the help."""
        self._overloads.append(overload)
        name = self.__name__
        texts = [f"{name}{each.signature}\n" + (f"\n{each.doc}\n" if each.doc else "") for each in self._overloads]
        if len(texts) > 1:
            numbered = "".join(f"\n{i}. {text}" for i, text in enumerate(texts, 1))
            texts = [f"{name}(*args, **kwargs)\nOverloaded function.\n{numbered}"]
        self.__doc__ = texts[0]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        for convert in (False, True) if len(self._overloads) > 1 else (True,):
            for overload in self._overloads:
                try:
                    values = overload.cast(args, kwargs, convert)
                except Unfit:
                    continue
                return overload.call(values)
        supported = "\n".join(f"    {i}. {each.signature}" for i, each in enumerate(self._overloads, 1))
        invoked = [", ".join(map(repr, args))] if args else []
        if kwargs:
            invoked.append("kwargs: " + ", ".join(f"{name}={value!r}" for name, value in kwargs.items()))
        raise TypeError(
            f"{self.__name__}(): incompatible function arguments. The following argument types are supported:\n"
            f"{supported}\n\nInvoked with: {'; '.join(invoked)}"
        )

    def __repr__(self) -> str:
        return f"<function {self.__name__} of C++, in the module {self.__module__}>"


_filled: Final[dict[int, ModuleType]] = {}
_numbers = count(1)


def new_module(library: CppLibrary, name: str) -> ModuleType:
    """The module that a library defines; ImportError if it defines none of that name."""
    closure = library.modules.get(name)
    if closure is None:
        raise ImportError(
            f"dynamic module does not define module export function (PyInit_{name}): {library.path} has no "
            f"PYBIND11_MODULE({name}, m), which load_inline writes where `functions` names some",
            name=name,
            path=library.path,
        )
    module = ModuleType(name)
    module.__file__ = library.path
    number = next(_numbers)
    _filled[number] = module
    try:
        library.run(closure, [number])
    finally:
        del _filled[number]
    return module


@service
def module(library: CppLibrary, name: str, closure: int) -> None:
    """Note a module, which is filled when it is asked for."""
    library.modules[name] = closure


@service
def function(
    library: CppLibrary, number: int, name: str, closure: int, doc: str, types: int, names: int, *rest: Any
) -> None:
    """Define a function. `rest` has the types of the parameters, that of the result, the names, and the defaults."""
    module = _filled[number]
    made = vars(module).setdefault(name, CppFunction(name, module.__name__))
    kinds, result = [*rest[: types - 1]], rest[types - 1]
    shown, defaults = [*rest[types : types + names]], [*rest[types + names :]]
    made.add(Overload(library, closure, shown, kinds, defaults, result, doc))


@service
def attribute(library: CppLibrary, number: int, name: str, value: Any) -> None:
    """Set an attribute of a module."""
    setattr(_filled[number], name, value)

"""What does `python -m glasstorch --where torch.cumsum` print?

Mirrors: nothing; in PyTorch one searches native_functions.yaml, then the files that its `dispatch` names
Differs: the answer is computed from the running library.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from textwrap import indent
from types import FunctionType, ModuleType
from typing import Any

import glasstorch
from glasstorch._search import definitions_of, files_about
from glasstorch.autograd.generated import autograd_kernels
from glasstorch.core.errors import ArgumentError
from glasstorch.core.unknown_names import advice
from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators.whereabouts import LIBRARY, Whereabouts, behind, forms_of, overloads_of, whereabouts

NOTHING = object()
OF_TORCH = ("torch.", "F.", "Tensor.")  # what begins so is a name of PyTorch's, not words
CALLED = re.compile(r"(?<![\w.])([a-z_]\w*)\(")  # functions that a formula calls, without methods


def described(name: str) -> str:
    """Where a function of PyTorch is declared, computed and differentiated, as text; ArgumentError for an unknown name.

    A name of the library alone is found where it is defined, and other words in the headers of files.

    >>> print(described("torch.numel"))  # doctest: +ELLIPSIS
    torch.numel is a function of Python: ...
    """
    cuda.register_kernels()
    value = _value(name)
    operator = behind(value)
    every = [whereabouts(each) for each in overloads_of(name) or (overloads_of(operator) if operator else [])]
    found = [one for one in every if one.functional is None] or every
    if found:
        written = _place(value) if isinstance(value, FunctionType) and not operator else None
        return "\n\n".join(_text(one, written) for one in found)
    if value is not NOTHING:
        place = _place(value)
        others = definitions_of(value.__name__) if isinstance(value, FunctionType) else []
        also = [shown(other) for qualified, other in others if qualified == value.__name__ and shown(other) != place]
        more = f"\n  {value.__name__} is also defined in {', '.join(also)}" if also else ""
        return f"{name} is {_kind(value)}: {place or repr(value)}{more}"
    if definitions := definitions_of(name):
        return "\n".join(f"{qualified} is defined in {shown(place)}" for qualified, place in definitions)
    if not name.startswith(OF_TORCH) and (files := [(shown(path), question) for path, question in files_about(name)]):
        width = max(len(path) for path, _ in files)
        lines = "\n".join(f"  {path:{width}}  {question}" for path, question in files)
        return f"No operator, class or function is called {name!r}. Files about it, with the question of each:\n{lines}"
    if " " in name:
        raise ArgumentError(f"no file of the library is about {name!r}; try fewer or other words")
    known = sorted({operator.qualified_overload.partition(".")[0] for operator in registry.operators.values()})
    asked = name.removeprefix("torch.").removeprefix("Tensor.")
    raise ArgumentError(f"there is no operator or function {name!r}; {advice(asked.replace('.', '_'), known)}")


def _text(one: Whereabouts, written: str | None) -> str:
    """One overload as text; `written` is the location of its Python function, if that is written by hand."""
    facts = [("function", written)] if written else []
    if one.family:
        facts.append(("family", one.family))
    facts.append(("declared", shown(one.declared)))
    if one.tags:
        facts.append(("tags", ", ".join(tag.name for tag in one.tags)))
    if one.shape:
        facts.append(("shape", shown(one.shape)))
    facts += _kernels(one.kernels, one)
    facts += [("made of" if i == 0 else "", line) for i, line in enumerate(_parts(one))]
    facts += _kernels(one.recording, one)
    if one.refuses:
        facts.append(("derivative", f"{shown(one.derivative or '')}: not implemented, backward() refuses"))
    elif one.derivative:
        facts.append(("derivative", shown(one.derivative)))
        facts += [("", line) for line in _formulas(one)]
    elif one.gradient_of_parts:
        facts.append(("derivative", "that of the operators it is made of"))
        facts += [("", line) for line in _derivatives_of_parts(one)]
    facts += [(key, text) for key, text in (("in PyTorch", one.mirrors), ("differs", one.differs)) if text]
    forms = forms_of(one.name)
    if forms:
        facts.append(("forms", ", ".join(forms)))
    for told in (one, *(whereabouts(registry.find(f"aten::{form}")) for form in forms)):
        if told.out is not None:
            facts.append(("out=", f"{told.out}, {shown(told.kernels[0][1])}"))
    keys = [key for key, _ in facts]
    width = max(map(len, keys)) + 2
    return one.schema + "\n" + indent("\n".join(f"{key:{width}}{value}" for key, value in facts), "  ")


def _kernels(kernels: tuple[tuple[str, str], ...], one: Whereabouts) -> Iterator[tuple[str, str]]:
    """The location of each kernel, and below it that of the function that made it from its row."""
    makers = dict(one.makers)
    for key, place in kernels:
        yield key, shown(place)
        if key in makers:
            name, _, defined = makers[key].partition(", ")
            yield "", f"made by {name}: {shown(defined)}"
        if key == "CPU":
            for fast in one.fast:
                over = fast.over if fast.over.startswith("aten::") else fast.over.rpartition(".")[2]
                yield "fast", f"{shown(fast.where)} (over {over}; {fast.exactness})"


def _parts(one: Whereabouts) -> Iterator[str]:
    """What it is composed of: functions in other files, and operators, each with the locations of its kernels."""
    yield from (f"{name}: {shown(place)}" for name, place in one.helpers)
    yield from (f"{name}: {_computed(name)}" for name in one.calls)


def _computed(name: str) -> str:
    """The locations of the kernels of an operator: of its first overload that has some."""
    every = (whereabouts(operator).kernels for operator in overloads_of(f"aten::{name}"))
    places = dict.fromkeys(place for _, place in next(filter(None, every), ()))  # devices may share one row
    return ", ".join(map(shown, places))


def _formulas(one: Whereabouts) -> Iterator[str]:
    """The formulas of a derivative, then each function and operator that they call by name, with its location."""
    yield from (f"{argument}: {formula}" for argument, formula in one.formulas)
    for name in dict.fromkeys(CALLED.findall(" ".join(formula for _, formula in one.formulas))):
        value = getattr(autograd_kernels, name, None)
        if computed := _computed(name):
            yield f"{name}: {computed}"
        elif isinstance(value, FunctionType):
            yield f"{name}: {_place(value)}"


def _derivatives_of_parts(one: Whereabouts) -> Iterator[str]:
    """The rows of derivatives.yaml that the operators it is made of have."""
    for name in one.calls:
        every = map(whereabouts, overloads_of(f"aten::{name}"))
        if part := next((each for each in every if each.derivative), None):
            yield f"{name}: {shown(str(part.derivative))}"
            yield from (f"  {line}" for line in _formulas(part))


def shown(place: str) -> str:
    """A location relative to the current folder, if it is below that."""
    path = str(LIBRARY / place)
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


# Names of Python -----------------------------------------------------------------------------------------------


def _value(name: str) -> Any:
    """The object that a name of PyTorch refers to here; NOTHING where there is none."""
    path = "nn.functional." + name[2:] if name.startswith("F.") else name.removeprefix("torch.")
    try:
        return attrgetter(path)(glasstorch)
    except AttributeError:
        return NOTHING


def _kind(value: Any) -> str:
    if isinstance(value, ModuleType):
        return "a module"
    if isinstance(value, type):
        return "a class"
    if inspect.isdatadescriptor(value):
        return "an attribute"
    return "a function of Python" if callable(value) else f"a {type(value).__name__}"


def _place(value: Any) -> str | None:
    """Where a module, class, function or attribute is defined; for another value, where its class is."""
    value = getattr(value, "fget", None) or getattr(value, "__objclass__", value)
    for written in (value, type(value)):
        try:
            file, (_, line) = inspect.getsourcefile(written), inspect.getsourcelines(written)
        except (TypeError, OSError):
            continue
        return None if file is None else shown(f"{Path(file).resolve()}:{max(line, 1)}")
    return None

"""What does `python -m glasstorch --where torch.cumsum` print?

Mirrors: nothing; in PyTorch one searches native_functions.yaml, then the files that its `dispatch` names
Differs: the answer is computed from the running library.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from textwrap import indent
from types import FunctionType, ModuleType
from typing import Any

import glasstorch
from glasstorch.core.errors import ArgumentError
from glasstorch.core.unknown_names import advice
from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators.whereabouts import LIBRARY, Whereabouts, behind, forms_of, overloads_of, whereabouts

NOTHING = object()


def described(name: str) -> str:
    """Where a function of PyTorch is declared, computed and differentiated, as text; ArgumentError for an unknown name.

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
        return f"{name} is {_kind(value)}: {_place(value) or repr(value)}"
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
    facts += [(key, shown(place)) for key, place in one.kernels]
    facts += [("made of" if i == 0 else "", line) for i, line in enumerate(_parts(one))]
    if one.refuses:
        facts.append(("derivative", f"{shown(one.derivative or '')}: not implemented, backward() refuses"))
    elif one.derivative:
        facts.append(("derivative", shown(one.derivative)))
        facts += [("", f"{argument}: {formula}") for argument, formula in one.formulas]
    elif one.kind == "CompositeImplicitAutograd":
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


def _parts(one: Whereabouts) -> Iterator[str]:
    """The operators that it is composed of, each with the location of its kernel."""
    for name in one.calls:
        operators = overloads_of(f"aten::{name}")
        places = dict.fromkeys(shown(place) for operator in operators for _, place in whereabouts(operator).kernels[:1])
        yield f"{name}: {', '.join(list(places)[:1])}"


def _derivatives_of_parts(one: Whereabouts) -> Iterator[str]:
    """The rows of derivatives.yaml that the operators it is made of have."""
    for name in one.calls:
        places = [whereabouts(operator).derivative for operator in overloads_of(f"aten::{name}")]
        if place := next(filter(None, places), None):
            yield f"{name}: {shown(place)}"


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

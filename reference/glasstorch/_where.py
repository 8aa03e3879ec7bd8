"""What does `python -m glasstorch --where torch.cumsum` print?

Mirrors: nothing; in PyTorch one searches native_functions.yaml, then the files that its `dispatch` names
Differs: a question to the running library.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import glasstorch
from glasstorch.core.errors import ArgumentError
from glasstorch.core.unknown_names import advice
from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators.whereabouts import LIBRARY, Whereabouts, forms_of, overloads_of, whereabouts


def told(name: str) -> str:
    """Where a function of PyTorch is declared, computed and differentiated, as text; ArgumentError for no such name.

    >>> print(told("torch.numel"))  # doctest: +ELLIPSIS
    torch.numel is a function of Python: ...
    """
    cuda.register_kernels()
    every = [whereabouts(operator) for operator in overloads_of(name)]
    found = [one for one in every if one.functional is None] or every
    if found:
        return "\n\n".join(_text(one) for one in found)
    function = _python_function(name)
    if function is not None:
        return f"{name} is a function of Python: {function}"
    known = sorted({operator.qualified_overload.partition(".")[0] for operator in registry.operators.values()})
    asked = name.removeprefix("torch.").removeprefix("Tensor.")
    raise ArgumentError(f"there is no operator or function {name!r}; {advice(asked.replace('.', '_'), known)}")


def _text(one: Whereabouts) -> str:
    facts = [("declared", shown(one.declared))]
    if one.shape:
        facts.append(("shape", shown(one.shape)))
    facts += [(key, shown(place)) for key, place in one.kernels]
    facts += [("made of" if i == 0 else "", line) for i, line in enumerate(_parts(one))]
    if one.derivative:
        facts.append(("derivative", shown(one.derivative)))
        facts += [("", f"{argument}: {formula}") for argument, formula in one.formulas]
    elif one.kind == "CompositeImplicitAutograd":
        facts.append(("derivative", "that of the operators it is made of"))
    elif one.refuses:
        facts.append(("derivative", "not implemented: backward() refuses"))
    facts += [("in PyTorch", one.mirrors), ("differs", one.differs)]
    forms = forms_of(one.name)
    if forms:
        facts.append(("forms", ", ".join(forms)))
    keys = [key for key, _ in facts]
    width = max(map(len, keys)) + 2
    return one.schema + "\n" + indent("\n".join(f"{key:{width}}{value}" for key, value in facts), "  ")


def _parts(one: Whereabouts) -> Iterator[str]:
    """The operators that it is made of, each with the place where it is computed."""
    for name in one.calls:
        operators = overloads_of(f"aten::{name}")
        places = dict.fromkeys(shown(place) for operator in operators for _, place in whereabouts(operator).kernels[:1])
        yield f"{name}: {', '.join(list(places)[:1])}"


def shown(place: str) -> str:
    """A place as a path from the current folder on, if it lies below it."""
    path = str(LIBRARY / place)
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _python_function(name: str) -> str | None:
    """Where a function or class that is not an operator is written."""
    value: Any = glasstorch
    for part in name.removeprefix("torch.").split("."):
        value = getattr(value, part, None)
    try:
        file, (_, line) = inspect.getsourcefile(value), inspect.getsourcelines(value)
    except (TypeError, OSError):
        return None
    return None if file is None else shown(f"{Path(file).resolve()}:{line}")

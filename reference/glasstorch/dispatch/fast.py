"""How does a fast kernel stand in front of the plain one?

Mirrors: aten/src/ATen/native/DispatchStub.h (DECLARE_DISPATCH, REGISTER_DISPATCH) and DispatchStub.cpp
    (compute_cpu_capability: with ATEN_CPU_CAPABILITY=default, PyTorch runs its kernels without wider vectors)
Differs: PyTorch compiles one source for several processors. Here the fast form is a function of its own, which says by
    how much its results may differ from the plain one's.

# Note [Plain and fast]
A plain kernel is the shortest NumPy that is exact enough to define the answer. Where it is too slow, a fast function
stands in front of it: it tests whether its case applies, and calls the plain one where it does not. Nothing is wrapped
around either, because a wrapper that asks first costs more than the question (128 against 51 ns).

An operator keeps both kernels, and its table calls the fast one. A helper that several kernels need, and that has a
fast form too, is a `Slot`: kernels call `slot.run`, which is the plain function until a fast one is installed.

`FAST` lists every fast function, with what it stands in front of, when it applies, the row of benchmarks/ that shows
what it saves, and how exact it is. With GLASSTORCH_PLAIN=1 in the environment none is loaded, nor are autograd's
shortcuts, and every result is the plain kernels'.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, ParamSpec, TypeVar

from glasstorch.core.errors import RegistrationError
from glasstorch.dispatch.library import KernelTable, place

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

VARIABLE: Final = "GLASSTORCH_PLAIN"

Exactness = Literal["bits"] | float  # equal to the plain one's bits, or units in the last place against float64


def is_plain(text: str) -> bool:
    """What the environment variable asks for: plain kernels alone, or the fast ones too."""
    if text not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE}={text!r}: expected 1 (plain kernels alone) or 0 (fast kernels too, the default)")
    return text == "1"


PLAIN: Final = is_plain(os.environ.get(VARIABLE, ""))  # read once


class Slot(Generic[P, R]):
    """A helper of kernels that has a plain form, and perhaps a fast one; `run` is the one in use."""

    def __init__(self, plain: Callable[P, R]) -> None:
        self.__doc__, self.__wrapped__ = plain.__doc__, plain  # tools find the source by the latter
        self.plain = plain
        self.run = plain
        self.name = name_of(plain)
        SLOTS[self.name] = self

    def __repr__(self) -> str:
        return f"<slot {self.name}, which runs {name_of(self.run)}>"


def slot(plain: Callable[P, R]) -> Slot[P, R]:
    """A decorator: kernels call the function below as `name.run(...)`, and a fast one may replace it there."""
    return Slot(plain)


@dataclass(frozen=True, slots=True)
class Fast:
    """A fast function: what it stands in front of, when it applies, where it is measured, how exact it is."""

    function: Callable[..., Any]
    plain: Callable[..., Any]
    over: str  # the name of an operator, with its namespace, or of a slot
    when: str
    benchmark: str  # the name of a row of benchmarks/
    exact: Exactness

    @property
    def name(self) -> str:
        return name_of(self.function)

    @property
    def exactness(self) -> str:
        """By how much its results may differ from the plain one's, in words."""
        return "equal to the bit" if self.exact == "bits" else f"within {self.exact:g} units in the last place"

    @property
    def where(self) -> str:
        code = self.function.__code__
        return place(code.co_filename, code.co_firstlineno)


SLOTS: Final[dict[str, Slot[..., Any]]] = {}
FAST: Final[list[Fast]] = []

CPU = KernelTable("CPU")


def fast(*over: str | Slot[..., Any], when: str, benchmark: str, exact: Exactness) -> Callable[[F], F]:
    """A decorator: the function below runs in front of the plain kernel of operators, or of a slot's plain function.

    `over` are operators of the namespace aten, such as "add.Tensor" or "add_.Tensor", whose CPU kernels are meant, or
    slots. The function takes what the plain one takes, tests its own condition, and calls the plain one where that does
    not hold. `when` says the condition in words. `exact` is "bits" where all results are the plain one's to the bit,
    else the largest error in units in the last place against a computation in float64.
    """

    def decorate(function: F) -> F:
        for one in over:
            install(one, function, when, benchmark, exact)
        return function

    return decorate


def install(
    over: str | Slot[..., Any], function: Callable[..., Any], when: str, benchmark: str, exact: Exactness
) -> None:
    """What the decorator `fast` does, for a function that a maker returns."""
    if isinstance(over, Slot):
        if over.run is not over.plain:
            raise RegistrationError(
                f"{over.name} already runs {name_of(over.run)}; refused {name_of(function)}, which would replace it"
            )
        over.run = function
        FAST.append(Fast(function, over.plain, over.name, when, benchmark, exact))
    else:
        plain = CPU.add_fast(over, function)
        FAST.append(Fast(function, plain, f"aten::{over}", when, benchmark, exact))


def name_of(function: Callable[..., Any]) -> str:
    """A function's module below `kernels`, and its name, joined by dots: cpu.scans.accumulated."""
    module = function.__module__.removeprefix("glasstorch.").removeprefix("kernels.")
    return f"{module}.{function.__qualname__}"


def fast_over(operator: str) -> Fast | None:
    """The fast kernel in front of an operator's plain one, by the operator's full name."""
    return next((one for one in FAST if one.over == operator), None)

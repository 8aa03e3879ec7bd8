"""Which of its two forms of result does `nonzero` return?

Mirrors: tools/autograd/templates/python_torch_functions_manual.cpp (THPVariable_nonzero), python_variable_methods.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.calls.overloaded import UNASKED, ask
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.plain_types import SILENT
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The indices of all elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension.

    >>> import glasstorch as torch
    >>> x = torch.tensor([[0, 1], [2, 0]])
    >>> torch.nonzero(x)
    tensor([[0, 1],
            [1, 0]])
    >>> x[x.nonzero(as_tuple=True)]
    tensor([1, 2])
    """
    if not SILENT.issuperset((type(input), type(out))):
        options: dict[str, Any] = {"as_tuple": True} if as_tuple else {}
        answer = ask(nonzero, "torch.nonzero", (input,), (options if out is None else options | {"out": out}) or None)
        if answer is not UNASKED:
            return answer
    if type(as_tuple) is not bool:
        raise ArgumentTypeError(f"nonzero(): argument 'as_tuple' must be bool, not {type(as_tuple).__name__}")
    if not as_tuple:
        return functions.nonzero(input, out=out)
    if out is not None:
        raise ArgumentError("nonzero does not support the out kwarg when as_tuple is True")
    return functions.nonzero_numpy(input)


def method(self: Tensor, *, as_tuple: bool = False) -> Any:
    """See `nonzero`."""
    return nonzero(self, as_tuple=as_tuple)

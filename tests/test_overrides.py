"""Does each function that can be overridden in PyTorch ask here, about itself?"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import glasstorch

Require = Callable[[str], Any]


class Answers:
    """No tensor, but it answers for every call: with the function, and a mark."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "answered", func


def found(name: str) -> Any:
    """The function here that has a name of PyTorch's; None if there is none."""
    value: Any = glasstorch
    for part in name.removeprefix("torch.").split("."):
        value = getattr(value, part, None)
    return value if callable(value) else None


def arguments(override: Any) -> tuple[list[Any], dict[str, Any]]:
    """An answering object for each parameter that must be given, and one more where any number may be."""
    parameters = inspect.signature(override).parameters.values()
    needed = [p for p in parameters if p.default is p.empty]
    by_position = [p for p in needed if p.kind not in (p.VAR_KEYWORD, p.KEYWORD_ONLY)]
    return [Answers() for _ in by_position], {p.name: Answers() for p in needed if p.kind is p.KEYWORD_ONLY}


def those_that_do_not_ask(torch: Any) -> tuple[list[str], int]:
    """The names of the functions that do not ask about themselves, and how many were called."""
    silent, called = [], 0
    for function, override in torch.overrides.get_testing_overrides().items():
        name = torch.overrides.resolve_name(function)
        if name is None or name.startswith("torch.Tensor.") or (mine := found(name)) is None:
            continue
        called += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                args, kwargs = arguments(override)
                answer = mine(*args, **kwargs)
        except (TypeError, ValueError, RuntimeError, AttributeError) as error:
            answer = error
        if answer != ("answered", mine):
            silent.append(name)
    return sorted(silent), called


# Functions that do not ask when they are called so, each for a reason.
SILENT = {
    "torch.linalg.solve_triangular": "`upper` is given by position, which no form of the function allows",
    "torch.native_layer_norm": "three arguments are missing, and here a function counts them before its parser asks",
    "torch.sym_sum": "its argument is a list, whose elements it asks",
}


def test_each_function_asks_about_itself(require: Require) -> None:
    silent, called = those_that_do_not_ask(require("torch"))
    assert called > 600
    assert silent == sorted(SILENT)


class Logged(glasstorch.Tensor):
    """Tensors that answer for every call."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "answered", func


def members_that_do_not_ask(torch: Any) -> tuple[list[str], int]:
    """The methods and properties of Tensor that do not ask about themselves, and how many were called."""
    silent, called = [], 0
    x = glasstorch.ones(2).as_subclass(Logged)
    for function, override in torch.overrides.get_testing_overrides().items():
        name = torch.overrides.resolve_name(function) or ""
        _, _, member = name.partition("torch.Tensor.")
        member, _, access = member.partition(".")
        if not member or access == "__set__" or not hasattr(glasstorch.Tensor, member):
            continue
        called += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                args, kwargs = arguments(override)
                answer = getattr(x, member)
                answer = answer if access else answer(*args[1:], **kwargs)
        except (TypeError, ValueError, RuntimeError, AttributeError) as error:
            answer = error
        if not (isinstance(answer, tuple) and answer[0] == "answered"):
            silent.append(name)
    return sorted(silent), called


CONSTANTS = "is_ipu is_maia is_mkldnn is_mps is_mtia is_nested is_quantized is_vulkan is_xla is_xpu name"


def test_each_method_and_property_asks(require: Require) -> None:
    """But constants, of which no tensor here has another value."""
    silent, called = members_that_do_not_ask(require("torch"))
    assert called > 600
    constants = [name for name in CONSTANTS.split() if not isinstance(vars_of_tensor(name), property)]
    assert silent == sorted(f"torch.Tensor.{name}.__get__" for name in constants)


def vars_of_tensor(name: str) -> Any:
    """What stands under a name in a class of Tensor's."""
    return next(vars(kind)[name] for kind in glasstorch.Tensor.__mro__ if name in vars(kind))

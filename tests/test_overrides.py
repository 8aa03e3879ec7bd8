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


def test_each_method_and_property_asks(require: Require) -> None:
    silent, called = members_that_do_not_ask(require("torch"))
    assert called > 600
    assert silent == []


# What a mode is told, and when it is not ----------------------------------------------------------------------------


class Heard(BaseException):
    """A mode was asked: its first question ends the call."""


def questions(library: Any, function: Any) -> list[Any]:
    """For many kinds of arguments: the first question to a mode, or the class of the error of a call without one."""
    told: list[Any] = []

    class Listens(library.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise Heard(func.__name__, len(types), [type(arg).__name__ for arg in args], sorted(kwargs or {}))

    t = library.ones(2, 2)
    kinds = [(), (t,), (t, t), (t, t, t), (t, 0), (0, t), (t, 0, 1), (t, (0,)), ([t, t],), ([t, t], 0), (t, t, 0.5)]
    kinds += [(t, "i"), (t, "i", t), ("ij", t), (t, [2, 2]), (t, t, [2], [2]), (2, 3), ((2, 3),), (0.5,), (t, None)]
    kinds += [(t, object()), (t, t, t, t, t, t, t, t, t, t, t, t, t, t), (t, library.float32), ("a",), (t, [t, "a"])]
    for given in kinds:
        call = CALLS[len(given)]
        try:
            with warnings.catch_warnings(), Listens():
                warnings.simplefilter("ignore")
                call(function, given)
            told.append("answered")
        except Heard as heard:
            told.append(heard.args)
        except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
            told.append(type(error).__name__)
    return told


# Calls with so many arguments, each written out: a mode is told how they are written.
CALLS = [eval(f"lambda f, x: f({', '.join(f'x[{i}]' for i in range(n))})") for n in range(15)]


LOOSE = "several numbers in place of one, or of a list, are accepted here, which PyTorch accepts of methods only"
INDEX = "a tensor in place of the sizes is read first, as a number: the mode hears of that"
WRITTEN = "the options are told that the function's own code has filled in"
DIFFERENT = {
    **dict.fromkeys(
        ("torch.adaptive_max_pool1d", "torch.count_nonzero", "torch.dsplit", "torch.fft.fftshift", "torch.hsplit")
        + ("torch.fft.ifftshift", "torch.hash_tensor", "torch.nn.functional.adaptive_avg_pool1d", "torch.squeeze")
        + ("torch.squeeze_copy", "torch.std", "torch.std_mean", "torch.unbind", "torch.var", "torch.var_mean")
        + ("torch.vsplit",),
        LOOSE,
    ),
    **dict.fromkeys(("torch.broadcast_to", "torch.flip", "torch.permute", "torch.reshape", "torch.tile"), INDEX),
    **dict.fromkeys(("torch.expand_copy", "torch.permute_copy", "torch.view_copy"), f"{INDEX}; {WRITTEN}"),
    "torch.is_same_size": "a second argument that is no tensor is refused after the mode was asked",
    "torch.nonzero": "an argument that is no tensor is refused after the mode was asked",
    "torch.subtract": "`subtract(x, 0, 1)`, where a number is the old form of alpha, is refused here",
}


def test_a_mode_hears_of_a_function_what_it_hears_in_pytorch(require: Require) -> None:
    """Bad arguments are refused before it is asked, good ones are passed on as they are written."""
    torch = require("torch")
    functions = [(torch.overrides.resolve_name(f) or "", f) for f in torch.overrides.get_testing_overrides()]
    compared, different = 0, {}
    for name, theirs in functions:
        mine = found(name) if isinstance(theirs, type(torch.add)) and "torch.Tensor." not in name else None
        if mine is None:
            continue
        ours, right = questions(glasstorch, mine), questions(torch, theirs)
        wrong = [place for place, (x, y) in enumerate(zip(ours, right, strict=True)) if x != y]
        compared += len(ours)
        if wrong:
            different[name] = [(place, ours[place], right[place]) for place in wrong]
    assert compared > 10_000
    assert sorted(different) == sorted(DIFFERENT), different

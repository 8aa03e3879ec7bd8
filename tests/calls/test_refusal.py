"""Is a call that no overload accepts refused in PyTorch's words?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest

import glasstorch
from glasstorch.operators.generated import functions

Require = Callable[[str], Any]
Given = tuple[tuple[Any, ...], dict[str, Any]]

PLACES = ("", "Tensor", "linalg", "fft", "special", "nn.functional")
TAKES_ALL = 0x04 | 0x08  # the flags of `*args` and `**kwargs` in a code object


class Thing:
    """Something that no operator takes."""


THING = Thing()


def wrong_calls(lib: Any) -> dict[str, Given]:
    """Calls of any function that are mostly wrong: types, too many, too few, unknown names."""
    x = lib.ones(2, 3)
    positional: list[tuple[Any, ...]] = [
        (), ("a",), (x, "a"), (x, THING), (x,) * 9, (x, 1.5, "b"), (x, x, "b"), (x, 1, THING), (x, ["a"]), (x, None),
        (x, [x, 1]), (THING,), (x, 0, 0, 0, 0, 0, 0, 0), (x, 1j),
    ]  # fmt: skip
    named: list[Given] = [
        ((x,), {"unknown": 1}), ((), {"unknown": 1}), ((x, x), {"unknown": 2}), ((x,), {"out": 1}),
        ((x,), {"dtype": "float"}),
    ]  # fmt: skip
    return {str(i): call for i, call in enumerate([*((args, {}) for args in positional), *named])}


def functions_that_parse() -> Iterator[tuple[str, str]]:
    """The generated functions and methods whose every call reaches the parser, whatever the arguments."""
    for place in PLACES:
        here = _at(glasstorch, place)
        for name in dir(here):
            function = getattr(here, name, None)
            if name.startswith("_") or not isinstance(function, FunctionType):
                continue
            code = function.__code__
            if code.co_flags & TAKES_ALL == TAKES_ALL and code.co_filename == functions.__file__:
                yield place, name


def _at(lib: Any, place: str) -> Any:
    for part in filter(None, place.split(".")):
        lib = getattr(lib, part)
    return lib


def refusal_of(lib: Any, place: str, name: str, given: Given) -> tuple[str, str] | None:
    """The class and the words of an error; None for a call that is accepted."""
    args, kwargs = given
    if place == "Tensor":
        given_alone = not args or not isinstance(args[0], lib.Tensor)
        function, args = getattr(lib.Tensor, name), (lib.ones(2, 3), *args) if given_alone else args
    else:
        function = getattr(_at(lib, place), name)
    try:
        function(*args, **kwargs)
    except (TypeError, RuntimeError, NotImplementedError, ValueError, IndexError, AttributeError) as error:
        return type(error).__name__, str(error)
    return None


# Functions that refuse some calls in other words, and why.
HERE_A_TENSOR_IS_MADE = "a number is made a tensor, so that there is no overload for numbers to show"
NO_OTHER_OVERLOAD = "PyTorch has overloads that are not here"
PYTHON_REFUSES = "a required parameter is missing, which Python says before the parser is asked"
DIMS_ARE_CHECKED = "the first overload takes the ints for dims or sizes, and says what is wrong with them"
NOT_IN_ORDER = "PyTorch has a deprecated order of arguments that is not here"
BY_LIST = "PyTorch refuses an element of a list before it tries another overload"
OTHER_WORDS = {
    HERE_A_TENSOR_IS_MADE: ("div div_ divide divide_ floor_divide multiply subtract true_divide"),
    NO_OTHER_OVERLOAD: "addmm baddbmm bmm mm dsmm spmm set_",
    PYTHON_REFUSES: (
        "cat concat concatenate stack polygamma solve_triangular nonzero_static pairwise_distance vecdot searchsorted"
    ),
    DIMS_ARE_CHECKED: (
        "adaptive_avg_pool1d adaptive_max_pool1d count_nonzero dsplit hsplit vsplit squeeze squeeze_copy std std_mean "
        "var var_mean hash_tensor fftshift ifftshift repeat_interleave"
    ),
    NOT_IN_ORDER: "sspaddmm saddmm",
    BY_LIST: "lstm histogramdd index_put squeeze_ view",
}


@pytest.mark.filterwarnings("ignore")
def test_functions_of_the_parser_refuse_wrong_calls_in_pytorchs_words(require: Require) -> None:
    torch = require("torch")
    theirs, ours = wrong_calls(torch), wrong_calls(glasstorch)
    compared, different = 0, set()
    names = list(functions_that_parse())
    assert len({name for _, name in names}) > 400
    for place, name in names:
        if type(getattr(_at(torch, place), name, None)).__name__ not in (
            "builtin_function_or_method",
            "method_descriptor",
        ):
            continue
        for call in ours:
            wanted = refusal_of(torch, place, name, theirs[call])
            if wanted is None or wanted[0] != "TypeError":
                continue
            compared += 1
            if refusal_of(glasstorch, place, name, ours[call]) != wanted:
                different.add(name)
    assert compared > 12_000
    assert different == set(" ".join(OTHER_WORDS.values()).split())


def test_what_is_wrong_with_the_only_overload_is_said() -> None:
    x = glasstorch.ones(2, 3)
    said = {
        "abs() takes 1 positional argument but 2 were given": lambda: glasstorch.abs(x, 1),
        "cumsum() takes 1 positional argument but 2 were given": lambda: x.cumsum(0, 1),
        'gather() missing 2 required positional argument: "dim", "index"': lambda: glasstorch.gather(x),
        "TensorBase.acos() takes no keyword arguments": lambda: x.acos(y=1),
        "exp() got an unexpected keyword argument 'y'": lambda: glasstorch.exp(x, y=1),
        "sum() got multiple values for argument 'dim'": lambda: x.sum(0, dim=1),
    }
    for words, call in said.items():
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value).startswith(words.partition("multiple")[0])


def test_an_argument_that_was_given_by_name_is_told_without_a_position(require: Require) -> None:
    def refused(lib: Any) -> list[str]:
        x = lib.ones(2, 3)
        words = []
        for call in (
            lambda: lib.add(x, other=[1]),
            lambda: lib.cumsum(x, dim="q"),
            lambda: x.cumsum(dim="q"),
            lambda: x.index_select(0, index="a"),
            lambda: lib.index_select(x, dim=0, index="a"),
            lambda: x.gather("a", x),
        ):
            with pytest.raises(TypeError) as error:
                call()
            words.append(str(error.value))
        return words

    assert refused(glasstorch) == refused(require("torch"))
    assert refused(glasstorch)[1] == "cumsum(): argument 'dim' must be int, not str"


def test_arguments_of_other_types_are_marked() -> None:
    with pytest.raises(TypeError) as error:
        glasstorch.ones(2).fill_((1, "a"))
    assert str(error.value) == (
        "fill_() received an invalid combination of arguments - got (tuple), but expected one of:\n"
        " * (Tensor value)\n"
        "      didn't match because some of the arguments have invalid types: (!tuple of (int, str)!)\n"
        " * (Number value)\n"
        "      didn't match because some of the arguments have invalid types: (!tuple of (int, str)!)\n"
    )

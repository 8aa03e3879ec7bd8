"""Is each difference between results on fake and on real tensors found, and told in PyTorch's words?"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

_numbers = itertools.count()


def a_fake_kernel(shown: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A program that calls an operator under CrossRefFakeMode; its fake kernel returns what a function gives."""

    def program(library: Any) -> Any:
        return compared(library, lambda x: x * 2, lambda x: shown(library, x))

    return program


def compared(library: Any, function: Callable[[Any], Any], fake: Callable[[Any], Any], **options: Any) -> Any:
    """What the mode says of an operator that a function computes."""

    def kernel(x: Any) -> Any:
        return function(x)

    kernel.__annotations__ = {"x": library.Tensor, "return": library.Tensor}
    made = library.library.custom_op(f"fakes_{next(_numbers)}::f", kernel, mutates_args=())
    made.register_fake(fake)
    utils = importlib.import_module(f"{library.__name__}._subclasses.fake_utils")
    with utils.CrossRefFakeMode(**options):
        return made(library.ones(3, 2))


def without_a_fake_kernel(library: Any) -> Any:
    with library.library._scoped_library(f"fakes_{next(_numbers)}", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x * 2, "CPU")
        utils = importlib.import_module(f"{library.__name__}._subclasses.fake_utils")
        with utils.CrossRefFakeMode(only_check_ops_with_meta=False):
            return getattr(library.ops, lib.ns).f.default(library.ones(2))


def under_the_mode(library: Any) -> Any:
    """A fake kernel sees fake tensors, and what it makes is fake."""
    made = library.library.custom_op(f"fakes_{next(_numbers)}::f", annotated(library, lambda x: x * 2), mutates_args=())
    made.register_fake(lambda x: library.empty(x.shape[0], 5))
    mode = importlib.import_module(f"{library.__name__}._subclasses.fake_tensor").FakeTensorMode
    with mode():
        result = made(library.ones(3))
        return type(result).__name__, result, result.device


def annotated(library: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    function.__annotations__ = {"x": library.Tensor, "return": library.Tensor}
    return function


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "the same": a_fake_kernel(lambda t, x: t.empty_like(x)),
    "another shape": a_fake_kernel(lambda t, x: x.new_empty(4)),
    "another dtype": a_fake_kernel(lambda t, x: t.empty_like(x, dtype=t.float64)),
    "another device": a_fake_kernel(lambda t, x: t.empty_like(x, device="meta")),
    "a device that is not here": a_fake_kernel(lambda t, x: t.empty(3, 2, device="cuda")),
    "other strides": a_fake_kernel(lambda t, x: t.empty(2, 3).t()),
    "another offset": a_fake_kernel(lambda t, x: t.empty(4, 2)[1:]),
    "an error": a_fake_kernel(lambda t, x: 1 / 0),
    "an alias": lambda t: compared(t, lambda x: x * 2, lambda x: x.view(3, 2)),
    "strides that do not count": lambda t: compared(
        t, lambda x: x * 2, lambda x: t.empty(2, 3).t(), check_strides=False
    ),
    "an operator that is ignored": lambda t: compared(
        t, lambda x: x * 2, lambda x: x.new_empty(4), ignore_op_fn=lambda func: True
    ),
    "no fake kernel": without_a_fake_kernel,
    "a kernel under the mode": under_the_mode,
}


def said(program: Callable[[Any], Any], library: Any) -> str:
    """What a program returns or raises, without the number in the operator's name."""
    try:
        text = str(program(library))
    except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
        text = f"{type(error).__name__}: {error}"
    return "fakes_N".join(part.lstrip("0123456789") if i else part for i, part in enumerate(text.split("fakes_")))


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_what_is_said_is_what_pytorch_says(require: Callable[[str], Any], program: Callable[[Any], Any]) -> None:
    torch = require("torch")
    ours, theirs = said(program, glasstorch), said(program, torch)
    assert ours.replace("glasstorch", "torch") == theirs

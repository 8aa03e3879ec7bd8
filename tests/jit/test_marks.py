"""Are the marks for the compiler of TorchScript kept, and do they change nothing?"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

MARKS: dict[str, Any] = {
    "unused": lambda jit: jit.unused,
    "ignore": lambda jit: jit.ignore,
    "ignore()": lambda jit: jit.ignore(),
    "ignore(drop=True)": lambda jit: jit.ignore(drop=True),
    "export": lambda jit: jit.export,
}


def marked(torch: Any, name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that TorchScript is deprecated

        @MARKS[name](torch.jit)
        def double(x: Any) -> Any:
            return x * 2

    return double


@pytest.mark.parametrize("name", MARKS)
def test_a_marked_function_does_what_it_did(torch: Any, name: str) -> None:
    assert marked(torch, name)(torch.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize("name", MARKS)
def test_the_mark_is_that_of_torch(name: str) -> None:
    import glasstorch

    oracle = pytest.importorskip("torch")
    ours, theirs = (marked(library, name)._torchscript_modifier for library in (glasstorch, oracle))
    assert ours == theirs


def test_a_property_may_be_unused(torch: Any) -> None:
    class Holder:
        @torch.jit.unused
        @property
        def value(self) -> int:
            return 7

    assert Holder().value == 7
    assert Holder.value.fget._torchscript_modifier.startswith("unused")


def test_nothing_is_compiled(torch: Any) -> None:
    from typing import Final

    assert torch.jit.is_scripting() is False
    assert torch.jit.annotate(list[int], [1]) == [1]
    assert torch.jit.Final is Final


def test_ignore_takes_no_number(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="must be a bool or a function but got 3"):
        torch.jit.ignore(drop=3)


def test_the_compiler_itself_is_missing_by_name() -> None:
    import glasstorch

    with pytest.raises(AttributeError, match=r"PyTorch 2.13 has torch\.jit\.script, glasstorch does not"):
        _ = glasstorch.jit.script

"""Do the marks for a compiler of Python source leave programs as they are?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import glasstorch


def test_a_marked_function_is_the_function(torch: Any) -> None:
    jit = import_module(f"{torch.__name__}.jit")

    class Model(torch.nn.Module):
        scale: jit.Final[int]

        def __init__(self) -> None:
            super().__init__()
            self.scale = 2

        def forward(self, x: Any) -> Any:
            return self.checked(x) if not jit.is_scripting() else x

        @jit.unused
        def checked(self, x: Any) -> Any:
            return jit.annotate(int, self.scale) * x

        @jit.ignore
        def logged(self, x: Any) -> Any:
            return x

        @jit.export
        def other(self, x: Any) -> Any:
            return x

        @jit.unused
        @property
        def twice(self) -> int:
            return 2 * self.scale

    model = Model()
    assert model(3) == 6
    assert (model.logged(1), model.other(3), model.twice) == (1, 3, 4)
    with pytest.warns(FutureWarning, match=r"ignore\(True\) has been deprecated"):
        assert jit.ignore(drop=True)(lambda x: x)(2) == 2
    assert jit.is_scripting() is False


def test_a_mark_that_is_none_is_refused(torch: Any) -> None:
    jit = import_module(f"{torch.__name__}.jit")
    with pytest.raises(RuntimeError, match="must be a bool"):
        jit.ignore(drop="yes")


def test_the_compiler_itself_is_missing_by_name() -> None:
    with pytest.raises(AttributeError, match=r"PyTorch 2.13 has torch\.jit\.script, glasstorch does not"):
        _ = glasstorch.jit.script

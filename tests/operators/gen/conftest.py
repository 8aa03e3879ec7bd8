"""What the generator's tests share: declaration files of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from glasstorch.operators.gen.model import NativeFunction, load_derivatives, load_functions

ADD = """
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method
  shape: pointwise.binary_alpha
  doc: "Adds."
"""


@pytest.fixture
def functions(tmp_path: Path) -> Callable[[str], list[NativeFunction]]:
    """Reads the text of a native_functions.yaml."""

    def read(text: str) -> list[NativeFunction]:
        path = tmp_path / "native_functions.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return load_functions(path)

    return read


@pytest.fixture
def derivatives(tmp_path: Path, functions: Callable[[str], list[NativeFunction]]) -> Callable[..., object]:
    """Reads the text of a derivatives.yaml, for the operator `add.Tensor` unless others are declared."""

    def read(text: str, declared: str = ADD) -> object:
        path = tmp_path / "derivatives.yaml"
        path.write_text(dedent(text), encoding="utf-8")
        return load_derivatives(functions(declared), path)

    return read

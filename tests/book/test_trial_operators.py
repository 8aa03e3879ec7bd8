"""Does a section get what the generator really makes of its rows, and the library back as it was?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch as torch
from glasstorch.dispatch.operator import registry
from workbook.book.trial_operators import generated_kernels, generated_lines, on_trial, refusal_of, schemas_of

DECLARATION = """
- func: cubed(Tensor self) -> Tensor
  variants: function, method
  autogen: cubed_, cubed.out
  shape: pointwise.unary_float
  doc: "The cube of each element."
"""
DERIVATIVE = """
- op: cubed
  self: grad * (3 * self * self)
"""


def test_a_row_declares_its_forms() -> None:
    assert schemas_of(DECLARATION) == [
        "cubed(Tensor self) -> Tensor",
        "cubed_(Tensor(a!) self) -> Tensor(a!)",
        "cubed.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ]


def test_the_lines_for_two_rows_are_those_that_are_new() -> None:
    added = generated_lines(DECLARATION, DERIVATIVE)
    assert "operators/generated/methods.py" in added
    lines = [line for file in added.values() for line in file]
    assert len(lines) > 50
    assert any("class CubedBackward0(Node):" in line for line in lines)
    assert all("tanh" not in line for line in lines), "what was there before is not new"


def test_the_kernel_of_two_rows_runs_until_the_block_ends() -> None:
    def on_cpu(self: Any) -> Any:
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return torch.from_numpy(self.detach().numpy() ** 3)

    text, in_place = generated_kernels(DECLARATION, DERIVATIVE)
    assert "cubed_" in in_place
    x = torch.tensor([2.0], requires_grad=True)
    with on_trial("cubed(Tensor self) -> Tensor", on_cpu, text) as cubed:
        result = cubed(x)
        result.backward()
    assert result.tolist() == [8]
    assert x.grad.tolist() == [12]
    with pytest.raises(RuntimeError, match="there is no operator"):
        registry.find("aten::cubed")


@pytest.mark.parametrize(
    ("declaration", "derivative", "says"),
    [
        (DECLARATION, DERIVATIVE, ""),
        (DECLARATION.replace("Tensor self", "Tensr self"), DERIVATIVE, "Tensr"),
        (DECLARATION, DERIVATIVE.replace("self * self", "x * x"), "x"),
    ],
)
def test_a_refusal_is_told_in_one_line(declaration: str, derivative: str, says: str) -> None:
    said = refusal_of(declaration, derivative)
    assert bool(said) == bool(says)
    assert says in said
    assert len(said) <= 78
    assert "\n" not in said

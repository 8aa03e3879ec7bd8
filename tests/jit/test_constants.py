"""Which values are known before the run?"""

from __future__ import annotations

from glasstorch.jit.constants import UNKNOWN, known
from glasstorch.jit.parser import parse_ir

TEXT = """
graph(%x : Tensor, %n : int):
  %a : int = prim::Constant[value=2]()
  %b : NoneType = prim::Constant()
  %c : int[] = prim::ListConstruct(%a, %a)
  %d : (int, NoneType) = prim::TupleConstruct(%a, %b)
  %e : int[] = prim::ListConstruct(%a, %n)
  %f : Tensor = aten::neg(%x)
  return (%f)
"""


def test_constants_and_what_is_built_of_them_are_known() -> None:
    value = parse_ir(TEXT).names
    assert known(value["a"]) == 2
    assert known(value["b"]) is None
    assert known(value["c"]) == [2, 2]
    assert known(value["d"]) == (2, None)


def test_inputs_and_results_are_not() -> None:
    value = parse_ir(TEXT).names
    assert all(known(value[name]) is UNKNOWN for name in "xnef")
    assert repr(UNKNOWN) == "UNKNOWN"

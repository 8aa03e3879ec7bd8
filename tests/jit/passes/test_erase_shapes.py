"""Does a graph forget what it knows of its tensors, and nothing else?"""

from __future__ import annotations

from glasstorch.jit.parser import parse_ir
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from tests.jit.passes.texts import FLOAT

TEXT = f"""\
graph(%x : {FLOAT},
      %c : bool):
  %l : {FLOAT}[] = prim::ListConstruct(%x)
  %r : {FLOAT} = prim::If(%c)
    block0():
      %y : {FLOAT} = aten::neg(%x)
      -> (%y)
    block1():
      -> (%x)
  return (%r)
"""


def test_every_tensor_type_becomes_plain() -> None:
    graph = parse_ir(TEXT)
    assert str(graph) == TEXT
    assert erase_shape_information(graph)
    assert str(graph) == TEXT.replace(FLOAT, "Tensor")
    assert not erase_shape_information(graph)


def test_types_inside_blocks_alone_are_a_change() -> None:
    plain = TEXT.replace(FLOAT, "Tensor")
    assert erase_shape_information(parse_ir(plain.replace("%y : Tensor", f"%y : {FLOAT}")))

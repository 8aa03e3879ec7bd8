"""Which operators undo each other, or are one?

Mirrors: torch/_inductor/fx_passes/joint_graph.py (pointless_convert, pointless_permute_pair),
    torch/_inductor/fx_passes/post_grad.py (addmm, cat_slice_cat, remove_noop_ops)
Differs: a value is read in another's place only where dtype, sizes and strides are the same, and the caller does not
    get it. Adding 0 is left: it makes -0.0 into 0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.loops.pointwise import is_pointwise
from glasstorch.compiler.patterns.matcher import Arg, Either, Match, Op
from glasstorch.compiler.patterns.rewriting import Pattern, Refused, value_of
from glasstorch.compiler.patterns.traced_operators import call, geometry, read, stand_for
from glasstorch.core.dtype import bfloat16, bool_, dtype, float16, float32, float64, int32, int64, uint8
from glasstorch.core.layout import contiguous_format
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node

# The dtypes that hold each value of a dtype, so that going there and back changes nothing.
WIDER: Final[dict[dtype, tuple[dtype, ...]]] = {
    bool_: (uint8, int32, int64, float32, float64),
    uint8: (int32, int64, float32, float64),
    int32: (int64, float64),
    float16: (float32, float64),
    bfloat16: (float32, float64),
    float32: (float64,),
}


def _source(match: Match, graph: Graph) -> Node:
    return stand_for(match, match["x"])


def _cast(match: Match, graph: Graph) -> Node:
    if value_of(match["x"]).dtype is not match["of"]:
        raise Refused("it changes the dtype")
    return stand_for(match, match["x"])


def _there_and_back(match: Match, graph: Graph) -> Node:
    before = value_of(match["x"]).dtype
    if match["to"] is not before or match["by"] not in WIDER.get(before, ()):
        raise Refused(f"{match['by']} does not hold all of {before}")
    return stand_for(match, match["x"])


def _swapped_twice(match: Match, graph: Graph) -> Node:
    rank = value_of(match["x"]).dim()
    one, other = ({match[a] % rank, match[b] % rank} for a, b in (("a", "b"), ("c", "d")))
    if one != other:
        raise Refused("other dimensions are swapped")
    return stand_for(match, match["x"])


def _permuted_twice(match: Match, graph: Graph) -> Node:
    rank = value_of(match["x"]).dim()
    first, second = ([dim % rank for dim in match[name]] for name in ("first", "second"))
    if [first[dim] for dim in second] != list(range(rank)):
        raise Refused("the dimensions are in another order")
    return stand_for(match, match["x"])


def _addmm(match: Match, graph: Graph) -> Node:
    """Only where no loop reads the sum: such a loop adds while it reads, at no cost."""
    added = match["added"]
    like = value_of(added) if isinstance(added, Node) else None
    result = value_of(match.anchor)
    geometry(match.anchor)
    if not isinstance(like, Tensor) or like.dtype is not result.dtype or not like.is_floating_point():
        raise Refused("what is added is no tensor of the same dtype")
    if like.dim() > 2 or any(
        a not in (1, b) for a, b in zip(reversed(like.shape), reversed(result.shape), strict=False)
    ):
        raise Refused("what is added is larger than the product")
    if _readers(match.anchor):
        raise Refused("a loop reads the sum, and can add")
    return call(graph, "addmm", added, match["one"], match["other"])


def _readers(node: Node) -> list[Node]:
    """The nodes that read a value in a loop of their own, element by element."""
    operations = [(user, read(user)) for user in node.users]
    return [user for user, one in operations if one is not None and is_pointwise(one.word)]


def _bias_later(match: Match, graph: Graph) -> Node:
    """A product whose bias the loop adds that reads it: the library's kernel would pass over the product once more."""
    if not _readers(match.anchor):
        raise Refused("no loop reads the sum")
    _refuse_halves(match, match["added"])
    return call(graph, "add.Tensor", call(graph, "mm", match["one"], match["other"]), match["added"])


def _bias_of_convolution_later(match: Match, graph: Graph) -> Node:
    bias, sizes = match["bias"], geometry(match.anchor)[0]
    if not isinstance(bias, Node):
        raise Refused("it has no bias")
    if not _readers(match.anchor):
        raise Refused("no loop reads the sum")
    _refuse_halves(match, bias)
    rest = [match[one.name] for one in OF_CONVOLUTION]
    made = call(graph, "convolution", match["x"], match["weight"], None, *rest)
    column = call(graph, "view", bias, [-1] + [1] * (len(sizes) - 2))
    return call(graph, "add.Tensor", made, column)


def _refuse_halves(match: Match, added: Any) -> None:
    """Refuse where a product of half precision would be rounded before the bias is added, and where dtypes differ."""
    like = value_of(added) if isinstance(added, Node) else None
    if (
        not isinstance(like, Tensor)
        or like.dtype not in (float32, float64)
        or geometry(match.anchor)[2] is not like.dtype
    ):
        raise Refused("the sum would be rounded twice")


def _joined_slices(match: Match, graph: Graph) -> Node:
    parts, dim = match["parts"], match["dim"]
    if not isinstance(parts, list | tuple) or len(parts) < 2 or not all(isinstance(part, Node) for part in parts):
        raise Refused("there are no parts")
    rank = len(geometry(match.anchor)[0])
    pieces = [_piece(part, dim % rank, rank) for part in parts]
    source = pieces[0][0]
    if any(piece[0] is not source for piece in pieces):
        raise Refused("the parts are of several tensors")
    if any(one[2] != other[1] for one, other in pairwise(pieces)):
        raise Refused("between the parts something is missing")
    size = value_of(source).shape[dim % rank]
    start, end = pieces[0][1], pieces[-1][2]
    whole = source if (start, end) == (0, size) else call(graph, "slice.Tensor", source, dim % rank, start, end)
    return call(graph, "clone", whole, memory_format=contiguous_format)


def _piece(part: Node, dim: int, rank: int) -> tuple[Node, int, int]:
    """Of what a part is a slice, where it begins and where it ends."""
    operation = read(part)
    if operation is None:
        raise Refused("a part is no slice")
    if operation.word == "slice.Tensor":
        source, along, start, end, step = operation.operands
        if along % rank != dim or step != 1:
            raise Refused("a part is a slice of another dimension, or has gaps")
        size = value_of(source).shape[dim]
        first, last = _within(0 if start is None else start, size), _within(size if end is None else end, size)
        return source, first, max(first, last)
    if operation.word == "getitem" and isinstance(operation.operands[0], Node):
        split, place = operation.operands
        inner = read(split)
        if inner is not None and inner.word in ("split.Tensor", "split_with_sizes") and inner.operands[2] % rank == dim:
            sizes = [one.shape[dim] for one in value_of(split)]
            return inner.operands[0], sum(sizes[:place]), sum(sizes[: place + 1])
    raise Refused("a part is no slice")


def _within(place: int, size: int) -> int:
    return min(max(place + size if place < 0 else place, 0), size)


X: Final = Arg("x")
REST: Final = tuple(Arg(name) for name in ("layout", "device", "pin", "blocking", "format"))
MORE: Final = tuple(Arg(f"{one.name} too") for one in REST)
PRODUCT: Final = Op("mm", Arg("one"), Arg("other"))

OF_CONVOLUTION: Final = tuple(
    Arg(name) for name in ("stride", "padding", "dilation", "transposed", "output padding", "groups")
)
TIMES: Final = ("mul.Tensor", "mul.Scalar")
THROUGH: Final = ("div.Tensor", "div.Scalar")
LESS: Final = ("sub.Tensor", "sub.Scalar")
WIDENED: Final = Op("_to_copy", X, Arg("by"), *REST)
SWAPPED: Final = Op("transpose.int", X, Arg("a"), Arg("b"))


def _undone(name: str, pattern: Any, replace: Callable[[Match, Graph], Node] = _source) -> Pattern:
    """A pattern whose inside others may need."""
    return Pattern(name, pattern, replace, alone=False)


PATTERNS: Final[Sequence[Pattern]] = (
    _undone("cast there and back", Op("_to_copy", WIDENED, Arg("to"), *MORE), _there_and_back),
    _undone("cast to the same", Op("_to_copy", X, Arg("of"), *REST), _cast),
    _undone("swapped twice", Op("transpose.int", SWAPPED, Arg("c"), Arg("d")), _swapped_twice),
    _undone("swapped twice", Op("t", Op("t", X))),
    _undone("permuted twice", Op("permute", Op("permute", X, Arg("first")), Arg("second")), _permuted_twice),
    _undone("times 1", Either(Op(TIMES, X, 1), Op(TIMES, X, 1.0))),
    _undone("through 1", Either(Op(THROUGH, X, 1), Op(THROUGH, X, 1.0))),
    _undone("minus 0", Either(Op(LESS, X, 0, 1), Op(LESS, X, 0.0, 1))),
    Pattern("product and sum", Op("add.Tensor", PRODUCT, Arg("added"), 1), _addmm, "addmm"),
    Pattern("product and sum", Op("add.Tensor", Arg("added"), PRODUCT, 1), _addmm, "addmm"),
    Pattern("bias in a loop", Op("addmm", Arg("added"), Arg("one"), Arg("other"), 1, 1), _bias_later),
    Pattern(
        "bias in a loop",
        Op("convolution", X, Arg("weight"), Arg("bias"), *OF_CONVOLUTION),
        _bias_of_convolution_later,
    ),
    _undone("joined slices", Op("cat", Arg("parts"), Arg("dim")), _joined_slices),
)

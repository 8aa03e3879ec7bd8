"""Which products, with a softmax between them, are scaled dot product attention?

Mirrors: torch/_inductor/fx_passes/fuse_attention.py
Differs: one pattern stands for all of PyTorch's twenty-four, with the parts that may be missing marked. It is looked
    for in the captured program, before autograd, so that its gradients are those of the operator. A row of which a mask
    hides everything stays NaN, as in the program; in PyTorch's replacement it becomes 0. What such a row makes of the
    gradient of `value` is 0, where the program has NaN.

# Note [What a mask may be]
A number that is added to the scores may be any. Scores that are replaced must be replaced by -inf: with -1e9, a row
that is hidden altogether has an answer, which a mask that is added would not give. A mask that depends on no input is
computed now: it may show everything up to the diagonal, which the operator knows by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.compiler.patterns.captured_calls import is_plain, refuse_others_between
from glasstorch.compiler.patterns.matcher import Arg, Either, Match, Op
from glasstorch.compiler.patterns.rewriting import Pattern, Refused, value_of
from glasstorch.fx._names import at
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node, map_arg

MOST: Final = 1 << 22  # elements of a mask that is looked at

SCORES: Final = Op("matmul", Arg("query"), Arg("key"), Arg("rows"))
SCALED: Final = Either(Op("scale", SCORES, Arg("scale")), SCORES)
MASKED: Final = Either(
    Op("add", SCALED, Arg("added")),
    Op("add", Arg("added"), SCALED),
    Op("masked_fill", SCALED, Arg("hidden"), -math.inf),
    Op("where", Arg("shown"), SCALED, -math.inf),
    SCALED,
)
WEIGHTS: Final = Op("softmax", MASKED, -1)
LEFT: Final = Either(Op("dropout", WEIGHTS, Arg("dropped")), WEIGHTS)
ATTENTION: Final = Op("matmul", LEFT, Arg("value"), False)


def _replace(match: Match, graph: Graph) -> Node:
    query, key, value = (match[name] for name in ("query", "key", "value"))
    heads = _check(match)
    mask, hides = _mask(match)
    attention = at("").nn.functional.scaled_dot_product_attention
    if not match["rows"]:  # what is multiplied with has the keys as its columns
        key = graph.call_method("transpose", (key, -2, -1))
    if heads == 3:
        query, key, value = (graph.call_method("unsqueeze", (one, -3)) for one in (query, key, value))
    named: dict[str, Any] = {"scale": match.get("scale") if "scale" in match.values else 1.0}
    if match.get("dropped"):
        named["dropout_p"] = match["dropped"]
    dead = None
    if hides == "causal":
        named["is_causal"] = True
    elif mask is not None:
        mask, dead = _built(match, graph, mask, hides)
        if heads == 3 and value_of(_given_mask(match)).dim() == 3:
            mask = graph.call_method("unsqueeze", (mask, -3))
        named["attn_mask"] = mask
    result = graph.call_function(attention, (query, key, value), named)
    if heads == 3:
        result = graph.call_method("squeeze", (result, -3))
    return graph.call_method("masked_fill", (result, dead, math.nan)) if dead is not None else result


def _check(match: Match) -> int:
    """The number of dimensions. Refused where the operator would do something else."""
    named: dict[str, Any] = {name: value_of(match[name]) if isinstance(match[name], Node) else None for name in THREE}
    result = value_of(match.anchor)
    if not all(isinstance(one, Tensor) for one in (*named.values(), result)):
        raise Refused("the sizes were not noted")
    query, key, value = named.values()
    if query.dim() not in (3, 4) or not query.dim() == key.dim() == value.dim():
        raise Refused("query, key and value have not three or four dimensions each")
    if any(not _equal(a, b) for one in (key, value) for a, b in zip(query.shape[:-2], one.shape, strict=False)):
        raise Refused("query, key and value have other batch sizes")
    if not query.is_floating_point() or any(one.dtype is not query.dtype for one in (key, value, result)):
        raise Refused("query, key and value have not one dtype of floating point")
    if any(0 in one.shape for one in (query, key, value)):
        raise Refused("there are no elements")
    scores = [value_of(node) for node in match.nodes if isinstance(value_of(node), Tensor)]
    if any(one.dtype is not query.dtype for one in scores):
        raise Refused("the scores have another dtype")
    refuse_others_between(match)
    return int(query.dim())


THREE: Final = ("query", "key", "value")


def _equal(one: Any, other: Any) -> bool:
    """Whether two sizes are the same for certain; asking a symbol would make a guard."""
    return one == other if isinstance(one, int) and isinstance(other, int) else str(one) == str(other)


def _given_mask(match: Match) -> Any:
    """What is added, or what says which scores are replaced or kept."""
    return match.get("added") or match.get("hidden") or match.get("shown")


def _mask(match: Match) -> tuple[Node | None, str]:
    """The mask, and what it hides: "causal" what comes later, "none" no whole row, "some" perhaps one.

    Refused where the operator takes none like it. See Note [What a mask may be].
    """
    mask = _given_mask(match)
    if mask is None:
        return None, "none"
    like, scores = value_of(mask), value_of(match.nodes[-1])
    rank = scores.dim()
    if not isinstance(like, Tensor) or like.dim() not in (2, rank):
        raise Refused("the mask has other dimensions than the scores")
    if any(not _equal(a, b) and not _equal(a, 1) for a, b in zip(like.shape, scores.shape[-like.dim() :], strict=True)):
        raise Refused("the mask is larger than the scores")
    if match.get("added") is not None and like.dtype is not scores.dtype:
        raise Refused("what is added to the scores has another dtype")
    known = _known(mask)
    if known is None:
        return mask, "some"
    shown = (
        known if match.get("shown") is not None else known.logical_not() if match.get("hidden") is not None else None
    )
    if shown is None:
        return mask, "some" if bool((known == -math.inf).all(-1).any()) else "none"
    shown = known if match.get("hidden") is None else known.logical_not()
    rows, columns = scores.shape[-2:]
    lower = at("").ones(rows, columns, dtype=at("").bool).tril()
    if tuple(shown.shape[-2:]) == (rows, columns) and bool((shown == lower).all()):
        return mask, "causal"
    return mask, "some" if bool(shown.logical_not().all(-1).any()) else "none"


def _built(match: Match, graph: Graph, mask: Node, hides: str) -> tuple[Node, Node | None]:
    """The mask as the operator takes it and, if it may hide rows altogether, which rows those are."""
    if match.get("hidden") is not None:
        dead = graph.call_method("all", (mask, -1, True)) if hides == "some" else None
        return graph.call_method("logical_not", (mask,)), dead
    if hides == "none":
        return mask, None
    if match.get("added") is not None:
        return mask, graph.call_method("all", (graph.call_method("eq", (mask, -math.inf)), -1, True))
    return mask, graph.call_method("logical_not", (graph.call_method("any", (mask, -1, True)),))


def _known(mask: Node) -> Tensor | None:
    """A mask that depends on no input, or None."""
    nodes: list[Node] = []
    waiting = [mask]
    while waiting:
        node = waiting.pop()
        if node in nodes:
            continue
        if node.op not in ("call_function", "call_method") or not is_plain(node) or len(nodes) > 20:
            return None
        like = value_of(node)
        if not isinstance(like, Tensor) or like.numel() > MOST or like.device.type != "cpu":
            return None
        nodes.append(node)
        waiting += node.all_input_nodes
    try:
        with no_grad():
            found: Tensor = _computed(mask, {})
    except (RuntimeError, TypeError, ValueError, IndexError):  # the program will say so itself
        return None
    return found


def _computed(node: Node, values: dict[Node, Any]) -> Any:
    if node not in values:
        args, kwargs = map_arg((node.args, dict(node.kwargs)), lambda source: _computed(source, values))
        if node.op == "call_method":
            values[node] = getattr(args[0], str(node.target))(*args[1:], **kwargs)
        else:
            values[node] = cast("Callable[..., Any]", node.target)(*args, **kwargs)
    return values[node]


PATTERNS: Final[Sequence[Pattern]] = (Pattern("attention", ATTENTION, _replace, "fuse_attention"),)

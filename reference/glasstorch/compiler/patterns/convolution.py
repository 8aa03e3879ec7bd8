"""When is a batch norm part of the convolution before it?

Mirrors: torch/_inductor/fx_passes/pre_grad.py (fuse_conv_bn), torch/nn/utils/fusion.py (fuse_conv_bn_weights)
Differs: a weight may change between two calls, so that what folds it stays in the graph. It costs a pass over the
    weight, and saves one over the output.

In evaluation, batch norm is `output * scale + shift` for each channel, and so is a convolution whose weight is
multiplied by the scale. Where gradients are recorded, the backward pass needs the convolution as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.compiler.patterns.captured_calls import refuse_others_between
from glasstorch.compiler.patterns.matcher import Arg, Match, Op
from glasstorch.compiler.patterns.rewriting import Pattern, Refused, value_of
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node

CONVOLUTION: Final = Op("convolution", Arg("x"), Arg("weight"), Arg("bias"), Arg("named"))
NORM: Final = Op(
    "batch_norm", CONVOLUTION, Arg("mean"), Arg("variance"), Arg("gamma"), Arg("beta"), False, Arg("eps")
)  # fmt: skip


def _replace(match: Match, graph: Graph) -> Node:
    given = [match[name] for name in ("x", "weight", "bias", "mean", "variance", "gamma", "beta")]
    x, weight, bias, mean, variance, gamma, beta = given
    tensors = [value_of(one) for one in given if isinstance(one, Node)]
    if not all(isinstance(one, Tensor) and one.is_floating_point() for one in tensors):
        raise Refused("what it is given was not noted")
    if any(one.dtype is not tensors[0].dtype for one in tensors) or mean is None or variance is None:
        raise Refused("it is given other dtypes, or no running statistics")
    result, like = value_of(match.anchor), value_of(weight)
    if is_grad_enabled() and result.requires_grad:
        raise Refused("its gradient is recorded")
    sizes = (*like.shape, *result.shape)
    if not all(isinstance(size, int) for size in sizes) or prod(like.shape) >= prod(result.shape):
        raise Refused("the weight is not smaller than the output")
    refuse_others_between(match)

    def method(name: str, *args: Any) -> Node:
        return graph.call_method(name, args)

    scale = method("rsqrt", method("add", variance, match["eps"]))
    if gamma is not None:
        scale = method("mul", scale, gamma)
    shift = method("neg", mean) if bias is None else method("sub", bias, mean)
    shift = method("mul", shift, scale)
    if beta is not None:
        shift = method("add", shift, beta)
    folded = method("mul", weight, method("view", scale, (-1, *[1] * (like.dim() - 1))))
    convolution = next(node for node in match.nodes if node.target is not match.anchor.target)
    return graph.create_node(convolution.op, convolution.target, (x, folded, shift), dict(match["named"]))


PATTERNS: Final[Sequence[Pattern]] = (Pattern("batch norm of a convolution", NORM, _replace, "fuse_conv_bn"),)

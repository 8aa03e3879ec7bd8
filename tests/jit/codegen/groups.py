"""How is a fusion group made for a test, and how are two results compared to the bit?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import glasstorch
from glasstorch.jit.codegen.fused_group import FusedGroup
from glasstorch.jit.ir import Graph
from glasstorch.kernels.pointwise.activation import every_activation
from glasstorch.kernels.pointwise.expression import Apply, nodes, parse
from glasstorch.kernels.pointwise.formulas import FLOAT_EXPONENTS, FORMULAS, TRUNC_DIVIDE
from glasstorch.kernels.pointwise.vocabulary import spelled
from tests.agreement.oracles import operator, runs
from tests.agreement.samples import Row, arrays, in_library


def group_of(function: Callable[..., Any], *examples: Any) -> FusedGroup:
    """All that a function of tensors does, as one group, for inputs like the examples; the values are not used."""
    traced = glasstorch.jit.trace(function, tuple(example.clone() for example in examples))
    graph = traced.graph.copy()
    output = graph.outputs[0]
    if output.node.kind == "prim::TupleConstruct":
        values = output.node.inputs
        graph.erase_output(0)
        output.node.destroy()
        for value in values:
            graph.register_output(value)
    return FusedGroup(graph)


def calls_of(row: Row) -> Iterator[tuple[str, FusedGroup, list[Any]]]:
    """For each call of a row its dtype, a group of that operator alone, and the tensors for it."""
    for call, run in runs(row):
        args, kwargs = in_library(glasstorch, call, arrays(row, call, run))
        called = operator(row.op)
        graph, tensors, values = Graph(), [], []
        for argument in called.bind(tuple(args), kwargs):
            if isinstance(argument, glasstorch.Tensor):
                tensors.append(argument)
                values.append(graph.add_input())
            else:
                values.append(graph.insert_constant(argument))
        graph.register_output(graph.insert(called.name.partition(".")[0], values))
        assert graph.nodes[-1].operator() is called
        yield run, FusedGroup(graph), tensors


def fused_words() -> set[str]:
    """The words of the vocabulary of which the lines of fusible operators consist; of `fabs` there are only numbers."""
    lines = [formula.expression for formula in (*FORMULAS.values(), *every_activation(), TRUNC_DIVIDE) if formula.fused]
    trees = [spelled(parse(line), "cpp") for line in (*lines, *FLOAT_EXPONENTS.values())]
    return {node.word for tree in trees for node in nodes(tree) if isinstance(node, Apply)} - {"fabs"}


def same_to_the_bit(found: Any, wanted: Any) -> bool:
    """Whether two tensors are of one dtype, have the same sizes and strides, and elements of the same bytes."""
    return (
        found.dtype is wanted.dtype
        and found.shape == wanted.shape
        and found.stride() == wanted.stride()
        and found.contiguous().array().tobytes() == wanted.contiguous().array().tobytes()
    )

"""Which operators are aliases, and what are their canonical names?

Mirrors: torch/csrc/jit/passes/normalize_ops.cpp (NormalizeOps, getOperatorAliasMap)
Differs: TorchScript's `degrees` and `radians` do not exist here.

The tracer runs this pass, so that no other pass has to handle two names of one operator.
"""

from __future__ import annotations

from typing import Final

from glasstorch.jit.ir import Graph, Node

# What PyTorch's graphs write under the name on the right, with and without `_` at the end.
ALIASES: Final = {
    "absolute": "abs", "clip": "clamp", "fix": "trunc", "ger": "outer", "negative": "neg",
    "multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div",
    "greater_equal": "ge", "greater": "gt", "less_equal": "le", "less": "lt", "not_equal": "ne",
    "concat": "cat", "concatenate": "cat", "det": "linalg_det", "inverse": "linalg_inv", "linalg_matmul": "matmul",
    "matrix_exp": "linalg_matrix_exp", "matrix_power": "linalg_matrix_power", "orgqr": "linalg_householder_product",
    "moveaxis": "movedim", "row_stack": "vstack", "swapdims": "transpose", "swapaxes": "transpose",
    "special_expit": "sigmoid", "special_gammainc": "igamma", "special_gammaincc": "igammac",
    "special_gammaln": "lgamma", "special_multigammaln": "mvlgamma", "special_psi": "digamma",
    **{
        f"special_{name}": name
        for name in (
            "digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "i0", "log1p", "log_softmax", "logit", "logsumexp",
            "polygamma", "round", "sinc", "softmax", "xlogy",
        )
    },
    **{f"arc{name}": f"a{name}" for name in ("cos", "sin", "tan", "cosh", "sinh", "tanh")},
}  # fmt: skip
KINDS: Final = {
    f"aten::{alias}{suffix}": f"aten::{name}{suffix}" for alias, name in ALIASES.items() for suffix in ("", "_")
}


def normalize_ops(graph: Graph) -> bool:
    """Give the nodes of operators that have two names the usual one."""
    found = [node for node in graph.all_nodes() if node.kind in KINDS]
    for node in found:
        _rename(node, KINDS[node.kind])
    graph.lint()
    return bool(found)


def _rename(node: Node, kind: str) -> None:
    """Put a node of another kind, with the same inputs and outputs, in the place of this one."""
    graph = node.graph
    with graph.inserting_before(node):
        made = graph.insert_node(graph.create(kind, node.inputs, len(node.outputs)))
    made.source, made.scope = node.source, node.scope
    for old, new in zip(node.outputs, made.outputs, strict=True):
        old.replace_all_uses_with(new)
        new.copy_metadata(old)
    node.destroy()
    assert made.maybe_operator() is not None, f"no operator {kind} takes what its other name does"

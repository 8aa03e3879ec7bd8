"""Does every operator of the table have the gradients of eager when they are derived with those of its neighbours?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import jit
from glasstorch.jit.differentiable_graph import DifferentiableGraph
from glasstorch.jit.interpreter import Code
from glasstorch.jit.passes.create_autodiff_subgraphs import GROUP, create_autodiff_subgraphs
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from glasstorch.jit.passes.normalize_ops import original
from tests.agreement.oracles import about, assert_same, operator, require_grad, results, seed
from tests.agreement.samples import Call, Row, arrays, in_library
from tests.agreement.table import OWN

pytestmark = pytest.mark.ci  # one graph after another is derived, optimized and read back from its text

Tensor = glasstorch.Tensor

# Operators that no group takes, and why; those that write are in none either.
OUTSIDE = {
    "index.Tensor": "its sizes depend on the data of a mask",
    "index_put": "its sizes depend on the data of a mask",
    "as_strided": "it reads where elements lie in memory",
    "_as_strided_backward": "it reads where elements lie in memory",
    "to.device": "its result may be on another device",
    **dict.fromkeys(
        [
            "rrelu",
            "rrelu_with_noise_functional",
            "dropout",
            "feature_dropout",
            "alpha_dropout",
            "feature_alpha_dropout",
            "scaled_dot_product_attention",
            "_scaled_dot_product_attention_math",
            "_scaled_dot_product_flash_attention_for_cpu",
            "lstm.input",
            "gru.input",
            "rnn_tanh.input",
            "rnn_relu.input",
        ],
        "it may draw random numbers",
    ),
    "native_dropout": "it may draw random numbers",
}
# Operators whose formula looks at data, so that no graph of it can be made; such a group runs as it is.
READS_DATA = {
    "_linalg_det": "where a determinant is 0 its gradient is another formula's",
    "linalg_lu_factor": "it refuses a singular matrix",
}
# Operators whose formula gives None for a gradient that nobody asks for, which no graph returns.
AS_ASKED = frozenset([
    "native_batch_norm", "native_layer_norm", "_fused_rms_norm", "convolution_backward", "_convolution_double_backward",
    "conv_tbc_backward", "lstm_cell", "_native_batch_norm_legit_functional", "_batch_norm_with_update_functional",
])  # fmt: skip
# What LAPACK rounds otherwise for a matrix that lies in memory otherwise.
ROUNDED = {"linalg_lu_solve": 1e-14}
# Their graphs are the longest of all, and their calls differ in where they read and not in how a gradient is derived:
# every twelfth call is checked, and all of them by `make test-all`.
LONGEST = frozenset([
    "grid_sampler", "grid_sampler_2d", "grid_sampler_2d_backward", "grid_sampler_3d", "grid_sampler_3d_backward",
])  # fmt: skip
CHECKED = [
    row
    for row in OWN
    if row.differentiable
    and not any(argument.type.is_write for argument in operator(row.op).schema.arguments)
    and original(operator(row.op)) is None
]


def between(row: Row, call: Call) -> tuple[list[Tensor], Callable[..., Any]] | None:
    """The tensors of a call that want gradients, and a function of them: neg, the operator, neg. None without any."""
    args, kwargs = in_library(glasstorch, call, arrays(row, call, "float64"))
    wanted = require_grad(call, args, kwargs)
    places = {id(tensor): i for i, tensor in enumerate(wanted)}

    def function(*tensors: Tensor) -> Any:
        def put(value: Any) -> Any:
            if isinstance(value, list):
                return [put(one) for one in value]
            return tensors[places[id(value)]].neg().neg() if id(value) in places else value

        made = operator(row.op)(*map(put, args), **{name: put(value) for name, value in kwargs.items()})
        return tuple(result.neg() if result.is_floating_point() else result.clone() for result in results(made))

    return (wanted, function) if wanted else None


def derivatives(function: Callable[..., Any], wanted: list[Tensor], twice: bool) -> list[Any]:
    """Values, first and second derivatives; without the second where the first has none."""
    made = results(function(*wanted))
    roots = [result for result in made if result.requires_grad]
    first = glasstorch.autograd.grad(
        roots, wanted, [permuted_seed(root) for root in roots], create_graph=True, allow_unused=True
    )
    again = [gradient for gradient in first if gradient is not None and gradient.requires_grad]
    second: tuple[Any, ...] = ()
    if again and twice:
        second = glasstorch.autograd.grad(again, wanted, [permuted_seed(g) for g in again], allow_unused=True)
    return [*made, *first, *second]


def permuted_seed(result: Tensor) -> Tensor:
    """A gradient whose elements lie in memory in the opposite order of dimensions: not as it was traced."""
    order = range(result.dim())[::-1]
    return seed(result).permute(*order).contiguous().permute(*order) if result.dim() > 1 else seed(result)


@pytest.mark.parametrize("row", CHECKED, ids=lambda row: row.op)
def test_gradients_are_those_of_eager(row: Row) -> None:
    check(row, row.calls[::12] if row.op in LONGEST else row.calls)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in CHECKED if row.op in LONGEST], ids=lambda row: row.op)
def test_gradients_of_every_call_are_those_of_eager(row: Row) -> None:
    check(row, row.calls)


def check(row: Row, calls: Sequence[Call]) -> None:
    """Compare values, first and second derivatives of these calls with those of eager."""
    for call in calls:
        found = between(row, call)
        if found is None:
            continue
        wanted, function = found
        graph = jit.trace(function, tuple(wanted)).graph.copy()
        erase_shape_information(graph)
        create_autodiff_subgraphs(graph, threshold=1)
        what = f"{about(row, call, 'float64')}\n{graph}"
        holding = [node for node in graph.find_all_nodes(GROUP) if holds(node, row.op)]
        assert bool(holding) == (row.op not in OUTSIDE), what
        code = Code(graph)
        ours = derivatives(lambda *x, code=code: code(*x)[0], wanted, row.twice)
        eager = derivatives(function, wanted, row.twice)
        assert_all_same(ours, eager, what, ROUNDED.get(row.op, 0.0))
        for group in code._functions:
            if isinstance(group, DifferentiableGraph) and group.derived() and row.op not in AS_ASKED:
                assert (None in group.derived()) == (row.op in READS_DATA), what


def holds(group: Any, name: str) -> bool:
    return any(node.maybe_operator() is operator(name) for node in group.attributes["Subgraph"].nodes)


def assert_all_same(ours: list[Any], eager: list[Any], what: str, tolerance: float) -> None:
    assert len(ours) == len(eager), what
    for one, other in zip(ours, eager, strict=True):
        assert (one is None) == (other is None), what
        if one is not None:
            if tolerance:
                found, expected = one.detach().host_array(), other.detach().host_array()
                np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=what)
            else:
                assert_same(one.detach(), other.detach(), what)

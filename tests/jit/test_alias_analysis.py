"""Does the analysis find what shares memory and who writes, and is it never wrong about an operator?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.jit.alias_analysis import OUTSIDE, UNDECLARED_VIEWS, AliasAnalysis, memory_facts, written_arguments
from glasstorch.jit.ir import Graph, Value
from glasstorch.jit.parser import parse_ir
from tests.agreement.oracles import operator, runs
from tests.agreement.samples import Row, arrays, in_library
from tests.agreement.table import ROWS


def analysed(nodes: str, returns: str = "%x") -> tuple[AliasAnalysis, dict[str, Value], Graph]:
    """The analysis of a graph, and its values by name."""
    head = "graph(%x : Tensor, %y : Tensor, %c : bool, %n : int):\n %one : int = prim::Constant[value=1]()\n"
    graph = parse_ir(f"{head}{nodes}\n return ({returns})\n")
    return AliasAnalysis(graph), graph.names, graph


def test_inputs_and_constants_may_share_memory_with_each_other() -> None:
    analysis, value, _ = analysed("%a : Tensor = aten::neg(%x)")
    assert analysis.may_alias(value["x"], value["y"])
    assert analysis.is_outside(value["x"])
    assert not analysis.may_alias(value["a"], value["x"])
    assert analysis.places(value["c"]) == frozenset()


@pytest.mark.parametrize("view", ["t(%a)", "contiguous(%a, %one)", "type_as(%a, %x)", "select(%a, %one, %one)"])
def test_a_view_has_the_memory_of_its_base(view: str) -> None:
    analysis, value, _ = analysed(f"%a : Tensor = aten::neg(%x) %v : Tensor = aten::{view}")
    assert analysis.places(value["v"]) == analysis.places(value["a"]) == {value["a"]}


def test_all_parts_of_a_split_have_the_memory_of_the_whole() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %l : Tensor[] = aten::chunk(%a, %n, %one) %p : Tensor = prim::ListUnpack(%l)"
    analysis, value, _ = analysed(nodes)
    assert analysis.places(value["p"]) == {value["a"]}


def test_a_container_stands_for_its_elements() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %l : (Tensor, Tensor) = prim::TupleConstruct(%a, %y)"
    analysis, value, _ = analysed(nodes)
    assert analysis.places(value["l"]) == {value["a"], OUTSIDE}


def test_an_if_gives_the_memory_of_either_branch() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) %r : Tensor = prim::If(%c)\n block0():\n %b : Tensor = aten::exp(%x)\n -> (%b)\n"
        " block1():\n -> (%a)"
    )
    analysis, value, _ = analysed(nodes)
    assert analysis.places(value["r"]) == {value["a"], value["b"]}


def test_a_loop_hands_memory_back_to_its_start() -> None:
    nodes = (
        "%t : bool = prim::Constant[value=1]() %r : Tensor, %s : Tensor = prim::Loop(%n, %t, %x, %x)\n"
        " block0(%i : int, %p : Tensor, %q : Tensor):\n %b : Tensor = aten::exp(%x)\n -> (%t, %q, %b)"
    )
    analysis, value, _ = analysed(nodes)
    assert analysis.places(value["p"]) == {OUTSIDE, value["b"]} == analysis.places(value["r"])


def test_writers_are_found_through_views_and_lists() -> None:
    nodes = (
        "%a : Tensor = aten::neg(%x) %b : Tensor = aten::neg(%x) %v : Tensor = aten::t(%a)"
        " %w : Tensor = aten::relu_(%v)"
    )
    analysis, value, graph = analysed(nodes)
    assert analysis.has_writers([value["a"]])
    assert analysis.has_writers([value["b"], value["v"]])
    assert not analysis.has_writers([value["b"], value["x"]])
    assert analysis.writes(graph.nodes[-1]) == {value["a"]}
    assert analysis.places(value["w"]) == {value["a"]}


def test_a_node_of_which_nothing_is_known_may_write_to_all_it_sees() -> None:
    nodes = "%a : Tensor = aten::neg(%x) %v : Tensor = aten::t(%a) %u : Tensor = prim::PythonOp(%v)"
    analysis, value, _ = analysed(nodes)
    assert analysis.has_writers([value["a"]])
    assert analysis.has_writers([value["x"]])
    assert analysis.may_alias(value["a"], value["u"])
    assert analysis.is_returned(value["a"])


def test_what_was_merged_is_returned_if_either_was() -> None:
    analysis, value, _ = analysed("%a : Tensor = aten::neg(%x) %b : Tensor = aten::neg(%x)", "%b")
    assert analysis.is_returned(value["b"])
    assert not analysis.is_returned(value["a"])
    analysis.merged(value["a"], value["b"])
    assert analysis.is_returned(value["a"])


def test_an_operator_that_takes_a_storage_may_do_anything() -> None:
    text = (
        "graph(%x : Tensor, %s : Storage, %n : int, %l : int[]):\n %a : Tensor = aten::neg(%x)"
        " %w : Tensor = aten::set_(%a, %s, %n, %l, %l)\n return (%x)\n"
    )
    graph = parse_ir(text)
    assert AliasAnalysis(graph).is_outside(graph.names["a"])


# Every operator, on the samples of the operator table --------------------------------------------------------------


def storages(values: Any) -> Iterator[int]:
    """Where the memory of the tensors in a value begins."""
    if isinstance(values, glasstorch.Tensor):
        address = values.untyped_storage().data_ptr()
        yield from [address] if address else []  # a tensor without elements has no memory to share
    elif isinstance(values, list | tuple):
        for value in values:
            yield from storages(value)


@pytest.mark.filterwarnings("ignore:torch.meshgrid")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_a_result_shares_memory_only_with_arguments_that_the_analysis_names(row: Row) -> None:
    schema = operator(row.op).schema
    for call, run in runs(row):
        args, kwargs = in_library(glasstorch, call, arrays(row, call, run))
        bound = operator(row.op).bind(args, kwargs)
        given = [set(storages(argument)) for argument in bound]
        returned = operator(row.op)(*args, **kwargs)
        results = [returned] if len(schema.returns) == 1 else list(returned)
        for result, sources in zip(results, memory_facts(schema).sources, strict=True):
            named = set().union(*(given[i] for i in sources))
            assert set(storages(result)).isdisjoint(set().union(*given) - named), f"{row.op} {call} {run}"


@pytest.mark.filterwarnings("ignore:torch.meshgrid")
def test_the_operators_of_the_table_of_undeclared_views_do_return_memory_of_their_argument() -> None:
    x = glasstorch.ones(1, 1, 2)
    arguments: dict[str, tuple[Any, ...]] = {
        "type_as": (x, x), "_unsafe_view": (x, [2]), "atleast_1d": (x,), "atleast_2d": (x,), "atleast_3d": (x,),
        "broadcast_tensors": ([x, x],), "cartesian_prod": ([x[0, 0]],), "conj_physical": (x,),
        "meshgrid": ([x[0, 0]],), "sum_to_size": (x, [1, 1, 2]), "unsafe_chunk": (x, 1), "unsafe_split": (x, 1),
        "unsafe_split_with_sizes": (x, [1]), "einsum": ("iij->ij", [x]), "dropout": (x, 0.5, False),
        "alpha_dropout": (x, 0.5, False), "feature_dropout": (x, 0.5, False), "feature_alpha_dropout": (x, 0.5, False),
    }  # fmt: skip
    # In PyTorch these may mutate, which their schemas do not say either; they return no memory of their argument.
    assert arguments.keys() == UNDECLARED_VIEWS.keys() - {"batch_norm", "_batch_norm_impl_index"}
    for name, given in arguments.items():
        assert set(storages(getattr(glasstorch.ops.aten, name)(*given))) == set(storages(x)), name


def test_the_arguments_that_a_node_writes_to_are_those_its_operator_declares() -> None:
    _, _, graph = analysed(
        "%a : Tensor = aten::neg_(%x)\n %b : Tensor = aten::neg(%x)\n %l : int[] = prim::ListConstruct(%n)"
    )
    assert [written_arguments(node) for node in graph.nodes] == [(), (0,), (), ()]

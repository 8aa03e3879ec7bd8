"""Is it said what a pass changed, to those who ask, and to nobody else?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch import jit
from glasstorch.jit.ir import Graph
from glasstorch.jit.log import VARIABLE, log_unfused, run_pass, show_passes
from glasstorch.jit.parser import parse_ir
from glasstorch.jit.passes.dead_code import eliminate_dead_code

TEXT = """\
graph(%x : Tensor):
  %a : Tensor = aten::exp(%x)
  %b : Tensor = aten::neg(%x)
  return (%b)
"""
CHANGED = """\
eliminate_dead_code: 2 -> 1 nodes
  graph(%x : Tensor):
-   %a : Tensor = aten::exp(%x)
    %b : Tensor = aten::neg(%x)
    return (%b)"""


def changes_nothing(graph: Graph) -> bool:
    return False


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_pass_that_changes_something_is_shown_with_its_lines() -> None:
    shown: list[str] = []
    with show_passes(shown.append):
        assert run_pass(eliminate_dead_code, parse_ir(TEXT))
        assert not run_pass(eliminate_dead_code, parse_ir(TEXT.replace("  %a : Tensor = aten::exp(%x)\n", "")))
    run_pass(eliminate_dead_code, parse_ir(TEXT))
    assert shown == [CHANGED]


def test_each_listener_is_told_once() -> None:
    everybody: list[str] = []
    this_one: list[str] = []
    with show_passes(everybody.append):
        run_pass(eliminate_dead_code, parse_ir(TEXT), this_one.append)
    assert everybody == this_one == [CHANGED]


def test_without_a_listener_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run_pass(eliminate_dead_code, parse_ir(TEXT))
    assert capsys.readouterr() == ("", "")


def test_passes_are_printed_where_nothing_else_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with show_passes():
        run_pass(eliminate_dead_code, parse_ir(TEXT))
    assert capsys.readouterr() == (CHANGED + "\n", "")


@pytest.mark.parametrize("value", ["eliminate_dead_code", "peephole:eliminate_dead_code", "*"])
def test_the_environment_names_passes_to_write_to_standard_error(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    run_pass(eliminate_dead_code, parse_ir(TEXT))
    run_pass(changes_nothing, parse_ir(TEXT))
    assert capsys.readouterr() == ("", CHANGED + "\n")


def test_an_arrow_asks_for_the_whole_graphs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, ">eliminate_dead_code")
    graph = parse_ir(TEXT)
    run_pass(eliminate_dead_code, graph)
    said = capsys.readouterr().err
    assert said.startswith(f"Before eliminate_dead_code:\n{TEXT}")
    assert f"After eliminate_dead_code:\n{graph}" in said


def test_another_pass_named_there_says_nothing_of_this_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "peephole:dead_code")
    run_pass(eliminate_dead_code, parse_ir(TEXT))
    assert capsys.readouterr().err == ""


def test_what_was_left_unfused_is_said_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    node = parse_ir(TEXT).nodes[0]
    text = "fuse_pointwise: left %a : Tensor = aten::exp(%x) as it is: it is alone"
    shown: list[str] = []
    log_unfused(node, "it is alone")
    with show_passes(shown.append):
        log_unfused(node, "it is alone")
    monkeypatch.setenv(VARIABLE, "fuse_pointwise")
    log_unfused(node, "it is alone")
    assert shown == [text]
    assert capsys.readouterr() == ("", text + "\n")


def test_an_operator_without_a_fuser_is_named_when_a_graph_first_runs() -> None:
    traced = jit.trace(lambda x: ((x * 2).exp().flip(0) + 1).tanh(), glasstorch.ones(3))
    shown: list[str] = []
    with jit.show_passes(shown.append):
        traced(glasstorch.ones(3))
        count = len(shown)
        traced(glasstorch.ones(3))
    assert len(shown) == count
    assert any(text.startswith("fuse_pointwise:") and "aten::flip" in text and " as it is: " in text for text in shown)

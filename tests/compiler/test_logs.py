"""Is what a compilation does printed where it is asked for, and nothing else?"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from typing import Any

import pytest

import glasstorch
from glasstorch.compiler.log_names import ARTIFACTS, OF_PYTORCH, names


@pytest.fixture(autouse=True)
def _quiet_again() -> Any:
    yield
    glasstorch._logging.set_logs()


def f(x: Any) -> Any:
    y = x + 1
    print(end="")
    return y * 2


def told(capsys: pytest.CaptureFixture[str], **chosen: bool) -> list[str]:
    glasstorch._logging.set_logs(**chosen)
    run = glasstorch.compile(f, backend="eager", dynamic=False)
    for n in (2, 3):
        run(glasstorch.ones(n))
    return capsys.readouterr().err.splitlines()


def test_nothing_is_printed_unless_it_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys) == []
    assert told(capsys, graph_breaks=False) == []


def test_graph_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, graph_breaks=True)
    assert lines[0].startswith("[graph_breaks] a call of the builtin print")
    place = f"{__file__}:{f.__code__.co_firstlineno + 2} in f"
    assert lines[1] == f"[graph_breaks]   at {place}; the graph ends there"


def test_recompiles_and_guards(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, recompiles=True, guards=True)
    assert any("Recompiling function f in " in line for line in lines)
    assert any("- 0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3" in line for line in lines)
    assert any(line.startswith("[guards]   TENSOR_MATCH: ") for line in lines)


def test_code_of_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, graph_code=True)
    assert any(line.startswith("[graph_code] def forward(self, L_x_") for line in lines)


def test_unknown_names_and_values_are_refused() -> None:
    with pytest.raises(
        TypeError, match=r"set_logs\(\) got an unexpected keyword argument 'nothing'; there are all, aot"
    ):
        glasstorch._logging.set_logs(nothing=True)
    with pytest.raises(NotImplementedError, match="glasstorch prints nothing for 'cudagraphs'"):
        glasstorch._logging.set_logs(cudagraphs=True)
    with pytest.raises(ValueError, match="Expected bool to enable artifact guards, received 10"):
        glasstorch._logging.set_logs(guards=10)
    with pytest.raises(ValueError, match="Unrecognized log level for log dynamo: 7, valid level values are: "):
        glasstorch._logging.set_logs(dynamo=7)


def test_the_names_are_pytorchs(require: Any) -> None:
    registry = require("torch")._logging._internal.log_registry
    theirs = {*registry.artifact_names, *registry.log_alias_to_log_qnames, "all"}
    ours = {*names(), *OF_PYTORCH}
    assert theirs <= ours
    assert ours - theirs == {"joint", "patterns"}


def compiled_with(capsys: pytest.CaptureFixture[str], **chosen: Any) -> list[str]:
    """What is printed of a function with its backward pass, and one that is compiled for all sizes."""
    glasstorch._logging.set_logs(**chosen)
    run = glasstorch.compile(lambda x: (x.sin() * 2).sum())
    run(glasstorch.ones(2, 3, requires_grad=True)).backward()
    run(glasstorch.ones(3, 3, requires_grad=True))
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bytecode", "ORIGINAL BYTECODE <lambda> "),
        ("trace_source", "        run = glasstorch.compile(lambda x: (x.sin() * 2).sum())"),
        ("trace_bytecode", "TRACE BINARY_OP 5 [sin, 2]"),
        ("graph", "call_method  sin  sin  (l_x_,)  {}"),
        ("graph_sizes", "sin: float32[2, 3]"),
        ("aot_joint_graph", " ===== Joint graph ====="),
        ("joint", " ===== Joint graph ====="),
        ("aot_graphs", " ===== Backward graph ====="),
        ("post_grad_graphs", " ===== AFTER POST GRAD ====="),
        ("ir_pre_fusion", "    buf2: float32[2, 3] = mul(buf1, 2)   for [2, 3]"),
        ("ir_post_fusion", "        phase 0: buf2: float32[2, 3] = mul(buf1, 2)   for [2, 3]"),
        ("schedule", "what runs, in order"),
        ("fusion", "    buf2 with (buf1): 24 bytes in common; joined"),
        ("output_code", "def call(args):"),
        ("kernel_code", "                // buf2: mul = aten.mul.Tensor   # run = glasstorch.compile"),
    ],
)
def test_artifacts(capsys: pytest.CaptureFixture[str], name: str, text: str) -> None:
    lines = compiled_with(capsys, **{name: True})
    shown = {"joint": "aot_joint_graph"}.get(name, name)
    assert lines
    assert all(line.startswith(f"[{shown}] ") for line in lines)
    assert any(line.startswith(f"[{shown}] {text}") for line in lines), "\n".join(lines)


def test_hints(capsys: pytest.CaptureFixture[str]) -> None:
    glasstorch._logging.set_logs(perf_hints=True)
    glasstorch.compile(lambda x: x @ x)(glasstorch.ones(2, 2))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("[perf_hints] the library's own kernel computes mm: aten.mm.default ")


def test_a_log_prints_its_artifacts_but_those_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(**chosen: Any) -> set[str]:
        return {line[1:].partition("]")[0] for line in compiled_with(capsys, **chosen)}

    of_aot = {"aot_joint_graph", "aot_graphs"}
    assert printed(aot=logging.INFO) == of_aot
    assert printed(aot=logging.ERROR) == set()
    of_symbols = "glasstorch.fx.experimental.symbolic_shapes"
    assert printed(dynamic=logging.INFO) == {of_symbols}
    of_dynamo = {name for name, one in ARTIFACTS.items() if one.log == "dynamo" and not one.on_request}
    assert printed(dynamo=logging.DEBUG) == of_dynamo - {"graph_breaks"} | {of_symbols}
    assert printed(all=logging.INFO) == of_aot | {of_symbols, "post_grad_graphs"}
    assert printed() == set()


def test_symbols_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(compiled_with(capsys, dynamic=logging.INFO))
    assert "create_symbol s77 = 3 for L['x'].size()[0] " in text


def test_the_environment_chooses() -> None:
    program = (
        "import glasstorch as t\n"
        "t.compile(lambda x: (x + 1, print(end='')), backend='eager')(t.ones(1))\n"
    )  # fmt: skip

    def run(chosen: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"GLASSTORCH_LOGS": chosen}
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )

    done = run("graph_breaks")
    assert done.returncode == 0
    assert done.stderr.startswith("[graph_breaks] a call of the builtin print")
    assert f"Valid settings:\n{', '.join(names())}\n" in run("nothing").stderr
    assert "ValueError: GLASSTORCH_LOGS=NAME,NAME,... chooses" in run("help").stderr

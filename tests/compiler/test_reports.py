"""Does a report hold all stages of a compilation, and nothing that the program can break out of?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.compiler.reports.page import Page
from glasstorch.compiler.reports.recording import Recording
from glasstorch.compiler.reports.stages import stages_of
from glasstorch.compiler.watching import watched_by, watchers

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")
ALL = [
    "Bytecode, symbolically", "Guards", "Captured graph", "Joint graph", "Partition", "Forward graph",
    "Backward graph", "Loops, forward", "Fusion, forward", "Wrapper, forward", "C++, forward", "Loops, backward",
    "Fusion, backward", "Wrapper, backward", "C++, backward",
]  # fmt: skip


def scaled(x: Any) -> Any:
    return x * 2


def f(x: Any) -> Any:
    y = scaled(x.sin())
    return y.softmax(-1).sum()


def recorded(fn: Any, *calls: Any, backend: str = "inductor") -> Recording:
    recording = Recording()
    with watched_by(recording):
        run = glasstorch.compile(fn, backend=backend)
        for x in calls:
            found = run(x)
            if found.requires_grad:
                found.backward()
    return recording


def test_a_graph_has_all_stages_and_each_line_leads_to_the_program() -> None:
    (part,) = recorded(f, glasstorch.randn(4, 3, requires_grad=True)).parts
    stages = {stage.title: stage for stage in stages_of(part)}
    assert list(stages) == ALL
    sine = f.__code__.co_firstlineno + 1
    for title in ALL:
        lines = {place.line for row in stages[title].rows for place in row.places}
        assert sine in lines or (title == "Partition" and lines == {sine + 1}), title  # x is an argument
    for title in ("Captured graph", "Joint graph", "Forward graph", "Backward graph"):
        assert all(row.places for row in stages[title].rows if "torch.ops" in row.text), title
    assert any("aten.cos" in row.text for row in stages["Backward graph"].rows)
    kept = [row.text.strip() for row in stages["Partition"].rows]
    assert re.fullmatch(r"kept for the backward pass: [1-9]\d* values, [1-9]\d* bytes", kept[0])
    assert set(part.seconds) >= {"capture", "joint graph", "partition", "loops", "C++", "backend"}


def test_every_line_of_the_cpp_between_a_comment_and_a_brace_has_its_place() -> None:
    (part,) = recorded(f, glasstorch.randn(4, 3)).parts
    rows = next(stage.rows for stage in stages_of(part) if stage.title == "C++, forward")
    body = [row for row in rows if re.match(r"\s+(//|const float v\d|for )", row.text)]
    assert body
    assert all(row.places for row in body)


def test_breaks_and_recompiles_are_told() -> None:
    def g(x: Any) -> Any:
        y = x + 1
        print(end="")
        return y * 2

    glasstorch._dynamo.reset()
    recording = recorded(g, glasstorch.ones(2), glasstorch.ones(2, dtype=glasstorch.float64), backend="eager")
    page = Page(recording, "g").text()
    assert "a call of the builtin print" in page
    assert "dtype mismatch. expected Float, actual Double" in page
    assert "4 graphs, 4 calls, 2 graph breaks, 2 recompiles, 0 kernels" in page


def test_the_report_of_a_function_takes_its_options_and_leaves_no_gradients(tmp_path: Path) -> None:
    x = glasstorch.randn(3, requires_grad=True)
    path = glasstorch.compiler.report(glasstorch.compile(f, backend="aot_eager"), x, path=tmp_path / "page.html")
    page = path.read_text(encoding="utf-8")
    assert "Compilation of f" in page
    assert "Joint graph" in page
    assert "C++, forward" not in page
    assert x.grad is None
    assert watchers == []


def test_a_module_has_a_report(tmp_path: Path) -> None:
    model = glasstorch.compile(glasstorch.nn.Linear(3, 2))
    page = glasstorch.compiler.report(model, glasstorch.ones(1, 3), path=tmp_path / "page.html").read_text("utf-8")
    assert "Backward graph" in page


def test_text_of_the_program_is_escaped_and_nothing_is_asked_for(tmp_path: Path) -> None:
    def g(x: Any) -> Any:
        y = x + len("</script><img src=x onerror=alert(1)>")
        print(end="")
        return y

    page = glasstorch.compiler.report(g, glasstorch.ones(1), path=tmp_path / "page.html").read_text("utf-8")
    assert "&lt;/script&gt;&lt;img src=x" in page
    assert page.count("</script>") == 1
    assert "<img" not in page
    assert not re.search(r"(?:src|href)=\"(?!#)|https?://|@import|url\(", page)


def test_what_is_compiled_in_a_block_is_reported_also_after_an_error(tmp_path: Path) -> None:
    def fail(x: Any) -> Any:
        raise KeyError("the program's own")

    with pytest.raises(KeyError), glasstorch.compiler.reporting(tmp_path / "page.html"):
        fail(glasstorch.compile(f, backend="eager")(glasstorch.ones(2)))
    assert "Captured graph" in (tmp_path / "page.html").read_text("utf-8")
    assert watchers == []


@pytest.mark.parametrize("way", ["option", "environment"])
def test_a_program_is_reported_when_it_ends(way: str, tmp_path: Path) -> None:
    program, page = tmp_path / "program.py", tmp_path / "page.html"
    program.write_text(
        "import torch\ndef f(x):\n    return x.sin() + 1\ntorch.compile(f, backend='eager')(torch.ones(2))\n"
    )
    option = ["--report", str(page)] if way == "option" else []
    environment = os.environ | ({"GLASSTORCH_REPORT": str(page)} if way == "environment" else {})
    command = [sys.executable, "-m", "glasstorch", *option, str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "return x.sin() + 1" in page.read_text("utf-8")

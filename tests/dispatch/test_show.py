"""Are the kernels of every call printed where the environment asks for it, and is there no trace of that otherwise?"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from glasstorch.core.keys import key_set_of
from glasstorch.dispatch import show
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.resolve import Resolution
from glasstorch.dispatch.trace import trace

PROGRAM = """
import glasstorch, sys
from glasstorch.dispatch.trace import trace
x = glasstorch.ones(2, requires_grad=True)
sys.stderr.write("add\\n")
y = x + x
sys.stderr.write("matmul\\n")
with glasstorch.no_grad():
    x.detach() @ x.detach()
sys.stderr.write("traced\\n")
with trace() as hops:
    y.detach().exp()
print([(hop.operator, hop.key.name) for hop in hops])
y.backward(x.detach())
print(x.grad.tolist())
"""


def run(shown: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, show.VARIABLE: shown}
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True)


def test_each_hop_is_a_line_of_standard_error() -> None:
    done = run("1")
    lines = done.stderr.splitlines()
    made, rest = lines[: lines.index("add")], lines[lines.index("add") + 1 :]
    assert made[:3] == [
        " [call] op=[aten::ones], key=[BackendSelect]",
        "  [redispatch] op=[aten::ones], key=[CPU]",
        "   [call] op=[aten::empty.memory_format], key=[CPU]",
    ]
    assert rest[: rest.index("matmul")] == [
        " [call] op=[aten::add.Tensor], key=[AutogradCPU]",
        "  [redispatch] op=[aten::add.Tensor], key=[CPU]",
    ]
    product, rest = rest[: rest.index("traced")], rest[rest.index("traced") + 1 :]
    product = product[product.index(" [call] op=[aten::matmul], key=[AutogradCPU]") :]
    assert product[:3] == [
        " [call] op=[aten::matmul], key=[AutogradCPU]",
        "  [call] op=[aten::dot], key=[AutogradCPU]",
        "   [redispatch] op=[aten::dot], key=[CPU]",
    ]
    assert " [call] op=[aten::exp], key=[AutogradCPU]" in rest
    assert done.stdout == run("0").stdout
    assert "('aten::exp', 'CPU')" in done.stdout


def test_otherwise_nothing_is_printed_and_the_entries_are_the_kernels() -> None:
    assert run("0").stderr.split() == ["add", "matmul", "traced"]
    assert not show.SHOWN
    assert registry.wrap is None
    with trace():
        assert registry.wrap is not None
    assert registry.wrap is None


def test_an_error_takes_the_indentation_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(show, "SHOWN", True)
    wrap = show.around(None)
    assert wrap is not None
    operator = registry.find("aten::mul.Tensor")
    resolution = registry.resolve(operator, key_set_of("CPU"))
    assert isinstance(resolution, Resolution)
    entry = wrap(operator, resolution)
    for _ in range(2):
        with pytest.raises(AttributeError):
            entry(key_set_of("CPU"), 3, 4)
    assert len(set(capsys.readouterr().err.splitlines())) == 1


@pytest.mark.parametrize(("text", "shown"), [("", False), ("0", False), ("1", True)])
def test_the_variable_says_whether(text: str, shown: bool) -> None:
    assert show.is_shown(text) is shown


def test_another_text_is_refused() -> None:
    with pytest.raises(ValueError, match="GLASSTORCH_SHOW_DISPATCH_TRACE='yes': expected 1"):
        show.is_shown("yes")

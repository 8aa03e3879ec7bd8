"""Is a fault that is planted in a stage of the compiler found there, and shown by few operators?"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch as torch
from glasstorch._inductor.compiler_bisector import BisectionResult, CompilerBisector, first_difference
from glasstorch.compiler import partition, substitutes
from glasstorch.compiler.decompositions import table
from glasstorch.compiler.loops import backend as own
from glasstorch.compiler.loops import lower

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")


def f(x: Any) -> Any:
    return torch.nn.functional.silu(x.sin() + 1).sum() * math.fabs(-1.0)


def ramp() -> Any:
    return torch.linspace(-2, 2, 6, requires_grad=True)


def check() -> bool:
    """Whether `f` gives what it should, forward and backward."""
    x, y = ramp(), ramp()
    wanted, found = f(x), torch.compile(f)(y)
    wanted.backward()
    found.backward()
    return torch.allclose(wanted, found, atol=1e-5) and torch.allclose(x.grad, y.grad, atol=1e-5)


def retargeted(module: Any, old: Any, new: Any) -> Any:
    """A traced module that calls another operator."""
    for node in module.graph.find_nodes(op="call_function", target=old):
        node.target = new
    module.recompile()
    return module


@pytest.fixture
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A fault in one stage, by name."""
    aten = torch.ops.aten
    if request.param == "capture":
        torch.compiler.substitute_in_graph(math.fabs, skip_signature_check=True)(lambda x: 2.0)
    elif request.param == "partition":
        cut = partition.default_partition

        def wrong_cut(joint: Any, inputs: Any, **options: Any) -> Any:
            forward, backward = cut(joint, inputs, **options)
            return forward, retargeted(backward, aten.cos.default, aten.sin.default)

        monkeypatch.setattr(partition, "default_partition", wrong_cut)
    elif request.param == "decomposition":
        monkeypatch.setitem(table.decomposition_table, aten.silu.default, lambda x: x * x.sigmoid() * 2)
        own.decompositions.cache_clear()
    elif request.param == "pattern":
        monkeypatch.setattr(own, "after_autograd", lambda m: retargeted(m, aten.sin.default, aten.cos.default))
    elif request.param == "lowering":
        made = lower.pointwise

        def wrong(build: Any, name: str, target: Any, arguments: Any, like: Any) -> Any:
            return made(build, "cos" if name == "sin" else name, target, arguments, like)

        monkeypatch.setattr(lower, "pointwise", wrong)
    yield request.param
    substitutes.forget(math.fabs)
    monkeypatch.undo()
    own.decompositions.cache_clear()


FOUND = {
    "nothing": None,
    "capture": BisectionResult("eager"),
    "partition": BisectionResult("aot_eager"),
    "decomposition": ("aot_eager_decomp_partition", "decomposition", "aten.silu.default"),
    "pattern": ("inductor", "post_grad_passes", "the patterns of a traced graph"),
    "lowering": ("inductor", "lowerings", "sin"),
}


@pytest.mark.parametrize("fault", FOUND, indirect=True)
def test_a_fault_is_found_in_its_stage(fault: str) -> None:
    found, wanted = CompilerBisector.do_bisect(check), FOUND[fault]
    if isinstance(wanted, tuple):
        assert (found.backend, found.subsystem, found.debug_info) == wanted
        assert found.bisect_number >= 1
    else:
        assert found == wanted
    assert torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)).item() == 2.0  # nothing is left behind


@pytest.mark.parametrize("fault", ["nothing", "capture"], indirect=True)
def test_results_and_gradients_are_compared(fault: str) -> None:
    x = ramp()
    found = first_difference(f, x)
    assert x.grad is None
    if fault == "nothing":
        assert found is None
        return
    assert found is not None
    assert (found.backend, found.graph) == ("eager", None)
    assert found.what.startswith("results differ: ")


@pytest.mark.parametrize("fault", ["decomposition"], indirect=True)
def test_of_sixty_operators_few_are_left(fault: str) -> None:
    def long(x: Any) -> Any:
        for i in range(30):
            x = (x * 0.9 + 0.1) if i != 17 else torch.nn.functional.silu(x) + i
        return x

    found = first_difference(long, torch.linspace(0, 1, 4))
    assert found is not None
    calls = [node for node in found.graph.graph.nodes if node.op.startswith("call")]
    assert 1 <= len(calls) <= 5
    assert any(node.target is torch.nn.functional.silu for node in calls)
    assert "step: decomposition 1 aten.silu.default" in str(found)


def test_errors_are_told() -> None:
    def fails(module: Any, inputs: Any) -> Any:
        raise KeyError("planted")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glasstorch.compiler.loops.backend.compile_fx", fails)
        found = first_difference(f, ramp())
    assert found is not None
    assert found.backend == "inductor"
    assert "planted" in found.what
    with pytest.raises(NotImplementedError, match="CompilerBisector: there is no command line"):
        CompilerBisector.do_bisect(lambda: True, cli_interface=True)

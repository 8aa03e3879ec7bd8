"""Do the functions of torch.compiler and torch._dynamo do what PyTorch's do?"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
import glasstorch._dynamo.test_case
import glasstorch._dynamo.testing
from glasstorch._dynamo.testing import (
    AotEagerAndRecordGraphs,
    CompileCounter,
    CompileCounterWithBackend,
    EagerAndRecordGraphs,
    InductorAndRecordGraphs,
    extract_graph,
    rand_strided,
    same,
    standard_test,
)
from glasstorch.compiler import substitutes
from glasstorch.compiler.loops import cache

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")


def test_a_function_is_captured_in_place_of_another_one() -> None:
    import _bisect

    def f(x: Any) -> Any:
        return x + _bisect.bisect_left([1, 3, 5], 3)

    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(f, backend="eager", fullgraph=True)(torch.ones(1))

    @torch.compiler.substitute_in_graph(_bisect.bisect_left, skip_signature_check=True)
    def bisect_left(items: Any, item: Any) -> int:
        return sum(1 for one in items if one < item)

    try:
        torch._dynamo.reset()
        assert torch.compile(f, backend="eager", fullgraph=True)(torch.ones(1)).item() == 2.0
        with pytest.raises(ValueError, match="Duplicate polyfill handlers for <built-in function bisect_left>"):
            torch.compiler.substitute_in_graph(_bisect.bisect_left, skip_signature_check=True)(bisect_left)
    finally:
        substitutes.forget(_bisect.bisect_left)
    with pytest.raises(TypeError, match="substitute_in_graph expects a function but got <class 'type'>"):
        torch.compiler.substitute_in_graph(int)
    with pytest.raises(TypeError, match="Signature mismatch between <built-in function bisect_left>"):
        torch.compiler.substitute_in_graph(_bisect.bisect_left)(lambda items: 0)


def test_functions_of_numpy_take_tensors() -> None:
    @torch.compiler.wrap_numpy
    def doubled(x: Any, *, by: int = 2) -> Any:
        assert isinstance(x, np.ndarray)
        return x * by, "a text"

    found, text = doubled(torch.ones(2), by=3)
    assert (found.tolist(), text) == ([3.0, 3.0], "a text")
    assert torch.compile(lambda x: doubled(x)[0] + 1, backend="eager")(torch.ones(1)).item() == 3.0


def test_guards_are_filtered_at_the_programs_own_risk() -> None:
    scale = torch.nn.Parameter(torch.ones(1))

    def f(x: Any, n: int) -> Any:
        return x * n * scale

    def compiled(guard_filter: Any) -> tuple[Any, set[str]]:
        run = torch.compile(f, backend="eager", dynamic=False, options={"guard_filter_fn": guard_filter})
        run(torch.ones(2), 3)
        return run, {guard.kind for guard in run._optimized.entries[0].captured.guards.all}

    run, kinds = compiled(torch.compiler.skip_all_guards_unsafe)
    assert kinds == set()
    assert run(torch.ones(2), 5).tolist() == [3.0, 3.0]  # which is unsafe
    _, kinds = compiled(torch.compiler.keep_tensor_guards_unsafe)
    assert kinds == {"TENSOR_MATCH"}
    seen: list[Any] = []
    compiled(lambda entries: [seen.append(entry) is None for entry in entries])
    (x,) = [entry for entry in seen if entry.name == "L['x']"]
    assert (x.has_value, x.guard_type, x.is_global) == (True, "TENSOR_MATCH", False)
    assert torch.equal(x.value, torch.ones(2))
    assert len(torch.compiler.skip_guard_on_globals_unsafe(seen)) == len(seen)
    with pytest.raises(AssertionError, match="must say one bool for each of"):
        compiled(lambda entries: [])


def test_guards_of_modules_are_left_out() -> None:
    class Own(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.inner(x)

    def classes(guard_filter: Any) -> set[str]:
        model = torch.compile(Own(), backend="eager", options={"guard_filter_fn": guard_filter})
        model(torch.ones(1, 2))
        guards = model._optimized.entries[0].captured.guards
        return {guard.expression.partition(" ")[0] for guard in guards.all}

    kept = classes(lambda entries: [True] * len(entries))
    without = classes(torch.compiler.skip_guard_on_all_nn_modules_unsafe)
    some = classes(torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe)
    assert without < some < kept
    assert any("training" in one for one in kept)
    assert not any("training" in one for one in without)
    assert len(classes(torch.compiler.keep_portable_guards_unsafe)) < len(kept)


def test_machine_code_is_saved_and_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    torch.compile(lambda x: x.exp() + 3)(torch.ones(7))
    kept = max(cache.used, key=lambda path: path.stat().st_mtime if path.exists() else 0.0)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / kept.name).write_bytes(kept.read_bytes())
    monkeypatch.setattr(cache, "used", cache.used | {tmp_path / "other" / kept.name})
    monkeypatch.setattr("glasstorch.compiler.loops.artifacts.used", cache.used)
    saved = torch.compiler.save_cache_artifacts()
    (tmp_path / "other" / kept.name).unlink()
    (tmp_path / "other").rmdir()
    assert saved is not None
    content, info = saved
    monkeypatch.setattr(cache, "cache_folder", lambda part: tmp_path)
    monkeypatch.setattr("glasstorch.compiler.loops.artifacts.folder", lambda: tmp_path)
    assert torch.compiler.load_cache_artifacts(b"nothing") is None
    assert torch.compiler.load_cache_artifacts(content[: len(content) // 2]) is None
    assert list(tmp_path.iterdir()) == []
    loaded = torch.compiler.load_cache_artifacts(content)
    assert loaded == info
    assert sorted(path.name for path in tmp_path.iterdir()) == info.machine_code_artifacts
    assert all(cache.is_whole(path) for path in tmp_path.iterdir())


def test_what_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="load_compiled_function: glasstorch compiles a function in the"):
        torch.compiler.load_compiled_function(None)
    with pytest.raises(NotImplementedError, match="set_enable_guard_collectives: glasstorch has no groups"):
        torch.compiler.set_enable_guard_collectives(True)
    assert torch.compiler.set_enable_guard_collectives(False) is False
    with pytest.raises(NotImplementedError, match=r"torch\._dynamo\.export: glasstorch does not export programs"):
        torch._dynamo.export(lambda x: x)
    with pytest.raises(NotImplementedError, match="mark_static_address: glasstorch has no guards of addresses"):
        torch._dynamo.mark_static_address(torch.ones(1), guard=True)
    with pytest.raises(NotImplementedError, match=r"torch\.compiler\.config\.job_id can only be None"):
        torch.compiler.config.job_id = "x"
    from glasstorch._dynamo.comptime import comptime

    assert comptime(lambda context: 1) is None
    with pytest.raises(NotImplementedError, match=r"comptime\.print_graph: glasstorch tells nothing of a capture"):
        comptime.print_graph()


def test_marks_that_change_nothing_leave_a_function_as_it_is() -> None:
    @torch.compiler.nested_compile_region
    def inner(x: Any) -> Any:
        return x * 2

    x = torch.ones(2)
    torch._dynamo.mark_static_address(x)
    assert torch.compile(lambda x: inner(x), backend="eager", fullgraph=True)(x).tolist() == [2.0, 2.0]
    with pytest.raises(NotImplementedError, match="nested_compile_region: glasstorch captures a region in each"):
        torch.compiler.nested_compile_region(inner, options=1)
    assert (torch._dynamo.is_compiling(), torch._dynamo.is_dynamo_supported()) == (False, True)


def test_backends_of_tests_count_and_keep_graphs() -> None:
    def f(x: Any) -> Any:
        y = x.sin()
        torch._dynamo.graph_break()
        return (y * 2 + 1).sum()

    counter = CompileCounter()
    torch.compile(f, backend=counter)(torch.ones(2))
    assert (counter.frame_count, counter.op_count) == (2, 4)
    counter.clear()
    assert (counter.frame_count, counter.op_count) == (0, 0)
    with_backend = CompileCounterWithBackend("aot_eager")
    torch.compile(f, backend=with_backend)(torch.ones(2))
    assert (with_backend.frame_count, len(with_backend.graphs)) == (2, 2)
    eager = EagerAndRecordGraphs()
    torch.compile(f, backend=eager)(torch.ones(2))
    assert [node.name for node in eager.graphs[0].graph.nodes if node.op == "call_method"] == ["y"]
    aot = AotEagerAndRecordGraphs()
    torch.compile(f, backend=aot)(torch.ones(2, requires_grad=True)).backward()
    assert (len(aot.graphs), len(aot.fw_graphs), len(aot.bw_graphs)) == (2, 2, 2)
    loops = InductorAndRecordGraphs()
    torch.compile(f, backend=loops)(torch.ones(2))
    assert (len(loops.graphs), len(loops.inductor_graphs)) == (2, 2)


def test_helpers_of_tests() -> None:
    result, graphs, forwards = extract_graph(lambda x: x.cos(), torch.zeros(2))
    assert (result.tolist(), len(graphs), len(forwards)) == ([1.0, 1.0], 1, 1)
    standard_test(None, lambda a, b: a / (torch.abs(a) + 1) * b, 2, expected_ops=4)
    assert rand_strided((2, 3), (1, 4)).stride() == (1, 4)
    assert same([torch.ones(1)], [torch.ones(1)])
    assert not same(torch.ones(1), torch.zeros(1))


class OfPyTorchsKind(glasstorch._dynamo.test_case.TestCase):
    """A test as PyTorch's own are written."""

    def test_counts(self) -> None:
        counter = CompileCounter()

        @torch._dynamo.optimize_assert(counter)
        def toy(a: Any, b: Any) -> Any:
            x = a / (torch.abs(a) + 1)
            return x * b

        for _ in range(4):
            self.assertEqual(toy(torch.ones(3), torch.ones(3)), torch.full((3,), 0.5))  # noqa: PT009
        self.assertEqual(counter.frame_count, 1)  # noqa: PT009
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("library", ["glasstorch", "torch"])
def test_explain_counts_functions_and_says_where(library: str, require: Any) -> None:
    t = require(library)
    __import__(f"{library}._dynamo")

    def f(x: Any) -> Any:
        y = x.sin() + 1
        print(end="")
        return t.cos(y * 2)

    found = t._dynamo.explain(f)(t.ones(2))
    assert (found.graph_count, found.graph_break_count, found.op_count) == (2, 1, 3)
    assert [len(ops) for ops in found.ops_per_graph] == [1, 2]
    (frame,) = found.break_reasons[0].user_stack
    assert (frame.filename, frame.lineno, frame.name) == (__file__, f.__code__.co_firstlineno + 2, "f")
    text = str(found)
    assert text.startswith("Graph Count: 2\nGraph Break Count: 1\nOp Count: 3\nBreak Reasons:\n  Break Reason 1:\n")
    assert f"    User Stack:\n      <FrameSummary file {__file__}, line {frame.lineno} in f>\nOps per Graph:" in text

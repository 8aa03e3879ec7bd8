"""Does each setting of the compiler change what it says, or refuse what it cannot do?"""

from __future__ import annotations

import logging
import sys
import unittest
from operator import attrgetter
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.compiler import partition_settings, settings
from glasstorch.compiler.loops import cache
from glasstorch.compiler.loops import settings as own
from glasstorch.compiler.loops.backend import CompiledFxGraph
from glasstorch.compiler.setting_table import Settings
from glasstorch.compiler.watching import watched_by

needs_bytecode = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only")
TABLES = [settings.settings, partition_settings.settings, own.settings]
DIFFER = {  # from PyTorch's values to begin with
    "specialize_float", "fallback_random", "fx_graph_remote_cache", "compile_threads", "enable_autograd_cache",
    "reorder_for_peak_memory",
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table._path))
def test_names_and_values_to_begin_with_are_pytorchs(table: Settings, require: Any) -> None:
    require("torch")
    theirs = __import__(table._path, fromlist=["config"])
    differ = {name for name, value in table.get_config_copy().items() if attrgetter(name)(theirs) != value}
    assert differ == DIFFER & table._table.keys()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table._path))
def test_a_value_that_nothing_stands_for_is_refused_by_name(table: Settings) -> None:
    fixed = [name for name, setting in table._table.items() if setting.only is not None]
    assert fixed
    for name in fixed:
        wrong = not table.value(name) if isinstance(table.value(name), bool) else "another"
        with pytest.raises(NotImplementedError, match=rf"{table._path}\.{name} can only be .* in glasstorch, not "):
            setattr(table, name, wrong)
        setattr(table, name, table.value(name))


def test_unknown_names_do_not_exist() -> None:
    for config in (torch._dynamo.config, torch._inductor.config, torch._functorch.config):
        path = config.__name__.replace("glasstorch", "torch")
        with pytest.raises(AttributeError, match=rf"{path}\.nothing does not exist"):
            config.nothing = 1
        with pytest.raises(AttributeError, match=rf"{path}\.nothing does not exist"):
            config.patch(nothing=1)
        with pytest.raises(AttributeError, match=rf"{path}\.nothing does not exist"):
            config.nothing  # noqa: B018


def test_patch_is_a_context_and_decorates_functions_and_classes_of_tests() -> None:
    config = torch._inductor.config
    with config.patch({"cpp.threads": 3}, size_asserts=False):
        assert (config.cpp.threads, config.size_asserts) == (3, False)
        with pytest.raises(NotImplementedError), config.patch(size_asserts=True, freezing=True):
            pass
        assert config.size_asserts is False
    assert (config.cpp.threads, config.size_asserts) == (-1, True)

    @config.patch("cpp.threads", 2)
    def decorated() -> int:
        """What it does."""
        return config.cpp.threads

    assert (decorated(), decorated(), decorated.__doc__, config.cpp.threads) == (2, 2, "What it does.", -1)

    @torch._dynamo.config.patch(recompile_limit=1)
    class Tests(unittest.TestCase):
        def test_limit(self) -> None:
            assert torch._dynamo.config.cache_size_limit == 1

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    assert (result.testsRun, result.wasSuccessful()) == (1, True)
    assert torch._dynamo.config.recompile_limit == 8


def test_options_of_compile_are_settings() -> None:
    with pytest.raises(RuntimeError, match=r"Unexpected optimization option nothing, known options are \['cpp.threads"):
        torch.compile(options={"nothing": 1})(lambda x: x)
    with pytest.raises(RuntimeError, match="Unexpected type of attr size_asserts, got int should be bool"):
        torch.compile(options={"size_asserts": 1})(lambda x: x)
    with pytest.raises(NotImplementedError, match=r"_inductor\.config\.max_autotune can only be False"):
        torch.compile(options={"max_autotune": True})(lambda x: x)
    assert set(torch._inductor.list_options()) >= {"cpp.threads", "max_autotune", "pattern_matcher"}
    assert torch._inductor.list_mode_options("reduce-overhead") == {"triton.cudagraphs": True}
    with pytest.raises(NotImplementedError, match=r"torch\._inductor\.aot_compile: glasstorch compiles a graph in"):
        torch._inductor.aot_compile(None, ())


def sources(fn: Any, *args: Any, **options: Any) -> list[str]:
    """The Python of the graphs of a call and of its backward pass."""
    found: list[str] = []

    def keep(stage: str, facts: dict[str, Any]) -> None:
        if stage == "loops":
            found.append(facts["compiled"].source_code)

    with watched_by(keep):
        torch.compile(fn, options=options)(*args).sum().backward()
    return found


@needs_bytecode
def test_size_asserts_and_threads_hold_for_both_passes() -> None:
    x = torch.ones(3, requires_grad=True)
    assert all("assert_size_stride(" in text for text in sources(torch.sin, x))
    without = sources(torch.sin, x, size_asserts=False)
    assert len(without) == 2
    assert not any("assert_size_stride(" in text for text in without)


@needs_bytecode
def test_threads_of_kernels() -> None:
    graph = torch.fx.experimental.proxy_tensor.make_fx(torch.sin, tracing_mode="fake")(torch.ones(4))
    assert CompiledFxGraph(graph).call.__globals__["threads"]() == torch.get_num_threads()
    with torch._inductor.config.patch({"cpp.threads": 1}):
        made = CompiledFxGraph(graph)
    assert made.call.__globals__["threads"]() == 1


@needs_bytecode
def test_the_pattern_matcher_can_be_turned_off() -> None:
    def twice(x: Any) -> Any:
        return x.t().t().sin()

    def nodes(**options: Any) -> list[str]:
        found: list[str] = []

        def keep(stage: str, facts: dict[str, Any]) -> None:
            if stage == "loops":
                found.extend(str(node.target) for node in facts["module"].graph.nodes if node.op == "call_function")

        with watched_by(keep), torch.no_grad():
            torch.compile(twice, options=options)(torch.ones(2, 3))
        return found

    assert "aten.sin.default" in nodes()
    assert len(nodes()) < len(nodes(pattern_matcher=False))


@needs_bytecode
def test_caches_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = cache.build
    monkeypatch.setattr(cache, "build", lambda text, *rest, **named: (built.append(text), build(text, *rest, **named)))
    graph = torch.fx.experimental.proxy_tensor.make_fx(torch.cos, tracing_mode="fake")(torch.ones(5))
    CompiledFxGraph(graph)
    built.clear()
    CompiledFxGraph(graph)
    assert built == []
    with torch._inductor.config.patch(force_disable_caches=True):
        CompiledFxGraph(graph)
    with torch._inductor.config.patch(fx_graph_cache=False):
        assert CompiledFxGraph(graph)([torch.zeros(5)])[0].round().tolist() == [1.0] * 5
    assert len(built) == 2


@needs_bytecode
def test_passes_of_the_program_change_graphs() -> None:
    seen: list[str] = []

    def to_cosine(graph: Any) -> None:
        seen.append("post")
        for node in graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
            node.target = torch.ops.aten.cos.default

    def note(name: str) -> Any:
        return lambda graph: seen.append(name)

    others = ("pre_grad_custom_pass", "joint_custom_pre_pass", "joint_custom_post_pass", "post_grad_custom_post_pass")
    run = torch.compile(torch.sin, options={name: note(name) for name in others})
    with torch._inductor.config.patch(post_grad_custom_pre_pass=to_cosine):
        assert run(torch.zeros(2, requires_grad=True)).round().tolist() == [1.0, 1.0]
    assert seen == [others[0], others[1], others[2], "post", others[3]]


@needs_bytecode
def test_errors_of_a_backend_can_be_suppressed_and_verbose(caplog: pytest.LogCaptureFixture) -> None:
    def fails(module: Any, inputs: Any) -> Any:
        raise KeyError("inside")

    def f(x: Any) -> Any:
        return x + 1

    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as told:
        torch.compile(f, backend=fails)(torch.ones(1))
    assert told.value.__cause__ is None
    with torch._dynamo.config.patch(verbose=True), pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as told:
        torch.compile(f, backend=fails)(torch.ones(1))
    assert isinstance(told.value.__cause__, KeyError)
    with torch._dynamo.config.patch(suppress_errors=True), caplog.at_level(logging.WARNING, "glasstorch._dynamo"):
        run = torch.compile(f, backend=fails)
        assert run(torch.ones(1)).item() == 2.0
        assert run(torch.ones(1)).item() == 2.0
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
            torch.compile(f, backend=fails, fullgraph=True)(torch.ones(1))
    assert caplog.text.count("runs as it is: backend='fails' raised") == 1

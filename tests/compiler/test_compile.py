"""Does torch.compile take what PyTorch's takes, and is what it gives used like the original?"""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch._dynamo import OptimizedModule, config, list_backends, lookup_backend
from tests.fx.test_against_torch import told

Require = Callable[[str], Any]


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    glasstorch.compiler.reset()
    yield
    glasstorch.compiler.reset()


def add_one(x: Any) -> Any:
    return x + 1


class Doubling:
    def __call__(self, x: Any) -> Any:
        return 2 * x

    def method(self, x: Any) -> Any:
        return 3 * x


class Counting:
    """A backend that keeps the graphs."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def __call__(self, module: Any, inputs: Any) -> Any:
        self.graphs.append(module)
        return module.forward


class TestWhatIsCompiled:
    @pytest.mark.parametrize("target", [add_one, Doubling(), Doubling().method, glasstorch.relu, Doubling.method])
    def test_any_callable(self, target: Any) -> None:
        args = (None, glasstorch.ones(2)) if target is Doubling.method else (glasstorch.ones(2),)
        backend = Counting()
        run = glasstorch.compile(target, backend=backend)
        for _ in range(2):
            assert glasstorch.equal(run(*args), target(*args))
        assert len(backend.graphs) == 1

    def test_a_decorator_with_and_without_options(self) -> None:
        @glasstorch.compile(backend="eager", fullgraph=True)
        def f(x: Any) -> Any:
            """What it says."""
            return x * 3

        assert (f.__name__, f.__doc__) == ("f", "What it says.")
        assert f(glasstorch.ones(2)).tolist() == [3, 3]
        assert f._torchdynamo_orig_callable is f.__wrapped__

    def test_what_was_compiled_is_compiled_anew_and_not_twice(self) -> None:
        first, second = Counting(), Counting()
        run = glasstorch.compile(glasstorch.compile(add_one, backend=first), backend=second)
        run(glasstorch.ones(2))
        assert (len(first.graphs), len(second.graphs)) == (0, 1)

    def test_a_compiled_function_inside_another_is_part_of_its_graph(self) -> None:
        inner, outer = Counting(), Counting()
        f = glasstorch.compile(add_one, backend=inner)
        run = glasstorch.compile(lambda x: f(x) * 2, backend=outer, fullgraph=True)
        assert run(glasstorch.ones(2)).tolist() == [4, 4]
        assert (len(inner.graphs), len(outer.graphs)) == (0, 1)

    def test_disabled_it_is_the_function(self) -> None:
        assert glasstorch.compile(add_one, disable=True) is add_one

    def test_a_class(self) -> None:
        class Net(glasstorch.nn.Module):
            def forward(self, x: Any) -> Any:
                return x * 5

        backend = Counting()
        kind = glasstorch.compile(Net, backend=backend)
        assert kind is Net
        assert kind()(glasstorch.ones(1)).tolist() == [5]
        assert len(backend.graphs) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t.compile(3, backend="eager"),
        lambda t: t.compile(add_one, backend="nope"),
        lambda t: t.compile(add_one, mode="nope"),
        lambda t: t.compile(add_one, mode="default", options={}),
        lambda t: t.compile(backend="eager")(None),
        lambda t: t.compiler.set_stance("force_eager", force_backend="eager"),
        lambda t: t.compiler.allow_in_graph(3),
        lambda t: t._dynamo.register_backend(3),
        lambda t: t.compiler.set_default_backend(3),
        lambda t: t._dynamo.config.nothing,
        lambda t: t.compile(add_one, backend=lambda module, inputs: 1 / 0)(t.ones(2)),
        lambda t: t._dynamo.lookup_backend("nope"),
        lambda t: t._dynamo.list_backends(),
        lambda t: sorted(t._inductor.list_mode_options()),
        lambda t: t._inductor.list_mode_options("max-autotune"),
        lambda t: t.compiler.get_default_backend(),
        lambda t: (t.compiler.is_compiling(), t.compiler.is_dynamo_compiling()),
    ],
)
def test_words_and_values_are_pytorchs(require: Require, use: Callable[[Any], object]) -> None:
    def said(t: Any) -> object:
        found = told(lambda: use(t))
        return str(found).partition("\n\nSet TORCHDYNAMO_VERBOSE")[0]

    assert said(glasstorch) == said(require("torch"))


class TestModules:
    def test_it_stands_for_the_original(self, require: Require) -> None:
        def seen(t: Any) -> object:
            t.manual_seed(0)
            net = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU())
            run = t.compile(net, backend="eager")
            run.eval()
            run.extra = 3
            seen = [
                repr(run),
                list(run.state_dict()),
                len(run),
                net.training,
                run.training,
                net.extra,
            ]
            del run.extra
            seen += [hasattr(net, "extra"), type(run).__name__, isinstance(run, t.nn.Module), run._orig_mod is net]
            seen += [[name for name, _ in run.named_parameters()], len(list(run.children())), "training" in dir(run)]
            run.train()
            run.load_state_dict(run.state_dict())
            return [*seen, net.training, t.equal(run(t.ones(1, 2)), net(t.ones(1, 2)))]

        assert seen(glasstorch) == seen(require("torch"))

    def test_hooks_run_and_parameters_learn(self) -> None:
        net = glasstorch.nn.Linear(2, 2)
        seen = []
        net.register_forward_hook(lambda module, args, result: seen.append(len(args)))
        net.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        backend = Counting()
        run = glasstorch.compile(net, backend=backend)
        x = glasstorch.ones(1, 2)
        run(x).sum().backward()
        assert seen == [1]
        assert len(backend.graphs) == 1
        assert net.weight.grad.tolist() == [[2, 2], [2, 2]]

    def test_compile_of_a_module_changes_its_call_and_nothing_else(self) -> None:
        net = glasstorch.nn.Linear(2, 2)
        backend = Counting()
        net.compile(backend=backend, fullgraph=True)
        assert glasstorch.equal(net(glasstorch.ones(2)), net.forward(glasstorch.ones(2)))
        assert len(backend.graphs) == 1
        assert list(net.state_dict()) == ["weight", "bias"]
        assert copy.deepcopy(net)._compiled_call_impl is None
        assert pickle.loads(pickle.dumps(net))._compiled_call_impl is None

    def test_a_lazy_module_gets_its_sizes_first(self) -> None:
        net = glasstorch.nn.LazyLinear(2)
        run = glasstorch.compile(net, backend="eager")
        assert run(glasstorch.ones(1, 3)).shape == (1, 2)
        assert net.weight.shape == (2, 3)

    def test_it_is_an_optimized_module(self) -> None:
        run = glasstorch.compile(glasstorch.nn.ReLU(), backend="eager")
        assert isinstance(run, OptimizedModule)
        with pytest.raises(TypeError, match="ReLU does not support len"):
            len(run)


class TestBackends:
    def test_a_backend_is_registered_once(self) -> None:
        backend = Counting()
        glasstorch._dynamo.register_backend(backend, name="counting_of_a_test", tags=["debug"])
        assert "counting_of_a_test" in list_backends(None)
        assert "counting_of_a_test" not in list_backends()
        glasstorch.compile(add_one, backend="counting_of_a_test")(glasstorch.ones(2))
        assert len(backend.graphs) == 1
        with pytest.raises(AssertionError, match="duplicate name"):
            glasstorch._dynamo.register_backend(backend, name="counting_of_a_test")

    def test_compilers_of_others_are_listed_and_refused(self) -> None:
        with pytest.raises(RuntimeError, match="the backend 'tvm' needs TVM, which glasstorch does not have"):
            glasstorch.compile(add_one, backend="tvm")(glasstorch.ones(2))

    def test_options_are_passed_on(self) -> None:
        seen = []

        def backend(module: Any, inputs: Any, **options: Any) -> Any:
            seen.append(options)
            return module.forward

        glasstorch.compile(add_one, backend=backend, mode="reduce-overhead")(glasstorch.ones(2))
        glasstorch.compile(add_one, backend=backend, options={"a": 1})(glasstorch.ones(2))
        assert seen == [{"mode": "reduce-overhead"}, {"options": {"a": 1}}]

    @pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "inductor"])
    def test_backends_give_gradients(self, backend: str) -> None:
        x = glasstorch.ones(2, requires_grad=True)
        compiled = glasstorch.compile(
            lambda x: (glasstorch.nn.functional.gelu(x) * x).sum(), backend=backend, fullgraph=True
        )
        compiled(x).backward()
        twin = glasstorch.ones(2, requires_grad=True)
        (glasstorch.nn.functional.gelu(twin) * twin).sum().backward()
        glasstorch.testing.assert_close(x.grad, twin.grad)

    def test_a_default_is_chosen(self) -> None:
        backend = Counting()
        glasstorch.compiler.set_default_backend(backend)
        try:
            glasstorch.compile(add_one)(glasstorch.ones(2))
        finally:
            glasstorch.compiler.set_default_backend(None)
        assert len(backend.graphs) == 1

    def test_every_backend_of_our_own_is_found(self) -> None:
        for name in list_backends(None):
            assert callable(lookup_backend(name))


class TestStance:
    def test_stances(self) -> None:
        backend = Counting()
        run = glasstorch.compile(add_one, backend=backend)
        with glasstorch.compiler.set_stance("force_eager"):
            run(glasstorch.ones(2))
        assert backend.graphs == []
        run(glasstorch.ones(2))
        with glasstorch.compiler.set_stance("eager_on_recompile"):
            assert run(glasstorch.ones(3)).tolist() == [2, 2, 2]
        with (
            glasstorch.compiler.set_stance("fail_on_recompile"),
            pytest.raises(RuntimeError, match=r"Detected recompile when torch\.compile stance is 'fail_on_recompile'"),
        ):
            run(glasstorch.ones(3))
        assert len(backend.graphs) == 1
        with glasstorch.compiler.set_stance(force_backend="eager"):
            run(glasstorch.ones(4))
        assert len(backend.graphs) == 1

    def test_a_decorator_and_a_call(self) -> None:
        backend = Counting()
        run = glasstorch.compile(add_one, backend=backend)

        @glasstorch.compiler.set_stance("force_eager")
        def eager() -> None:
            run(glasstorch.ones(2))

        eager()
        assert backend.graphs == []
        glasstorch.compiler.set_stance("force_eager")
        run(glasstorch.ones(2))
        glasstorch.compiler.set_stance("default")
        assert backend.graphs == []
        run(glasstorch.ones(2))
        assert len(backend.graphs) == 1


class TestSettings:
    def test_a_setting_is_patched(self) -> None:
        with config.patch(recompile_limit=3):
            assert config.cache_size_limit == 3
        with config.patch("recompile_limit", 4):
            assert config.recompile_limit == 4
        assert config.recompile_limit == 8

    def test_the_limit_is_kept_and_said_once(self, caplog: pytest.LogCaptureFixture) -> None:
        backend = Counting()
        run = glasstorch.compile(add_one, backend=backend, dynamic=False)
        for n in range(2, 14):
            assert run(glasstorch.ones(n)).shape == (n,)
        assert len(backend.graphs) == 8
        assert [record.getMessage().partition("\n")[0] for record in caplog.records] == [
            "torch._dynamo hit config.recompile_limit (8)"
        ]

    def test_a_function_that_must_be_one_graph_raises_at_the_limit(self) -> None:
        run = glasstorch.compile(add_one, backend="eager", fullgraph=True, recompile_limit=1, dynamic=False)
        run(glasstorch.ones(2))
        with pytest.raises(glasstorch._dynamo.exc.FailOnRecompileLimitHit):
            run(glasstorch.ones(3))


class TestMarks:
    def test_a_function_asks_whether_it_is_captured(self) -> None:
        run = glasstorch.compile(lambda x: x + 1 if glasstorch.compiler.is_compiling() else x, backend="eager")
        assert run(glasstorch.ones(1)).tolist() == [2]
        assert glasstorch.compiler.is_compiling() is False

    def test_a_disabled_function_is_not_captured(self) -> None:
        inside = glasstorch.compiler.disable(lambda x: x * 2 if not glasstorch.compiler.is_compiling() else x)
        run = glasstorch.compile(lambda x: inside(x) + 1, backend="eager")
        assert run(glasstorch.ones(1)).tolist() == [3]
        with pytest.raises(glasstorch._dynamo.exc.Unsupported, match=r"Skip calling `torch.compiler.disable\(\)`d"):
            glasstorch.compile(lambda x: inside(x) + 1, backend="eager", fullgraph=True)(glasstorch.ones(1))

    def test_a_function_that_stays_one_call(self) -> None:
        @glasstorch.compiler.allow_in_graph
        def whole(x: Any) -> Any:
            return x * 2 + 1

        backend = Counting()
        assert glasstorch.compile(lambda x: whole(x), backend=backend)(glasstorch.ones(1)).tolist() == [3]
        (graph,) = backend.graphs
        assert [node.target for node in graph.graph.nodes if node.op == "call_function"] == [whole]

    def test_a_constant_result(self) -> None:
        calls = []

        @glasstorch.compiler.assume_constant_result
        def number(n: int) -> int:
            calls.append(n)
            return n * 2

        run = glasstorch.compile(lambda x: x + number(3), backend="eager", fullgraph=True)
        assert [run(glasstorch.ones(1)).item() for _ in range(3)] == [7, 7, 7]
        assert calls == [3]


def test_what_is_counted() -> None:
    glasstorch.compile(lambda x: (x + 1) * 2, backend="eager")(glasstorch.ones(2))
    counters = glasstorch._dynamo.utils.counters
    assert counters["stats"] == {"calls_captured": 2, "unique_graphs": 1}
    assert counters["frames"] == {"total": 1, "ok": 1}


class TestFaultsOfTheCompiler:
    """What becomes of an error that is the capture's own, and not the program's."""

    @pytest.fixture(autouse=True)
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(self: Any, instruction: Any) -> None:
            raise AssertionError("the capture is wrong")

        monkeypatch.setattr("glasstorch.compiler.bytecode.frame.Frame._BINARY_OP", fail)

    @pytest.mark.parametrize("fullgraph", [False, True])
    def test_it_is_raised_as_one(self, fullgraph: bool) -> None:
        calls: list[int] = []

        def f(x: Any) -> Any:
            calls.append(1)
            return x + 1

        with pytest.raises(
            glasstorch._dynamo.exc.InternalTorchDynamoError, match="AssertionError: the capture is wrong"
        ):
            glasstorch.compile(f, fullgraph=fullgraph)(glasstorch.ones(1))
        assert calls == []

    def test_it_can_be_suppressed(self, caplog: pytest.LogCaptureFixture) -> None:
        compiled = glasstorch.compile(lambda x: x + 1)
        with glasstorch._dynamo.config.patch(suppress_errors=True), caplog.at_level("WARNING", "glasstorch._dynamo"):
            assert [compiled(glasstorch.ones(1)).item() for _ in range(2)] == [2, 2]
        assert [record.getMessage().endswith("the capture is wrong") for record in caplog.records] == [True]


def test_another_error_of_the_capture_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: Any, instruction: Any) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("glasstorch.compiler.bytecode.frame.Frame._BINARY_OP", fail)
    with caplog.at_level("WARNING", "glasstorch._dynamo"):
        assert glasstorch.compile(lambda x: x + 1)(glasstorch.ones(1)).item() == 2
    assert caplog.records[0].getMessage().endswith("runs as it is: KeyError: 'lost'")
    with pytest.raises(glasstorch._dynamo.exc.InternalTorchDynamoError, match="KeyError: 'lost'"):
        glasstorch.compile(lambda x: x + 1, fullgraph=True)(glasstorch.ones(1))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.size(5), lambda x: x.dim(1), lambda x: {[]: x}, lambda x: len(x, x), lambda x: list(3),
        lambda x: glasstorch.set_grad_enabled(), lambda x: x.view(7),
    ],
)  # fmt: skip
def test_errors_of_programs_are_theirs(program: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Exception) as expected:
        program(glasstorch.ones(1))
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value))), caplog.at_level("WARNING"):
        glasstorch.compile(program)(glasstorch.ones(1))
    assert not caplog.records


def test_an_error_of_the_program_is_raised_as_it_is() -> None:
    def f(x: Any) -> Any:
        assert x.shape[0] == 1, "one row"
        return x.view(7)

    compiled = glasstorch.compile(f)
    with pytest.raises(AssertionError, match="one row"):
        compiled(glasstorch.ones(2))
    with pytest.raises(RuntimeError, match="shape '\\[7\\]' is invalid"):
        compiled(glasstorch.ones(1))

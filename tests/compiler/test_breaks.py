"""Where a graph ends early, does the function go on as it would have, in as many graphs as PyTorch makes?"""

from __future__ import annotations

import copy
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from types import CodeType
from typing import Any

import pytest

import glasstorch
from tests.compiler import broken
from tests.compiler.broken import Program
from tests.compiler.broken_blocks import BLOCKS

Require = Callable[[str], Any]
PROGRAMS = broken.PROGRAMS | BLOCKS
# PyTorch runs the whole function as it is: it goes back to an instruction with an empty stack, and there is no graph.
OURS_GOES_ON = {"not_of_a_tensor": [2], "context_from_outside": [3, 4]}
# PyTorch cuts them and gives another answer: the mode of gradients, or the name of a block's context, is lost.
OURS_RUNS_AS_IT_IS = ("context_used_twice", "context_with_a_name", "mode_set_in_a_block")


def run_in(t: Any, make: Program) -> tuple[list[int], int, Any]:
    """The operators of each graph, the number of breaks, and what the function gave."""
    function, *args = make(t)
    graphs: list[int] = []

    def backend(module: Any, inputs: Any) -> Any:
        graphs.append(sum(node.op.startswith("call") for node in module.graph.nodes))
        return module.forward

    t.compiler.reset()
    counters = t._dynamo.utils.counters
    counters.clear()
    t.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says what it does not know
        result = t.compile(function, backend=backend, dynamic=False)(*args)
    t.set_grad_enabled(True)  # see below: PyTorch may have lost it
    branches = [count for why, count in counters["unimplemented"].items() if _is_branch(why)]
    return graphs, sum(counters["graph_break"].values()) + sum(branches), result


def _is_branch(why: str) -> bool:
    return why.startswith(("Data-dependent branching", "a branch on a tensor"))


@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_graphs_and_breaks_are_as_many_as_pytorchs(require: Require, make: Program) -> None:
    torch = require("torch")
    ours, theirs = run_in(glasstorch, make)[:2], run_in(torch, make)[:2]
    if make.__name__ in OURS_RUNS_AS_IT_IS:
        assert ours == ([], 0)
        return
    assert ours[0] == OURS_GOES_ON.get(make.__name__, theirs[0])
    if make.__name__ not in OURS_GOES_ON:
        assert ours[1] == theirs[1]


# One reason of PyTorch's is another one of ours: it asks bool() for an item; it looks into the frame before.
OTHER_REASONS = ("bool_of_a_tensor", "not_of_a_tensor", "context_from_outside", *OURS_RUNS_AS_IT_IS)


@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_reasons_are_of_pytorchs_kinds(require: Require, make: Program) -> None:
    torch = require("torch")
    function, *args = make(glasstorch)
    glasstorch.compiler.reset()
    breaks = glasstorch._dynamo.explain(function)(*args).break_reasons
    ours = sorted(str(reason.kind) for reason in breaks if reason.graph_break)
    run_in(torch, make)
    counters = torch._dynamo.utils.counters
    theirs = [*counters["graph_break"].elements(), *filter(_is_branch, counters["unimplemented"].elements())]
    kinds = sorted(why.partition("\n")[0] for why in theirs)
    assert (ours == kinds) is (make.__name__ not in OTHER_REASONS), (ours, kinds)


def shown(value: Any) -> Any:
    if isinstance(value, glasstorch.Tensor):
        return value.tolist(), value.requires_grad
    if isinstance(value, list | tuple):
        return type(value).__name__, [shown(item) for item in value]
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_results_and_effects_are_the_functions(make: Program) -> None:
    glasstorch.manual_seed(0)
    function, *args = make(glasstorch)
    again = copy.deepcopy(args)
    expected = shown(function(*again))
    glasstorch.compiler.reset()
    compiled = glasstorch.compile(function, backend="eager")
    for _ in range(2):
        given = copy.deepcopy(args)
        assert shown(compiled(*given)) == expected
        assert shown(given) == shown(again)


class TestWhatGoesOn:
    def test_the_rest_is_named_as_pytorch_names_it(self) -> None:
        names: list[str] = []

        def f(x: Any) -> Any:
            y = x + 1
            names.append(sys._getframe().f_code.co_name)
            return y

        def g(x: Any) -> Any:
            y = x + 1
            print(end="")
            return y + int("no number")

        line = g.__code__.co_firstlineno + 2
        with pytest.raises(ValueError, match="no number") as raised:
            glasstorch.compile(g, backend="eager")(glasstorch.ones(1))
        called = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
        assert called[-1] == f"torch_dynamo_resume_in_g_at_{line}"
        assert glasstorch.compile(f, backend="eager")(glasstorch.ones(1)).item() == 2
        assert names == ["f"]  # what asks for its frame is not cut in two

    def test_an_error_of_the_instruction_names_the_line_of_the_program(self) -> None:
        def f(x: Any) -> Any:
            y = x + 1
            open("/no/such/file")  # noqa: SIM115
            return y

        with pytest.raises(FileNotFoundError) as raised:
            glasstorch.compile(f, backend="eager")(glasstorch.ones(1))
        last = traceback.extract_tb(raised.value.__traceback__)[-1]
        assert (last.name, last.lineno) == ("f", f.__code__.co_firstlineno + 2)

    def test_graphs_are_used_again(self) -> None:
        graphs = []

        def backend(module: Any, inputs: Any) -> Any:
            graphs.append(module)
            return module.forward

        def f(x: Any) -> Any:
            if x.sum() > 0:
                return x * 2
            return x - 1

        compiled = glasstorch.compile(f, backend=backend)
        for sign in (1, -1, 1, -1):
            x = glasstorch.ones(2) * sign
            assert glasstorch.equal(compiled(x), f(x))
        assert len(graphs) == 3

    def test_super_and_locals_are_not_torn_apart(self) -> None:
        class Base:
            def run(self, x: Any) -> Any:
                return x * 2

        class Derived(Base):
            def run(self, x: Any) -> Any:
                print(end="")
                return super().run(x) + len(locals())

        expected = Derived().run(glasstorch.ones(1))
        assert glasstorch.equal(glasstorch.compile(Derived().run, backend="eager")(glasstorch.ones(1)), expected)

    def test_a_program_that_fails_after_a_break_has_done_what_it_did(self) -> None:
        def f(x: Any, seen: list[Any]) -> Any:
            seen.append(1)
            print(end="")
            seen.append(2)
            raise ValueError("after")

        seen: list[Any] = []
        with pytest.raises(ValueError, match="after"):
            glasstorch.compile(f, backend="eager")(glasstorch.ones(1), seen)
        assert seen == [1, 2]

    def test_gradients_flow_through_a_break(self) -> None:
        x = glasstorch.ones(3, requires_grad=True)

        def f(x: Any) -> Any:
            y = x * x
            print(end="")
            return (y * 3).sum()

        for backend in ("eager", "aot_eager"):
            x.grad = None
            glasstorch.compile(f, backend=backend)(x).backward()
            assert x.grad.tolist() == [6, 6, 6]

    def test_what_is_called_there_is_compiled_too(self) -> None:
        seen = []

        def inner(x: Any) -> Any:
            seen.append(glasstorch.compiler.is_compiling())
            print(end="")
            return x

        class Net(glasstorch.nn.Module):
            def forward(self, x: Any) -> Any:
                print(end="")
                return x * 2

        net = Net()
        graphs = []

        def backend(module: Any, inputs: Any) -> Any:
            graphs.append(module)
            return module.forward

        compiled = glasstorch.compile(lambda x: net(inner(x)) + 1, backend=backend)
        assert compiled(glasstorch.ones(1)).item() == 3
        assert seen == [True]
        assert len(graphs) == 2

    def test_fullgraph_refuses(self) -> None:
        def f(x: Any) -> Any:
            print(end="")
            return x

        with pytest.raises(glasstorch._dynamo.exc.Unsupported, match=r"print.*test_breaks.py:\d+ in f"):
            glasstorch.compile(f, backend="eager", fullgraph=True)(glasstorch.ones(1))

    def test_functions_that_are_made_anew_do_not_pile_up(self) -> None:
        def f(x: Any) -> Any:
            def inner(y: Any) -> Any:
                print(end="")
                return y + x

            return inner(x)

        compiled = glasstorch.compile(f, backend="eager")
        with glasstorch._dynamo.config.patch(accumulated_recompile_limit=5):
            for _ in range(12):
                assert compiled(glasstorch.ones(1)).item() == 2
        assert len(compiled._optimized.of.parts) <= 8


def test_code_of_the_rest_is_that_of_the_function() -> None:
    from glasstorch.compiler.bytecode.assembled import Place, resume_code
    from glasstorch.compiler.bytecode.instructions import instructions_of
    from glasstorch.compiler.bytecode.liveness import live

    def f(x: int, y: int) -> int:
        total = 0
        for i in range(x):
            total += i
        return total + y

    code: CodeType = f.__code__
    (start,) = [n for n, i in enumerate(instructions_of(code)) if i.name == "LOAD_GLOBAL"]
    assert live(code, start) == ("x", "y", "total")
    rest = resume_code(Place(code, 3, start, (), live(code, start)))
    assert rest.co_varnames[:3] == ("x", "y", "total")
    assert type(f)(rest, {})(4, 10, 100) == 116


# What PyTorch knows of the state of the library and guards in every graph; that no tensor comes twice it does not list.
EVERYWHERE = {
    "SHAPE_ENV", "DETERMINISTIC_ALGORITHMS", "GRAD_MODE", "DEFAULT_DEVICE", "GLOBAL_STATE", "TORCH_FUNCTION_STATE",
    "AUTOGRAD_SAVED_TENSORS_HOOKS", "NO_TENSOR_ALIASING",
}  # fmt: skip
# Where guards are others than PyTorch's, and why.
OTHER_GUARDS = dict.fromkeys(
    ["explicit_break", "disabled", "callee_with_a_break", "callee_called_twice", "deep_callee"],
    "a variable of an outer function is guarded in the rest of the function, too, where it is not used any more",
) | {
    "not_of_a_tensor": "there is no graph in PyTorch",
    "break_in_an_argument": "torch.add is a builtin of PyTorch, and a Python function here",
    "closure_goes_on": "variables that functions share are guarded to be one",
    "nested_functions_stay": "variables that functions share are guarded to be one",
    "keyword_arguments": "the keys of a dict are guarded, all of them",
    "subscript_after_a_break": "the keys of a dict are guarded, all of them",
    "variable_arguments": "all items of a tuple are guarded, when one is used",
    "module_with_a_break": "modules are guarded by their identity",
    "random_number": "a method is guarded by its function and by the class of its object",
}


@pytest.mark.parametrize("make", broken.PROGRAMS.values(), ids=broken.PROGRAMS)
def test_guards_have_pytorchs_kinds_and_sources(require: Require, make: Program) -> None:
    def guards(t: Any, kind: str, place: str) -> list[tuple[str, str]]:
        function, *args = make(t)
        t.compiler.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = t._dynamo.explain(function)(*args).out_guards
        pairs = [(_value(getattr(guard, kind)), getattr(guard, place)) for guard in found]
        return sorted((name, NUMBERED.sub("", where)) for name, where in pairs if name not in EVERYWHERE)

    ours = guards(glasstorch, "kind", "source")
    theirs = guards(require("torch"), "create_fn_name", "name")
    assert (ours == theirs) is (make.__name__ not in OTHER_GUARDS), (ours, theirs)


NUMBERED = re.compile(r"(?<=__builtins_dict__)_\d+")  # PyTorch numbers the tables


def _value(found: Any) -> Any:
    return found() if callable(found) else found


class TestBlocks:
    """What becomes of a mode of the library where a graph ends inside of its block."""

    def test_what_runs_as_it_is_runs_in_the_mode(self) -> None:
        seen: list[bool] = []

        class Watching:
            def __str__(self) -> str:
                seen.append(glasstorch.is_grad_enabled())
                return ""

        watching = Watching()

        def f(x: Any) -> Any:
            with glasstorch.no_grad():
                y = x * 2
                print(watching, end="")
                y = y + 1
            return y * x

        x = glasstorch.ones(2, requires_grad=True)
        assert glasstorch.compile(f, backend="eager")(x).requires_grad
        assert seen == [False]
        assert glasstorch.is_grad_enabled()

    def test_an_error_ends_the_blocks(self) -> None:
        def f(x: Any, text: str) -> Any:
            with glasstorch.no_grad():
                y = x * 2
                with glasstorch.autocast("cpu"):
                    print(end="")
                    n = int(text)
                    print(end="")
                    if n > 3:
                        raise ValueError("large")
            return y * n

        compiled = glasstorch.compile(f, backend="eager")
        assert compiled(glasstorch.ones(1), "2").item() == 4
        for text, message in (("a", "invalid literal"), ("4", "large")):
            with pytest.raises(ValueError, match=message):
                compiled(glasstorch.ones(1), text)
            assert glasstorch.is_grad_enabled()
            assert not glasstorch.is_autocast_enabled("cpu")

    def test_the_function_is_cut_in_each_block(self) -> None:
        def f(x: Any) -> Any:
            with glasstorch.no_grad():
                y = x * 2
                with glasstorch.enable_grad(), glasstorch.autocast("cpu", dtype=glasstorch.bfloat16):
                    print(end="")
                    z = x @ x
                    print(end="")
                print(end="")
                y = y + z
            return y, z, glasstorch.is_grad_enabled()

        x = glasstorch.ones(2, 2, requires_grad=True)
        compiled = glasstorch.compile(f, backend="eager")
        assert shown(compiled(x)) == shown(f(x))
        assert [reason.graph_break for reason in compiled._optimized.breaks] == [True] * 3


def test_variables_of_the_rest_may_have_any_name() -> None:
    names: dict[str, Any] = {}
    exec("def f(x):\n    py_assert = x + 1\n    print(end='')\n    return py_assert * 2", names)
    code = names["f"].__code__
    names["f"].__code__ = code.replace(co_varnames=("x", "@py_assert"))  # as pytest writes assertions
    compiled = glasstorch.compile(names["f"], backend="eager")
    assert compiled(glasstorch.ones(1)).item() == 4
    assert [reason.graph_break for reason in compiled._optimized.breaks] == [True]

"""Is what Python's own language does captured: classes, errors that are caught, `with`, generators, its modules?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch._dynamo import Unsupported, optimize
from tests.compiler.bytecode import python_programs
from tests.compiler.bytecode.test_capture import graphs_of

Require = Callable[[str], Any]

# What PyTorch 2.13 does not capture as one graph, by the function's name, and why.
NOT_IN_PYTORCH = {
    "classes": "functools.cached_property takes a lock",
    "operators": "an object is made with a list of tensors in a class variable's name",
    "raised": "super().__init__ of an exception",
    "managers": "super().__init__ of an exception",
    "unset": "a variable that is not set",
    "arguments": "arguments that do not fit",
    "generators": "a generator that is closed",
}


def shown(value: Any) -> str:
    """A value as text."""
    if hasattr(value, "tolist"):
        return f"tensor {value.dtype} {value.requires_grad} {value.tolist()}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if isinstance(value, dict):
        return f"{type(value).__name__}({', '.join(f'{key}: {shown(item)}' for key, item in value.items())})"
    return repr(value)


def whole(function: Callable[..., Any]) -> Callable[..., Any]:
    return optimize(lambda module, inputs: module.forward, nopython=True)(function)  # type: ignore[no-any-return]


@pytest.mark.parametrize("program", python_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_what_python_does_is_captured(program: Callable[..., Any]) -> None:
    x = glasstorch.ones(2, 2)
    expected = shown(program(glasstorch, x))
    run = whole(program)
    assert [shown(run(glasstorch, x)), shown(run(glasstorch, x))] == [expected] * 2
    assert x.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("program", python_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_the_graph_is_pytorchs(require: Require, program: Callable[..., Any]) -> None:
    torch = require("torch")

    def steps(t: Any) -> list[str]:
        graphs, _ = graphs_of(t, lambda t: (lambda x: program(t, x), t.ones(2, 2)), whole=True)
        pretty = t.fx.Node._pretty_print_target
        return [f"{n.op} {pretty(n.target)}" for g in graphs for n in g.graph.nodes if n.op != "placeholder"]

    ours = steps(glasstorch)
    if program.__name__ in NOT_IN_PYTORCH:
        with pytest.raises(Exception, match=r"\w"):
            steps(torch)
    else:
        assert ours == steps(torch)


# Modes -----------------------------------------------------------------------------------------------------------


def without_gradients(t: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        with t.no_grad():
            y = x * 2
            with t.enable_grad():
                z = x * 3
        return y + 1, z, y * x

    return function


def in_another_mode(t: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        y = x * 2
        t.set_grad_enabled(False)
        z = y * 2
        t.set_grad_enabled(True)
        with t.set_grad_enabled(False):
            w = x * 5
        with t.no_grad(), t.no_grad():
            pass
        return y, z, w, x * 6

    return function


def inferring(t: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        with t.inference_mode():
            y = x * 2
        return y, x + 1

    return function


def cast(t: Any) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        with t.autocast("cpu", dtype=t.bfloat16):
            y = x @ x
            with t.autocast("cpu", enabled=False):
                z = x @ x
        return y, z, x @ x

    return function


def decorated(t: Any) -> Callable[..., Any]:
    @t.no_grad()  # type: ignore[untyped-decorator]
    def inner(x: Any) -> Any:
        return x * 2

    return lambda x: (inner(x), x * 3)


def left_early(t: Any) -> Callable[..., Any]:
    def inner(x: Any) -> Any:
        for i in range(3):
            with t.no_grad():
                if i == 1:
                    return x * i
        return x

    def function(x: Any) -> Any:
        try:
            with t.no_grad():
                raise KeyError("k")
        except KeyError:
            y = x * 3
        return inner(x), y, t.is_grad_enabled()

    return function


MODES = (without_gradients, in_another_mode, inferring, cast, decorated, left_early)


@pytest.mark.parametrize("make", MODES, ids=lambda make: make.__name__)
def test_a_mode_holds_in_its_block(require: Require, make: Callable[[Any], Callable[..., Any]]) -> None:
    torch = require("torch")

    def steps(t: Any) -> list[str]:
        graphs, result = graphs_of(t, lambda t: (make(t), t.ones(2, 2, requires_grad=True)), whole=True)
        pretty = t.fx.Node._pretty_print_target
        nodes = [n for g in graphs for n in g.graph.nodes if n.op != "placeholder"]
        return [shown(result), *(f"{n.op} {pretty(n.target)} {n.args}" for n in nodes)]

    x = glasstorch.ones(2, 2, requires_grad=True)
    expected = shown(make(glasstorch)(x))
    ours = steps(glasstorch)
    assert ours[0] == expected
    assert ours == steps(torch)
    assert glasstorch.is_grad_enabled()


def test_a_mode_that_a_function_leaves_set_stays_set() -> None:
    def function(x: Any) -> Any:
        glasstorch.set_grad_enabled(False)
        return x * 2

    with glasstorch.enable_grad():
        run = whole(function)
        assert not run(glasstorch.ones(2, requires_grad=True)).requires_grad
        assert not glasstorch.is_grad_enabled()


def test_a_capture_that_ends_early_leaves_the_modes_as_they_were() -> None:
    def function(x: Any) -> Any:
        with glasstorch.no_grad(), glasstorch.inference_mode(), glasstorch.autocast("cpu"):
            return x if x.sum() > 0 else -x

    with pytest.raises(Unsupported, match="a branch on a tensor"):
        whole(function)(glasstorch.ones(2))
    assert glasstorch.is_grad_enabled()
    assert not glasstorch.is_inference_mode_enabled()
    assert not glasstorch.is_autocast_enabled("cpu")


# Errors ----------------------------------------------------------------------------------------------------------


def test_an_error_that_leaves_the_function_is_the_programs_own() -> None:
    def function(x: Any, seen: list[int]) -> Any:
        seen.append(1)
        try:
            raise python_programs.MyError(4)
        finally:
            seen.append(2)

    seen: list[int] = []
    run = optimize(lambda module, inputs: module.forward)(function)
    for _ in range(2):
        with pytest.raises(python_programs.MyError, match="mine") as caught:
            run(glasstorch.ones(1), seen)
        assert caught.value.code == 4
    assert seen == [1, 2, 1, 2]


def test_an_operators_error_is_caught_by_the_function_itself() -> None:
    def function(x: Any) -> Any:
        try:
            return x.view(7)
        except RuntimeError as error:
            return x + 1, str(error)

    run = optimize(lambda module, inputs: module.forward)(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert shown(run(glasstorch.ones(2))) == shown(function(glasstorch.ones(2)))


def test_an_error_that_depends_on_elements_is_handled_as_by_the_function() -> None:
    def function(x: Any, index: Any, seen: list[Any]) -> Any:
        seen.append(len(seen))
        try:
            with glasstorch.no_grad():
                y = x[index]
        except IndexError as error:
            seen.append(str(error))
            return x * 0
        return y

    def unhandled(x: Any, index: Any, seen: list[Any]) -> Any:
        seen.append(len(seen))
        with glasstorch.no_grad():
            return x[index]

    def told(run: Callable[..., Any], seen: list[Any]) -> list[str]:
        found = []
        for place in (0, 7, 1):
            try:
                found.append(shown(run(glasstorch.ones(2), glasstorch.tensor([place]), seen)))
            except IndexError as error:
                found.append(str(error))
            found.append(f"{seen} {glasstorch.is_grad_enabled()}")
        return found

    for plain in (function, unhandled):
        assert told(whole(plain), []) == told(plain, [])


def test_a_generator_that_would_run_on_is_refused() -> None:
    def numbers(log: list[int]) -> Any:
        try:
            yield 1
            yield 2
        finally:
            log.append(3)

    def function(x: Any, log: list[int]) -> Any:
        return x + next(numbers(log))

    log: list[int] = []
    run = optimize(lambda module, inputs: module.forward)(function)
    assert run(glasstorch.ones(1), log).item() == 2
    assert log == [3]
    with pytest.raises(Unsupported, match="a generator that is not at its end"):
        whole(function)(glasstorch.ones(1), log)

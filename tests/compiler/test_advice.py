"""Does an error say what can be done about it, and are errors about arguments Python's own?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

Require = Callable[[str], Any]


class TestAdvice:
    def test_an_error_has_pytorchs_heading_with_an_explanation_and_hints(self, require: Require) -> None:
        def f(x: Any) -> Any:
            return x * 2 if x.sum() > 0 else x

        def lines(t: Any) -> list[str]:
            with pytest.raises(t._dynamo.exc.Unsupported) as raised:
                t.compile(f, backend="eager", fullgraph=True)(t.ones(1))
            return str(raised.value).splitlines()

        ours, theirs = lines(glasstorch), lines(require("torch"))
        assert ours[0] == theirs[0] == "Data-dependent branching"
        for beginning in ("  Explanation: ", "  Hint: ", "  Developer debug context: "):
            assert any(line.startswith(beginning) for line in ours)
            assert any(line.startswith(beginning) for line in theirs)
        assert ours[-1].endswith(f"{__file__}:{f.__code__.co_firstlineno + 1} in f)")

    def test_each_kind_has_advice(self) -> None:
        from glasstorch.compiler.reasons import ADVICE, KINDS

        kinds = {kind for _, kind in KINDS}
        own = {kind for kind in kinds if kind not in ADVICE}
        assert own == {  # whose names say what to do
            "Unsupported Tensor.requires_grad_() call", "Tensor.retain_grad() with AOTDispatcher",
            "Attempted to use tensor creation function with requires_grad=True",
            "Shape mismatch with out= tensor variant",
        }  # fmt: skip

    def test_explain_and_logs_give_hints(self, capsys: pytest.CaptureFixture[str]) -> None:
        def f(x: Any) -> Any:
            print(end="")
            return x + 1

        glasstorch._logging.set_logs(graph_breaks=True)
        try:
            text = str(glasstorch._dynamo.explain(f)(glasstorch.ones(1)))
        finally:
            glasstorch._logging.set_logs()
        hint = "Hint: Call it before or after the function that is compiled."
        assert hint in text
        assert f"[graph_breaks]   {hint}" in capsys.readouterr().err.splitlines()


def with_defaults(a: int, /, b: int, c: int = 1, *, d: int, e: int = 2) -> int:
    return a + b + c + d + e


variable = lambda x: x  # noqa: E731
keyword = lambda *args, key: key  # noqa: E731


class Owner:
    def method(self, a: int) -> int:
        return a


@pytest.mark.parametrize(
    "call",
    [
        lambda: with_defaults(), lambda: with_defaults(1, d=1), lambda: with_defaults(1, 2),
        lambda: with_defaults(1, 2, 3, 4, d=1), lambda: with_defaults(1, 2, d=1, f=3),
        lambda: with_defaults(a=1, b=2, d=3),
        lambda: with_defaults(1, 2, b=3, d=1), lambda: Owner().method(), lambda: Owner().method(1, 2),
        lambda: variable(), lambda: variable(1, 2), lambda: keyword(1), lambda: keyword(),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_raise_pythons_own_error(call: Callable[[], Any]) -> None:
    """Also where the program catches it, so that it is the capture's text."""

    def f(x: Any) -> Any:
        try:
            call()
        except TypeError as error:
            return x, str(error)

    with pytest.raises(TypeError) as expected:
        call()
    found = glasstorch.compile(f, backend="eager", fullgraph=True)(glasstorch.ones(1))
    assert found[1] == str(expected.value)


def test_the_compiled_function_itself_says_which_argument_is_missing() -> None:
    for fn in (with_defaults, Owner.method):
        with pytest.raises(TypeError) as expected:
            fn()
        with pytest.raises(TypeError) as found:
            glasstorch.compile(fn, backend="eager")()
        assert str(found.value) == str(expected.value)

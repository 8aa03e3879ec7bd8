"""Does a backward pass that fails tell which line of the forward pass is to blame?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch

TRACEBACK = "Traceback of forward call that caused the error:\n"


@pytest.fixture(autouse=True)
def off_again(torch: Any) -> Iterator[None]:
    yield
    torch.set_anomaly_enabled(False)


def told(call: Callable[[], Any], refused: type[Exception] = RuntimeError) -> tuple[str, list[str]]:
    """What a call that fails says, and what it warned of before."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(refused) as error:
            call()
    return str(error.value), [str(warning.message) for warning in seen]


def root_of_zero(torch: Any) -> Any:
    return torch.sqrt(torch.zeros(1, requires_grad=True)) * 0


def test_nan_is_refused_and_the_line_of_the_node_is_shown(torch: Any) -> None:
    torch.autograd.set_detect_anomaly(True)
    error, warned = told(root_of_zero(torch).backward)
    assert error.startswith("Function 'SqrtBackward0' returned nan values in its 0th output.")
    assert warned[0].startswith("Error detected in SqrtBackward0. " + TRACEBACK)
    assert "    return torch.sqrt(torch.zeros(1, requires_grad=True)) * 0\n" in warned[0]


def test_a_node_made_before_has_no_line(torch: Any) -> None:
    y = root_of_zero(torch)
    torch.autograd.set_detect_anomaly(True)
    _, warned = told(y.backward)
    assert warned[0].startswith(
        "Error detected in SqrtBackward0. No forward pass information available. Enable detect anomaly during forward "
        "pass for more information."
    )


def test_nan_passes_where_it_is_not_looked_for(torch: Any) -> None:
    x = torch.zeros(1, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
        (x.sqrt() * 0).backward()
    assert x.grad.isnan().all()
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)


def test_the_context_warns_and_puts_the_mode_back(torch: Any) -> None:
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = torch.autograd.detect_anomaly(check_nan=False)
    assert not torch.is_anomaly_enabled()
    with mode:
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)


@pytest.mark.parametrize("which", ["set_anomaly_enabled", "set_detect_anomaly"])
def test_what_is_no_bool_is_refused_and_the_mode_stays_as_it_is(torch: Any, which: str) -> None:
    function = getattr(torch.autograd if which == "set_detect_anomaly" else torch, which)
    for arguments, name in (((torch.ones(2),), "'enabled'"), ((True, 1), "'check_nan'")):
        with pytest.raises(TypeError, match=rf"argument {name} .*must be bool, not (Tensor|int)"):
            function(*arguments)
    assert not torch.is_anomaly_enabled()


def test_any_failure_of_a_node_is_told(torch: Any) -> None:
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            raise ValueError("mine")

    torch.autograd.set_detect_anomaly(True)
    y = Failing.apply(torch.ones(1, requires_grad=True))
    error, warned = told(y.backward, ValueError)
    assert error == "mine"
    assert warned[0].startswith("Error detected in FailingBackward. " + TRACEBACK)
    assert "y = Failing.apply" in warned[0]


def test_without_the_mode_a_failure_is_told_by_its_error_alone(torch: Any) -> None:
    y = torch.ones(1, requires_grad=True).exp()
    y.add_(1)
    error, warned = told(y.backward)
    assert "Hint: enable anomaly detection to find the operation that failed to compute its gradient" in error
    assert not warned


def test_a_hint_says_that_the_line_stands_above(torch: Any) -> None:
    torch.autograd.set_detect_anomaly(True)
    y = torch.ones(1, requires_grad=True).exp()
    y.add_(1)
    error, warned = told(y.backward)
    assert "Hint: the backtrace further above shows the operation that failed to compute its gradient." in error
    assert "exp()" in warned[0]


def test_a_node_made_in_a_backward_pass_names_the_node_that_made_it(torch: Any) -> None:
    x = torch.zeros(1, requires_grad=True)
    torch.autograd.set_detect_anomaly(True)
    y = x**1.5
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x, create_graph=True)
    _, warned = told(lambda: torch.autograd.grad(second * 0, x))
    assert len(warned) == 3
    assert "(second,) = " in warned[0]
    induced = (
        "\n\nPrevious calculation was induced by PowBackward0. Traceback of forward call that induced the previous "
        "calculation:\n"
    )
    assert warned[1].startswith(induced)
    assert "(first,) = " in warned[1]
    assert warned[2].startswith(induced)
    assert "y = x**1.5" in warned[2]


def test_a_backward_pass_inside_another_leaves_the_outer_node_to_blame(torch: Any) -> None:
    class Reentrant(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with torch.enable_grad():
                inner = torch.ones(1, requires_grad=True)
                (inner * 3).backward()
            raise ValueError("after it")

    torch.autograd.set_detect_anomaly(True)
    _, warned = told(Reentrant.apply(torch.ones(1, requires_grad=True)).backward, ValueError)
    assert [w.split(".")[0] for w in warned] == ["Error detected in ReentrantBackward"]


def test_the_traceback_ends_in_the_program() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    with glasstorch.autograd.set_detect_anomaly(True):
        y = glasstorch.nn.functional.linear(x, glasstorch.ones(2, 2))
    assert "y = glasstorch.nn.functional.linear" in y.grad_fn.metadata["traceback_"][-1]


def test_where_warnings_are_errors_the_nodes_error_is_raised_all_the_same(torch: Any, capfd: Any) -> None:
    x = torch.zeros(1, requires_grad=True)
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("error")
        y = (x * 0).sqrt() * 0
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            y.backward()
    assert "UserWarning: Error detected in SqrtBackward0. Traceback of forward call" in capfd.readouterr().err
    assert not torch.is_anomaly_enabled()

"""Does a TorchDispatchMode see each operator once, below autograd, and is it off while it runs?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.keys import PYTHON, DispatchKey, DispatchKeySet
from glasstorch.dispatch.active_keys import ALLOWED_BY_DEFAULT, INCLUDED_BY_DEFAULT, active_keys, include
from glasstorch.dispatch.mode_stack import modes as _modes
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.utils import _python_dispatch

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
DEFAULT = INCLUDED_BY_DEFAULT, ALLOWED_BY_DEFAULT
OUTSIDE: Any = glasstorch.ones(2)


class Log(TorchDispatchMode):
    """Runs what it sees, and keeps it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert isinstance(func, Operator)
        assert (types, type(args), type(kwargs)) == ((), tuple, dict)
        self.calls.append((str(func), args, kwargs))
        return func(*args, **kwargs)

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.calls]


class Answer(TorchDispatchMode):
    """Answers everything with the same object."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.answer


def seen(program: Callable[[], Any]) -> list[str]:
    """The operators of a program that a mode sees."""
    with Log() as log:
        program()
    return log.names


def test_the_name_in_utils_is_the_same_class() -> None:
    assert _python_dispatch.TorchDispatchMode is TorchDispatchMode
    assert glasstorch.utils._python_dispatch is _python_dispatch


# What a mode is given ---------------------------------------------------------------------------------------------


def test_numbers_come_as_numbers_and_tensors_as_tensors() -> None:
    x = glasstorch.ones(2)
    with Log() as log:
        x * 3
        2 - x
        x * glasstorch.tensor(3)
    (_, first, _), (_, second, _), (_, lifted, _), (name, third, _) = log.calls
    assert first[0] is x
    assert first[1:] == (3,)
    assert type(first[1]) is int
    assert second[0] is x
    assert second[1:] == (2,)
    assert name == "aten.mul.Tensor"
    assert isinstance(third[1], glasstorch.Tensor)
    assert third[1] is lifted[0]
    assert log.names[:3] == ["aten.mul.Tensor", "aten.rsub.Scalar", "aten.lift_fresh.default"]


def test_defaults_are_left_out_and_keywords_stay_keywords() -> None:
    x = glasstorch.ones(2)
    with Log() as log:
        x.add(x)
        x.add(x, alpha=2)
        x.sum(0)
        x.sum(0, True)
        x.sum((0,), dtype=glasstorch.float64)
    assert [(len(args), kwargs) for _, args, kwargs in log.calls] == [
        (2, {}), (2, {"alpha": 2}), (2, {}), (3, {}), (2, {"dtype": glasstorch.float64}),
    ]  # fmt: skip


def test_factories_are_seen() -> None:
    with Log() as log:
        z = glasstorch.zeros(2, dtype=glasstorch.int8)
    ((name, (size,), named),) = log.calls
    told = {"dtype": glasstorch.int8, "device": glasstorch.device("cpu"), "pin_memory": False}
    assert (name, list(size), named) == ("aten.zeros.default", [2], told)
    assert z.tolist() == [0, 0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: glasstorch.tensor([1, 2]),
        lambda: glasstorch.as_tensor([1, 2]),
        lambda: glasstorch.asarray([1, 2]),
        lambda: glasstorch.Tensor([1, 2]),
        lambda: OUTSIDE.new_tensor([1, 2]),
    ],
    ids=["tensor", "as_tensor", "asarray", "Tensor", "new_tensor"],
)
def test_a_tensor_of_python_data_is_lifted_once(make: Callable[[], Any]) -> None:
    assert seen(make) == ["aten.lift_fresh.default"]
    assert make().tolist() == [1, 2]


ARRAY = np.ones(2, np.float32)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: glasstorch.from_numpy(ARRAY), ["lift_fresh.default"]),
        (lambda: glasstorch.as_tensor(ARRAY), ["lift_fresh.default"]),
        (lambda: glasstorch.tensor(ARRAY), ["lift_fresh.default", "_to_copy.default"]),
    ],
    ids=["from_numpy", "as_tensor", "tensor"],
)
def test_an_array_is_lifted_before_it_is_copied(make: Callable[[], Any], names: list[str]) -> None:
    assert seen(make) == [f"aten.{name}" for name in names]
    assert make().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("index", "value", "names"),
    [
        (0, 5, ["lift_fresh.default", "select.int", "fill_.Tensor"]),
        ((0, 1), 5, ["lift_fresh.default", "select.int", "select.int", "copy_.default"]),
        ((0, 1), glasstorch.tensor(5.0), ["select.int", "select.int", "copy_.default"]),
        (slice(0, 1), 5, ["lift_fresh.default", "slice.Tensor", "fill_.Tensor"]),
        (False, 5, ["lift_fresh.default"]),
        (glasstorch.tensor([0]), 5, ["lift_fresh.default", "index_put_.default"]),
        (0, glasstorch.full((3,), 5.0), ["select.int", "copy_.default"]),
    ],
)
def test_a_number_that_is_assigned_is_lifted_first(index: Any, value: Any, names: list[str]) -> None:
    x, plain = glasstorch.ones(2, 3), glasstorch.ones(2, 3)
    plain[index] = value
    with Log() as log:
        x[index] = value
    assert log.names == [f"aten.{name}" for name in names]
    assert x.tolist() == plain.tolist()
    assert all(args[0].dtype is glasstorch.float32 for name, args, _ in log.calls)


def test_a_mode_may_put_another_tensor_in_the_place_of_one_that_is_lifted() -> None:
    other = glasstorch.zeros(3)
    with Answer(other):
        assert glasstorch.tensor([1.0]) is other


def test_lift_fresh_gives_its_argument_itself_and_no_view() -> None:
    lift = glasstorch.ops.aten.lift_fresh
    x = glasstorch.ones(2)
    assert lift(x) is x
    assert not x._is_view()
    leaf = glasstorch.ones(2, requires_grad=True)
    assert lift(leaf) is leaf
    assert type(leaf.grad_fn).__name__ == "LiftFreshBackward0"
    assert not hasattr(glasstorch, "lift_fresh")


def test_composites_are_seen_as_their_parts() -> None:
    x = glasstorch.ones(4, 3)
    w, b = glasstorch.ones(2, 3), glasstorch.ones(2)
    assert seen(lambda: glasstorch.nn.functional.linear(x, w, b)) == ["aten.t.default", "aten.addmm.default"]


# What a mode answers ----------------------------------------------------------------------------------------------


def test_in_place_and_out_write_to_what_was_given() -> None:
    x, out = glasstorch.ones(2), glasstorch.zeros(2)
    with Log() as log:
        assert x.add_(1) is x
        assert glasstorch.add(x, x, out=out) is out
    assert log.names == ["aten.add_.Tensor", "aten.add.out"]
    assert log.calls[1][2]["out"] is out
    assert (x.tolist(), out.tolist()) == ([2, 2], [4, 4])
    assert (x._version, out._version) == (1, 1)


def test_lists_tuples_and_plain_values_come_back() -> None:
    x = glasstorch.tensor([1.0, 3.0])
    with Log() as log:
        first, second = glasstorch.split(x, 1)
        values, indices = glasstorch.max(x, 0)
        joined = glasstorch.cat([second, first])
        number = values.item()
        alike = joined.is_set_to(x)
    assert joined.tolist() == [3, 1]
    assert (number, indices.tolist(), alike) == (3.0, 1, False)
    assert {"aten.split.Tensor", "aten.max.dim", "aten.cat.default", "aten.is_set_to.default"} <= set(log.names)
    assert first._is_view()


def test_the_answer_is_the_result() -> None:
    x, other = glasstorch.ones(2), glasstorch.zeros(3)
    with Answer(other):
        assert x * 2 is other
    with Answer((other, other)):
        assert glasstorch.split(x, 1)[0] is other
    with Answer(True):
        assert x.is_set_to(other) is True


@pytest.mark.parametrize(
    ("answer", "program", "message"),
    [
        (7, lambda x: glasstorch.mul(x, 2), "Unable to cast 7 to Tensor"),
        (None, lambda x: glasstorch.mul(x, 2), "Unable to cast None to Tensor"),
        ([7], lambda x: glasstorch.split(x, 1), r"Unable to cast \[7\] to Tensor\[\]"),
        (7, lambda x: glasstorch.split(x, 1), r"Unable to cast 7 to Tensor\[\]"),
        ((OUTSIDE,), lambda x: glasstorch.max(x, 0), "to the 2 results of aten::max.dim"),
        ((OUTSIDE, 7), lambda x: glasstorch.max(x, 0), "Unable to cast 7 to Tensor"),
        (7, lambda x: glasstorch.max(x, 0), "to the 2 results of aten::max.dim"),
    ],
)
def test_an_answer_that_the_schema_has_no_place_for_is_refused(
    answer: Any, program: Callable[[Any], Any], message: str
) -> None:
    with Answer(answer), pytest.raises(ArgumentError, match=message):
        program(OUTSIDE)
    assert active_keys.get() == DEFAULT


def test_a_mode_may_refuse_a_call() -> None:
    with (
        Answer(NotImplemented),
        pytest.raises(ArgumentTypeError, match=r"Multiple dispatch failed for 'torch._ops.aten"),
    ):
        glasstorch.mul(OUTSIDE, 2)
    with TorchDispatchMode(), pytest.raises(NotImplementedError):
        glasstorch.mul(OUTSIDE, 2)


# Autograd stands above --------------------------------------------------------------------------------------------


def test_gradients_flow_through_a_mode_and_backward_is_seen_too() -> None:
    x: Any = glasstorch.tensor([1.0, 2.0], requires_grad=True)
    with Log() as log:
        (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 4]
    assert log.names[:2] == ["aten.mul.Tensor", "aten.sum.default"]
    assert log.names.count("aten.mul.Tensor") == 3


def test_what_a_mode_computes_itself_is_not_recorded() -> None:
    class Twice(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **kwargs)
            assert result.grad_fn is None
            return result

    x = glasstorch.ones(2, requires_grad=True)
    with Twice():
        y = x * 3
    assert type(y.grad_fn).__name__ == "MulBackward0"


def test_a_reversed_difference_is_one_node() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    y: Any = 2 - x
    assert type(y.grad_fn).__name__ == "RsubBackward1"
    gradient: Any = glasstorch.autograd.grad
    assert gradient(y.sum(), x)[0].tolist() == [-1, -1]
    z: Any = glasstorch.rsub(x, x, alpha=3)
    assert type(z.grad_fn).__name__ == "RsubBackward0"
    assert gradient(z.sum(), x)[0].tolist() == [-2, -2]


# The stack --------------------------------------------------------------------------------------------------------


def test_modes_nest_and_each_passes_on_to_the_one_around_it() -> None:
    order: list[str] = []

    class Named(Log):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append(self.name)
            return super().__torch_dispatch__(func, types, args, kwargs)

    outer, inner = Named("outer"), Named("inner")
    with outer:
        with inner:
            assert (OUTSIDE * 2).tolist() == [2, 2]
        assert order == ["inner", "outer"]
        _ = OUTSIDE + 1
    assert order == ["inner", "outer", "outer"]
    assert inner.calls == outer.calls[:1]


def test_a_mode_is_off_the_stack_while_it_runs_and_may_put_itself_on_again() -> None:
    class Again(TorchDispatchMode):
        depth = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            assert _modes.get() == ()
            assert not active_keys.get()[0] & PYTHON
            self.depth += 1
            if self.depth < 3:
                with self:
                    func(*args, **kwargs)
            return func(*args, **kwargs)

    mode = Again()
    with mode:
        _ = OUTSIDE * 2
        assert _modes.get() == (mode,)
        assert active_keys.get()[0] & PYTHON
    assert mode.depth == 3


def test_errors_put_the_mode_back_and_leave_nothing_behind() -> None:
    class Fails(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise KeyError(str(func))

    with Fails() as mode:
        before = active_keys.get()
        for _ in range(2):
            with pytest.raises(KeyError, match=r"aten\.mul\.Tensor"):
                glasstorch.mul(OUTSIDE, 2)
        assert _modes.get() == (mode,)
        assert active_keys.get() == before
    assert _modes.get() == ()
    assert active_keys.get() == DEFAULT


def test_another_thread_has_its_own_stack() -> None:
    names: list[list[str]] = []

    def work() -> None:
        _ = OUTSIDE * 2
        names.append(seen(lambda: OUTSIDE + 1))

    with Log() as log:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert names == [["aten.add.Tensor"]]
    assert log.calls == []


# The key ----------------------------------------------------------------------------------------------------------


def test_the_key_is_in_no_set_without_a_mode() -> None:
    assert not (INCLUDED_BY_DEFAULT | OUTSIDE.key_set) & PYTHON
    assert DispatchKeySet(PYTHON).highestPriorityTypeId() is DispatchKey.Python
    assert registry.fallbacks[DispatchKey.Python].where.startswith("_python_dispatch.py:")


def test_the_key_alone_changes_nothing() -> None:
    with include(PYTHON):
        assert (OUTSIDE * 2).tolist() == [2, 2]
        assert glasstorch.zeros(1).tolist() == [0]


def test_a_mode_may_leave_out_one_of_several_results() -> None:
    convolution = glasstorch.nn.Conv1d(2, 3, 2)
    with Log() as log:
        convolution(glasstorch.ones(1, 2, 4)).sum().backward()
    assert "aten.convolution_backward.default" in [operator for operator, _, _ in log.calls]
    assert convolution.weight.grad is not None


# A class that sees operators only ------------------------------------------------------------------------------------


def results_of_classes(torch: Any) -> list[str]:
    """The types that calls of four classes return, each with a handler that takes its tensors apart."""

    class Operators(torch.Tensor):  # type: ignore[misc, name-defined]
        @staticmethod
        def __new__(cls: Any, inner: Any) -> Any:
            made = torch.Tensor._make_wrapper_subclass(cls, inner.shape)
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*(getattr(one, "inner", one) for one in args), **(kwargs or {}))

    class Inherits(Operators):
        pass

    class Functions(Operators):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return super().__torch_function__(func, types, args, kwargs or {}), func.__name__

    class Nothing(torch.Tensor):  # type: ignore[misc, name-defined]
        pass

    found = []
    for kind in (Operators, Inherits, Functions):
        x = kind(torch.ones(2))
        found += [type(one).__name__ for one in (x + 1, torch.add(x, 1), torch.nn.functional.relu(x), x.sum())]
        found.append(f"{kind.__name__}: {'__torch_function__' in vars(kind)}")
    return [*found, type(torch.ones(2).as_subclass(Nothing) + 1).__name__]


def test_what_a_handler_returns_is_returned_unless_the_class_asks_about_functions(require: Any) -> None:
    here = results_of_classes(glasstorch)
    assert here == results_of_classes(require("torch"))
    assert here[:4] == ["Tensor"] * 4

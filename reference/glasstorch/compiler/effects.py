"""What does a function do to its arguments, and which of its results share memory?

Mirrors: torch/_functorch/_aot_autograd/collect_metadata_analysis.py (run_functionalized_fw_and_collect_metadata),
    torch/_functorch/_aot_autograd/schemas.py (ViewAndMutationMeta, OutputAliasInfo)
Differs: a change of an argument's sizes or storage is refused. Arguments that share memory with each other are refused
    if one of them is written to.

A compiled graph writes to nothing and gives new tensors only. So what the function wrote to an argument becomes one
more result, which is copied into the argument afterwards; and a result that is a view of an argument, or of another
result, is not computed but taken from it by the same views again. The function is run once, on functional tensors
without elements, to learn which is which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch._subclasses.fake_tensor import FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.func.functional_api import _disable_functionalization, _enable_functionalization
from glasstorch.func.functional_tensor import View, functional, inside, is_functional, sync


class Argument(NamedTuple):
    """What happens to one argument of the function."""

    is_tensor: bool
    requires_grad: bool
    is_written: bool


class Itself(NamedTuple):
    """A result that is what the graph gives: a tensor with memory of its own, or no tensor at all."""


class ViewOf(NamedTuple):
    """A result that shares the memory of an argument, or of an earlier or later result: which, and by which views."""

    of_argument: bool
    number: int
    path: tuple[View, ...]


Result = Itself | ViewOf


class Effects(NamedTuple):
    """What a function does, for the graph that takes its place.

    The graph's results are the new values of the arguments that are written to, then those of the function.
    """

    arguments: list[Argument]
    results: list[Result]
    written: list[int]  # the places of the arguments that are written to
    differentiable: list[bool]  # of each result of the graph


class Functionalized:
    """A run of a function on functional tensors: what they hold at the end is the graph's results."""

    def __init__(self, fn: Callable[..., Any], values: Sequence[Any], requires_grad: Sequence[bool]) -> None:
        self.wrappers = [
            functional(value).requires_grad_(needed) if isinstance(value, Tensor) else value
            for value, needed in zip(values, requires_grad, strict=True)
        ]
        _enable_functionalization(reapply_views=True)
        try:
            self.outputs: list[Any] = list(fn(*self.wrappers))
            for value in (*self.wrappers, *self.outputs):
                if is_functional(value):
                    sync(value)
        finally:
            _disable_functionalization()


def observe(fn: Callable[..., Any], args: Sequence[Any]) -> Effects:
    """Run a function of flat arguments, which returns a flat sequence, and say what it did; nothing is computed."""
    needs = [isinstance(arg, Tensor) and arg.requires_grad for arg in args]
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        values = [mode.from_tensor(arg).detach() if isinstance(arg, Tensor) else arg for arg in args]
        run = Functionalized(fn, values, needs)
        written = [i for i, wrapper in enumerate(run.wrappers) if is_functional(wrapper) and _is_written(wrapper)]
        _refuse_shared_memory(args, written)
        results = _results(run)
    arguments = [
        Argument(isinstance(arg, Tensor), needed, i in written)
        for i, (arg, needed) in enumerate(zip(args, needs, strict=True))
    ]
    differentiable = [_takes_gradient(run.wrappers[i]) for i in written]
    differentiable += [
        isinstance(result, Itself) and _takes_gradient(value)
        for result, value in zip(results, run.outputs, strict=True)
    ]
    return Effects(arguments, results, written, differentiable)


def _is_written(wrapper: Tensor) -> bool:
    found = inside(wrapper)
    if found.changed_shape or found.changed_storage:
        raise NotImplementedError(
            "aot_function: an argument whose sizes, strides or storage are changed in place cannot be compiled in "
            "glasstorch; change a copy of it"
        )
    return found.base.generation > 0


def _refuse_shared_memory(args: Sequence[Any], written: Sequence[int]) -> None:
    for i in written:
        storage = args[i].untyped_storage()
        sharing = [j for j, arg in enumerate(args) if j != i and isinstance(arg, Tensor)]
        for j in sharing:
            if args[j].untyped_storage()._cdata == storage._cdata:
                raise NotImplementedError(
                    f"aot_function: argument {i} is written to and shares memory with argument {j}, which cannot be "
                    "compiled in glasstorch; pass a copy of one of them"
                )


def _results(run: Functionalized) -> list[Result]:
    arguments = {id(inside(w).base): i for i, w in enumerate(run.wrappers) if is_functional(w)}
    sharing: dict[int, list[int]] = {}
    for i, value in enumerate(run.outputs):
        if is_functional(value):
            sharing.setdefault(id(inside(value).base), []).append(i)
    found: list[Result] = []
    for i, value in enumerate(run.outputs):
        if not is_functional(value):
            found.append(Itself())
            continue
        base, path = id(inside(value).base), inside(value).path
        whole = i if len(sharing[base]) == 1 else _whole(run, sharing[base])
        if base in arguments:
            found.append(ViewOf(True, arguments[base], path))
        elif whole == i:
            found.append(Itself())
        else:
            found.append(ViewOf(False, whole, path))
    return found


def _whole(run: Functionalized, sharing: Sequence[int]) -> int:
    """Of results that share their memory, the first that shows all of it."""
    for i in sharing:
        if not inside(run.outputs[i]).path:
            return i
    raise NotImplementedError(
        "aot_function: two results that are views of a tensor which is none itself cannot be compiled in glasstorch; "
        "return that tensor too, or a copy of one of them"
    )


def _takes_gradient(value: Any) -> bool:
    return (
        isinstance(value, Tensor) and value.requires_grad and (value.dtype.is_floating_point or value.dtype.is_complex)
    )

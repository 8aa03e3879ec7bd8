"""What does a function do to its arguments, and which of its results share memory?

Mirrors: torch/_functorch/_aot_autograd/collect_metadata_analysis.py (run_functionalized_fw_and_collect_metadata),
    torch/_functorch/_aot_autograd/schemas.py (ViewAndMutationMeta, OutputAliasInfo)
Differs: a change of an argument's storage is refused, and that of the sizes of one that requires grad. A gradient
    for what is no argument is refused too. Arguments that share memory are the matter of shared_arguments.py.

A compiled graph writes to nothing and gives new tensors only. So what the function wrote to an argument becomes one
more result, which is copied into the argument afterwards; and a result that is a view of an argument, or of another
result, is not computed but taken from it by the same views again. The function is run once, on functional tensors
without elements, to learn which is which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from glasstorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.func.functional_api import _disable_functionalization, _enable_functionalization
from glasstorch.func.functional_tensor import FunctionalStorage, View, functional, inside, is_functional, sync
from glasstorch.operators.composite.dropout import as_one_operator


class Geometry(NamedTuple):
    """How an argument lies in its memory at the end."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    moved: int  # how far its first element is from where it was


class Argument(NamedTuple):
    """What happens to one argument of the function."""

    is_tensor: bool
    requires_grad: bool
    is_written: bool
    is_written_unseen: bool  # by autograd, as under `no_grad`: its history stays
    geometry: Geometry | None  # what `t_()` or its like makes of it: sizes, strides, and steps of the offset


class Itself(NamedTuple):
    """A result that is what the graph gives: a tensor with memory of its own, or no tensor at all."""


class ViewOf(NamedTuple):
    """A result that shares the memory of an argument, or of another result of the graph: which, and by which views."""

    of_argument: bool
    number: int
    path: tuple[View, ...]


Result = Itself | ViewOf


class Effects(NamedTuple):
    """What a function does, for the graph that takes its place.

    The graph's results are the new values of the arguments that are written to, then those of the function, then the
    tensors of which several results are views while none of them shows all of it.
    """

    arguments: list[Argument]
    results: list[Result]
    written: list[int]  # the places of the arguments that are written to
    shared: list[int]  # for each tensor of the last kind, the place of a result that is a view of it
    differentiable: list[bool]  # of each result of the graph

    def graph_results(self, run: Functionalized) -> list[Any]:
        """What the graph returns, of a run of the function."""
        shared = [_whole(run.outputs[i]) for i in self.shared]
        return [*(run.new_value(i) for i in self.written), *run.outputs, *shared]


class Functionalized:
    """A run of a function on functional tensors: what they hold at the end is the graph's results.

    Of the arguments whose places are in `copied`, the function gets a copy, which may be written to: it is no leaf.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        values: Sequence[Any],
        requires_grad: Sequence[bool],
        copied: Collection[int] = (),
    ) -> None:
        self.wrappers = [
            functional(value).requires_grad_(needed) if isinstance(value, Tensor) else value
            for value, needed in zip(values, requires_grad, strict=True)
        ]
        _enable_functionalization(reapply_views=True)
        dropout = as_one_operator.set(True)
        try:
            self.given = [wrapper.clone() if i in copied else wrapper for i, wrapper in enumerate(self.wrappers)]
            self.storages = [inside(wrapper) if is_functional(wrapper) else None for wrapper in self.given]
            self.histories = [wrapper.grad_fn if is_functional(wrapper) else None for wrapper in self.given]
            self.outputs: list[Any] = list(fn(*self.given))
            for value in (*self.given, *self.outputs):
                if is_functional(value):
                    sync(value)
        finally:
            as_one_operator.reset(dropout)
            _disable_functionalization()

    def new_value(self, place: int) -> Any:
        """What an argument holds at the end, in the sizes and strides that it had."""
        wrapper = self.given[place]
        return functional(inside(wrapper).base.value) if inside(wrapper).path else wrapper


def _whole(view: Any) -> Any:
    """The tensor that a result is a view of; one that was detached has no gradient."""
    return view._base if _has_base(view) else functional(inside(view).base.value)


def observe(
    fn: Callable[..., Any], args: Sequence[Any], may_share: bool = False, fakes: Sequence[Any] | None = None
) -> Effects:
    """Run a function of flat arguments, which returns a flat sequence, and say what it did; nothing is computed.

    An argument that is written to and shares its memory with another is refused unless `may_share`. It is run on
    `fakes`, if they are given, in place of the arguments.
    """
    needs = [isinstance(arg, Tensor) and arg.requires_grad for arg in args]
    inner = [i for i, needed in enumerate(needs) if needed and not args[i].is_leaf]
    with mode_of(fakes or ()) as mode:
        values = list(fakes or [mode.from_tensor(arg).detach() if isinstance(arg, Tensor) else arg for arg in args])
        run = Functionalized(fn, values, needs, inner)
        written = [
            i for i, storage in enumerate(run.storages) if storage is not None and _is_written(run.given[i], storage)
        ]
        if not may_share:
            refuse_shared_memory(args, written)
        results, shared = _results(run)
    arguments = [
        Argument(
            is_tensor=isinstance(arg, Tensor),
            requires_grad=needs[i],
            is_written=i in written,
            is_written_unseen=i in written and run.given[i].grad_fn is run.histories[i],
            geometry=_geometry(run, i, arg, needs[i]),
        )
        for i, arg in enumerate(args)
    ]
    effects = Effects(arguments, results, written, shared, [])
    views = [False] * len(written) + [isinstance(result, ViewOf) for result in results] + [False] * len(shared)
    effects.differentiable[:] = [
        not is_view and _takes_gradient(value) for is_view, value in zip(views, effects.graph_results(run), strict=True)
    ]
    _refuse_gradients_of_others(effects)
    return effects


def mode_of(fakes: Sequence[Any]) -> FakeTensorMode:
    """The mode of fake tensors, or a new one."""
    modes = (fake.fake_mode for fake in fakes if isinstance(fake, FakeTensor))
    return next(modes, None) or FakeTensorMode(allow_non_fake_inputs=True)


def _refuse_gradients_of_others(effects: Effects) -> None:
    if any(effects.differentiable) and not any(argument.requires_grad for argument in effects.arguments):
        raise NotImplementedError(
            "aot_function: a result requires grad, though no argument does, which cannot be compiled in glasstorch: "
            "pass each tensor that requires grad as an argument, and call requires_grad_() outside"
        )


def _is_written(wrapper: Tensor, before: FunctionalStorage) -> bool:
    found = inside(wrapper)
    if found is not before or found.changed_storage:
        raise NotImplementedError(
            "aot_function: an argument whose storage is changed in place cannot be compiled in glasstorch; change a "
            "copy of it"
        )
    found.base.apply_updates()
    return found.base.generation > 0


def _geometry(run: Functionalized, place: int, arg: Any, requires_grad: bool) -> Geometry | None:
    """What an argument was turned into; None if its sizes and strides stay."""
    storage = run.storages[place]
    if storage is None or not storage.changed_shape:
        return None
    if requires_grad:
        raise NotImplementedError(
            "aot_function: an argument that requires grad and whose sizes or strides are changed in place cannot be "
            "compiled in glasstorch; change a view of it"
        )
    value, before = storage.value, storage.base.value
    return Geometry(tuple(value.shape), value.stride(), value.storage_offset() - before.storage_offset())


def refuse_shared_memory(args: Sequence[Any], written: Sequence[int]) -> None:
    """Raise NotImplementedError if an argument that is written to shares its memory with another one."""
    for i in written:
        storage = args[i].untyped_storage()
        sharing = [j for j, arg in enumerate(args) if j != i and isinstance(arg, Tensor)]
        for j in sharing:
            if args[j].untyped_storage()._cdata == storage._cdata:
                raise NotImplementedError(
                    f"aot_function: argument {i} is written to and shares memory with argument {j}, which cannot be "
                    "compiled in glasstorch; pass a copy of one of them"
                )


def _results(run: Functionalized) -> tuple[list[Result], list[int]]:
    """What the results are, and which of them are views of a tensor that the graph must give too."""
    arguments = {id(inside(w).base): i for i, w in enumerate(run.given) if is_functional(w)}
    sharing: dict[int, list[int]] = {}
    for i, value in enumerate(run.outputs):
        if is_functional(value):
            sharing.setdefault(id(inside(value).base), []).append(i)
    wholes: dict[int, int] = {}  # which result of the graph shows all of a base
    shared: list[int] = []
    for base, places in sharing.items():
        if base in arguments or len(places) == 1:
            continue
        if shown := [i for i in places if not inside(run.outputs[i]).path]:
            wholes[base] = shown[0]
            continue
        wholes[base] = len(run.outputs) + len(shared)
        shared.append(next((i for i in places if _has_base(run.outputs[i])), places[0]))
    found: list[Result] = []
    for i, value in enumerate(run.outputs):
        if not is_functional(value):
            found.append(Itself())
            continue
        base, path = id(inside(value).base), inside(value).path
        if base in arguments:
            found.append(ViewOf(True, arguments[base], path))
        elif (whole := wholes.get(base, i)) != i:
            found.append(ViewOf(False, whole, path))
        else:
            found.append(Itself())
    return found, shared


def _has_base(view: Tensor) -> bool:
    """Whether autograd knows the tensor that a result is a view of."""
    base = view._base
    return base is not None and is_functional(base) and inside(base).base is inside(view).base and not inside(base).path


def _takes_gradient(value: Any) -> bool:
    return (
        isinstance(value, Tensor) and value.requires_grad and (value.dtype.is_floating_point or value.dtype.is_complex)
    )

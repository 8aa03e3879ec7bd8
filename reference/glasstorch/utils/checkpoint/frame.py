"""How are the tensors that nodes would save computed again, when the backward pass asks for one?

Mirrors: torch/utils/checkpoint.py (_CheckpointFrame, _checkpoint_hook, _recomputation_hook, GraphExecGroup), its NOTE
    [ Nestable Checkpoint ]

# Note [Places for saved tensors]
While a checkpointed function runs forward, a hook keeps a place in each node instead of the tensor that it would save,
and the facts about that tensor. When the backward pass unpacks the first place, the function runs again under another
hook: the tensor that is saved n-th belongs to the n-th place. A tensor is given out once and dropped then.

A backward pass runs the function once, and a second one once more: what was computed is kept by the number of the
pass. Where both hooks could apply, the innermost checkpoint's does. The arguments of an inner checkpoint are saved by
the hook of the outer one, so that a place in the inner one leads to running the outer one first. While a function runs
again, no checkpoint around it is active, but those inside it are.

All that was saved is known when as many tensors were saved as there are places: an exception then ends the function,
unless `early_stop` is off. Places whose node is gone, since a backward pass inside of the function has released it, are
passed over.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Self

from glasstorch._tensor import Tensor
from glasstorch.autograd.engine import current_graph_task_id
from glasstorch.autograd.modes import enable_grad
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.autograd.saved_hooks import saved_tensors_hooks
from glasstorch.utils.checkpoint.errors import CheckpointError

TIP = (
    "Pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)`, or use the block `with "
    "torch.utils.checkpoint.set_checkpoint_debug_enabled(True):`, to see which operators ran both times"
)

Facts = Callable[[Tensor], Any]


def facts_of(tensor: Tensor) -> dict[str, Any]:
    """The facts of a tensor that are compared with those of the recomputed one that takes its place."""
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


# The values of `determinism_check`
CHECKS: dict[str, Facts] = {"default": facts_of, "none": lambda _: None}


def too_many() -> CheckpointError:
    """The function has saved more tensors than there are places."""
    return CheckpointError(
        f"torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
        f"pass.\n{TIP}"
    )


def given_already() -> CheckpointError:
    """A tensor is asked for a second time in one backward pass."""
    group = (
        "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute "
        "gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
        if current_group.get() is not None
        else ""
    )
    return CheckpointError(
        f"torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {group}If you "
        f"are calling ctx.saved_tensors in backward, make sure to do so only once."
    )


class StopRecomputation(Exception):
    """All places are filled: the function need not run to its end."""


class Key:
    """The key by which a recomputed tensor is found; it lives as long as its place waits for the tensor."""


class Place:
    """What a node keeps instead of a tensor: for each backward pass a key, None once the tensor was given out."""

    def __init__(self) -> None:
        self.keys: dict[Any, Key | None] = {}


class ArgumentsOfCheckpoint(Node):
    """Stands for the node that saves the arguments of a checkpointed function, in messages."""


class Run:
    """One recomputation of the function."""

    def __init__(self) -> None:
        self.saved = 0  # how many tensors its nodes have saved
        self.is_over = False
        self.tensors: weakref.WeakKeyDictionary[Key, Tensor] = weakref.WeakKeyDictionary()


class Frame:
    """One call of a checkpointed function: its places, and how it is run again. See Note [Places for saved tensors]."""

    def __init__(self, again: Callable[..., object], early_stop: bool, facts: Facts) -> None:
        self.again = again
        self.early_stop = early_stop
        self.facts = facts
        self.places: list[weakref.ref[Place]] = []
        self.expected: list[Any] = []  # the facts about the tensor of each place
        self.runs: defaultdict[Any, Run] = defaultdict(Run)
        self.arguments: list[Any] = []
        self.is_forward_done = False
        self.may_differ = False  # as a backward pass inside of the function asked for tensors before it was done

    def save_arguments(self, arguments: Sequence[Any]) -> None:
        """Keep the arguments as a node would; an outer checkpoint keeps places for them."""
        self.arguments = [SavedVariable(one) if isinstance(one, Tensor) else one for one in arguments]

    def keep(self, tensor: Tensor) -> Place:
        """While the function runs forward: a place, for a node to keep instead of the tensor."""
        place = Place()
        self.places.append(weakref.ref(place))
        self.expected.append(self.facts(tensor))
        return place

    def fill(self, tensor: Tensor, number: Any) -> Tensor:
        """While it runs again for a backward pass: what a node saves goes to the next place, and to the node.

        StopRecomputation when all places are filled, if the frame stops early; CheckpointError when there is no place
        left, but only if the forward pass was at its end when the backward pass began.
        """
        tensor = tensor.detach() if tensor.requires_grad else tensor
        run = self.runs[number]
        at = run.saved
        run.saved += 1
        if at >= len(self.places):
            if self.is_forward_done:
                raise too_many()
            self.may_differ = True
            return tensor
        place = self.places[at]()
        if place is not None:
            key = place.keys[number] = Key()
            run.tensors[key] = tensor
        if self.early_stop and run.saved == len(self.places):
            raise StopRecomputation
        return tensor

    def give_out(self, place: Place, number: Any) -> Tensor:
        """The tensor that belongs to a place in a backward pass; once."""
        self.recompute(number)
        key = place.keys[number]
        if key is None:
            raise given_already()
        place.keys[number] = None
        return self.runs[number].tensors[key]

    def recompute(self, number: Any) -> None:
        """Run the function for a backward pass, unless that has been done; its places then hold tensors."""
        run = self.runs[number]
        if run.is_over:
            return
        owner = ArgumentsOfCheckpoint(())
        arguments = [one.unpack(owner) if isinstance(one, SavedVariable) else one for one in self.arguments]
        try:
            with Filling(self, number), enable_grad():
                self.again(*arguments)
        except StopRecomputation:
            pass
        run.is_over = True
        self.check(number)

    def check(self, number: Any) -> None:
        """Refuse tensors that are not like those that the places were made for."""
        run = self.runs[number]
        if self.may_differ:
            return
        if len(self.places) != run.saved:
            raise CheckpointError(
                f"torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.places)}\nNumber of tensors saved "
                f"during recomputation: {run.saved}.\n{TIP}"
            )
        different = []
        for i, (reference, expected) in enumerate(zip(self.places, self.expected, strict=True)):
            place = reference()
            key = None if place is None else place.keys[number]
            if key is not None and (found := self.facts(run.tensors[key])) != expected:
                different.append(f"tensor at position {i}:\nsaved metadata: {expected}\nrecomputed metadata: {found}\n")
        if different:
            raise CheckpointError(
                f"torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(different)}.\n{TIP}"
            )


def number_of_pass() -> Any:
    """What tells the backward pass that is running from others; those of a group are one."""
    if (group := current_group.get()) is not None:
        return group
    number = current_graph_task_id()
    return object() if number == -1 else number  # -1: a program looks at the saved tensors of a node


class Keeping(saved_tensors_hooks):
    """While the function runs forward: nodes keep places."""

    def __init__(self, frame: Frame, on_error: Callable[[CheckpointError], None] | None) -> None:
        def unpack(place: Place) -> Tensor:
            try:
                return frame.give_out(place, number_of_pass())
            except CheckpointError as error:
                if on_error is not None:
                    on_error(error)
                raise

        super().__init__(frame.keep, unpack)


class Filling(saved_tensors_hooks):
    """While it runs again: what nodes save goes to the places. They keep it too, for a backward pass inside of it."""

    def __init__(self, frame: Frame, number: Any) -> None:
        super().__init__(lambda tensor: frame.fill(tensor, number), lambda tensor: tensor)


current_group: ContextVar[GraphExecGroup | None] = ContextVar("graph_exec_group", default=None)


class GraphExecGroup:
    """Inside, a checkpointed function runs again once for all backward passes, which must not need the same tensors.

    It has no effect on checkpoints with `use_reentrant=True`.
    """

    def __enter__(self) -> Self:
        if (group := current_group.get()) is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {group}")
        current_group.set(self)
        return self

    def __exit__(self, *args: object) -> None:
        current_group.set(None)

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return current_group.get()

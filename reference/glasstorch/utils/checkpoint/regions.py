"""How does a program say which part of a model recomputes its activations?

Mirrors: torch/utils/checkpoint.py (checkpoint, checkpoint_sequential, _checkpoint_without_reentrant_generator)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.autograd.runs_again import watched
from glasstorch.core.user_line import warn_user
from glasstorch.nn.modules.container import Sequential
from glasstorch.utils.checkpoint import switches
from glasstorch.utils.checkpoint.errors import CheckpointError
from glasstorch.utils.checkpoint.frame import CHECKS, Frame, Keeping
from glasstorch.utils.checkpoint.operator_log import Comparison
from glasstorch.utils.checkpoint.reentrant import CheckpointFunction
from glasstorch.utils.checkpoint.surroundings import Surroundings

Contexts = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Two blocks that do nothing: the default of `context_fn`."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Contexts = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function(*args, **kwargs)` and save only its arguments: the function runs again in the backward pass.

    With `use_reentrant=False`, which is recommended, the second run ends as soon as everything that is needed has been
    computed, unless `early_stop` is False; gradients may be requested in any way, and checkpoints can be nested. The
    shapes, dtypes and devices of the recomputed tensors are compared with those of the first run, unless
    `determinism_check="none"`. `context_fn` gives the blocks that the first and the second run take place in. `debug`
    lists the operators of both runs in an error. With `use_reentrant=True`, the function is one node, which requires a
    plain `backward()`, and keyword arguments are refused. Both kinds draw the same random numbers again, unless
    `preserve_rng_state=False`.
    """
    if use_reentrant is None:
        use_reentrant = _warned_default(
            "torch.utils.checkpoint",
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception.",
        )
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    on_error: Callable[[CheckpointError], None] | None = None
    always = switches.debug.get()
    if debug if always is None else always:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        comparison = Comparison()
        context_fn, on_error = comparison.contexts, comparison.refuse
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}")
    surroundings = Surroundings(args, preserve)
    in_forward, in_second = context_fn()

    def again(*arguments: Any) -> None:
        with surroundings.again(), in_second, watched(surroundings, False) if preserve else nullcontext():
            function(*arguments, **kwargs)

    if not is_grad_enabled():
        return function(*args, **kwargs)
    stops = switches.early_stop.get()
    frame = Frame(again, early_stop if stops is None else stops, CHECKS[determinism_check])
    frame.save_arguments(args)
    with Keeping(frame, on_error), watched(surroundings, True) if preserve else nullcontext():
        result = _run(function, args, kwargs, in_forward)
    frame.is_forward_done = True
    if surroundings.device_came_into_use:
        raise RuntimeError(
            "PyTorch's device state was initialized in the forward pass of a Checkpoint, which is not allowed: the "
            "state of its generator was not kept. Use CUDA once before, or pass preserve_rng_state=False"
        )
    return result


def _run(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], block: AbstractContextManager[Any]
) -> Any:
    """Call a function inside a block that must not swallow its error: there would be nothing to return."""
    with block:
        return function(*args, **kwargs)
    raise RuntimeError(
        "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
        "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward."
    )


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run a chain of modules or functions of one argument in `segments` parts, all checkpointed except the last.

    `functions` is a Sequential or a list. `preserve_rng_state` is as for `checkpoint`.
    """
    if use_reentrant is None:
        use_reentrant = _warned_default(
            "torch.utils.checkpoint.checkpoint_sequential",
            "In version 2.9 we will raise an exception if use_reentrant is not passed.",
        )
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain = list(functions.children()) if isinstance(functions, Sequential) else functions

    def part(start: int, end: int) -> Callable[[Any], Any]:
        def forward(input: Any) -> Any:
            for function in chain[start:end]:
                input = function(input)
            return input

        return forward

    size = len(chain) // segments
    if size == 0:
        raise ValueError(f"checkpoint_sequential: {len(chain)} functions cannot be split into {segments} segments")
    last = size * (segments - 1)
    for start in range(0, last, size):
        input = checkpoint(part(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(last, len(chain))(input)


def _warned_default(where: str, later: str) -> bool:
    """Warn that `use_reentrant` was not given; what it is then."""
    warn_user(
        f"{where}: the use_reentrant parameter should be passed explicitly. {later} use_reentrant=False is "
        f"recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. "
        f"Refer to docs for more details on the differences between the two variants."
    )
    return True

"""In which order does a call of a module run its hooks?

Mirrors: torch/nn/modules/module.py (Module._call_impl, Module._maybe_warn_non_full_backward_hook)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.node import Node
from glasstorch.nn.modules import global_hooks as everywhere
from glasstorch.nn.modules.backward_hooks import BackwardHook


class Call:
    """One call of a module that has hooks, or while there are hooks of all modules.

    `forward` runs in place of the module's own where it is given.
    """

    def __init__(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], forward: Callable[..., Any] | None = None
    ) -> None:
        self.module, self.args, self.kwargs, self.forward = module, args, kwargs, forward
        self.result: Any = None
        self.called: set[int] = set()  # the forward hooks that have been called

    def run(self) -> Any:
        """The module's output after all hooks; those registered with `always_call` run after an error too."""
        try:
            self._run_forward_pre_hooks()
            backward = self._backward_hook()
            if backward is not None:
                self.args = backward.setup_input_hook(self.args)
            self.result = (self.forward or self.module.forward)(*self.args, **self.kwargs)
            for hook_id, hook in self._forward_hooks():
                self.called.add(hook_id)
                self._run_forward_hook(hook_id, hook)
            if backward is not None:
                self.result = self._watched(backward)
            self._register_non_full_backward_hooks()
        except Exception:
            self._run_always_called_hooks()
            raise
        return self.result

    def _run_forward_pre_hooks(self) -> None:
        module = self.module
        for hook_id, hook in (*everywhere._global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            if hook_id not in module._forward_pre_hooks_with_kwargs:
                replaced = hook(module, self.args)
                if replaced is not None:
                    self.args = replaced if isinstance(replaced, tuple) else (replaced,)
                continue
            replaced = hook(module, self.args, self.kwargs)
            if replaced is None:
                continue
            if not (isinstance(replaced, tuple) and len(replaced) == 2):
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {replaced}."
                )
            self.args, self.kwargs = replaced

    def _forward_hooks(self) -> Iterator[tuple[int, Callable[..., Any]]]:
        yield from tuple(everywhere._global_forward_hooks.items())
        yield from tuple(self.module._forward_hooks.items())

    def _run_forward_hook(self, hook_id: int, hook: Callable[..., Any]) -> None:
        module = self.module
        if hook_id in module._forward_hooks_with_kwargs or hook_id in everywhere._global_forward_hooks_with_kwargs:
            replaced = hook(module, self.args, self.kwargs, self.result)
        else:
            replaced = hook(module, self.args, self.result)
        if replaced is not None:
            self.result = replaced

    def _run_always_called_hooks(self) -> None:
        """After an error: the hooks registered with `always_call` that have not run; their own errors are warnings."""
        always = {**everywhere._global_forward_hooks_always_called, **self.module._forward_hooks_always_called}
        for hook_id, hook in self._forward_hooks():
            if hook_id not in always or hook_id in self.called:
                continue
            try:
                self._run_forward_hook(hook_id, hook)
            except Exception as error:  # noqa: BLE001 (whatever the user's hook raises)
                whose = "global module" if hook_id in everywhere._global_forward_hooks else "module"
                warnings.warn(
                    f"{whose} forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                    stacklevel=4,
                )

    def _backward_hook(self) -> BackwardHook | None:
        module = self.module
        before = [*everywhere._global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        full = self._backward_hooks(full=True)
        return BackwardHook(module, full, before) if full or before else None

    def _backward_hooks(self, full: bool) -> list[Callable[..., Any]]:
        own = self.module._backward_hooks.values() if self.module._is_full_backward_hook is full else ()
        return [*everywhere.backward_hooks(full), *own]

    def _watched(self, backward: BackwardHook) -> Any:
        """The result, with the node that reports the gradients of the outputs behind it."""
        if not isinstance(self.result, Tensor | tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(self.result)}",
                stacklevel=4,
            )
        return backward.setup_output_hook(self.result)

    def _register_non_full_backward_hooks(self) -> None:
        """The older backward hooks belong to one node: the one that computed the first tensor of the result."""
        hooks = self._backward_hooks(full=False)
        if not hooks:
            return
        first = self.result
        while not isinstance(first, Tensor):
            first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
        if first.grad_fn is not None:
            for hook in hooks:
                first.grad_fn.register_hook(partial(hook, self.module))
            problem = _what_is_missed(self.args, self.result, first.grad_fn)
            if problem:
                warnings.warn(f"Using {problem}", FutureWarning, stacklevel=4)


def _what_is_missed(args: Any, result: Any, grad_fn: Node) -> str:
    """Which gradients a backward hook that is not full does not see; empty where it sees all."""
    use_full = "Please use register_full_backward_hook to get the documented behavior."
    removed = "is deprecated and will be removed in future versions."
    results = (result,) if isinstance(result, Tensor) else result
    if not _all_tensors(results):
        return (
            "non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
            f"{removed} This hook will be missing some of the grad_output. {use_full}"
        )
    if not _all_tensors(args):
        return (
            "non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of Tensors "
            f"{removed} This hook will be missing some of the grad_input. {use_full}"
        )
    made_by = {one.grad_fn for one in results if one.grad_fn is not None}
    if len(made_by) > 1:
        return (
            "a non-full backward hook when outputs are generated by different autograd Nodes "
            f"{removed} This hook will be missing some grad_output. {use_full}"
        )
    if grad_fn not in made_by:
        return (
            "a non-full backward hook when outputs are nested in python data structure "
            f"{removed} This hook will be missing some grad_output."
        )
    if {one.grad_fn for one in args if one.grad_fn is not None} != {node for node, _ in grad_fn.next_functions}:
        return (
            "a non-full backward hook when the forward contains multiple autograd Nodes "
            f"{removed} This hook will be missing some grad_input. {use_full}"
        )
    return ""


def _all_tensors(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, Tensor) for value in values)

"""Which modules are running now, forward or backward?

Mirrors: torch/utils/module_tracker.py
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Self

from glasstorch._tensor import Tensor
from glasstorch.autograd.engine import running
from glasstorch.autograd.multi_grad_hook import register_multi_grad_hook
from glasstorch.nn.modules.global_hooks import register_module_forward_hook, register_module_forward_pre_hook
from glasstorch.nn.modules.module import Module

logger = logging.getLogger(__name__)

GLOBAL = "Global"


class ModuleTracker:
    """In a `with` block, `parents` is the set of the names of all modules that run, and "Global".

    A name is a path: `Net.blocks.0`. In the backward pass, a module begins to run when the gradients of its results
    have arrived, and ends when those of its arguments have; one whose arguments need none ends with the pass.
    """

    def __init__(self) -> None:
        self.parents: set[str] = {GLOBAL}
        self._names: weakref.WeakKeyDictionary[Module, str] = weakref.WeakKeyDictionary()
        self._named: weakref.WeakSet[Module] = weakref.WeakSet()  # those whose children have their names
        self._handles: list[Any] = []
        self._resets = False  # whether the pass that runs will reset `parents`

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass is running."""
        return running.get() is not None

    def _name(self, module: Module) -> str:
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._named:
            self._named.add(module)
            for own, child in module.named_children():
                self._names[child] = f"{name}.{own}"
                self._name(child)
        return name

    def _enter(self, name: str) -> None:
        if name in self.parents:
            logger.info("The module hierarchy tracking seems to be broken: %s was already entered", name)
        self.parents.add(name)

    def _leave(self, name: str) -> None:
        if name not in self.parents:
            logger.info("The module hierarchy tracking is confused: %s is left and was never entered", name)
        self.parents.discard(name)

    def _enter_backward(self, name: str) -> None:
        task = running.get()
        if task is not None and not self._resets:
            self._resets = True
            task.callbacks.append(self._reset)
        self._enter(name)

    def _reset(self) -> None:
        self.parents = {GLOBAL}
        self._resets = False

    def _before_forward(self, module: Module, args: Any) -> None:
        name = self._name(module)
        self._enter(name)
        self._watch(args, lambda _: self._leave(name))

    def _after_forward(self, module: Module, args: Any, result: Any) -> None:
        name = self._name(module)
        self._leave(name)
        self._watch(result, lambda _: self._enter_backward(name))

    def _watch(self, values: Any, hook: Callable[[Any], None]) -> None:
        tensors = [tensor for tensor in _tensors(values) if tensor.requires_grad]
        if tensors:
            self._handles.append(register_multi_grad_hook(tensors, hook))

    def __enter__(self) -> Self:
        self._handles += [
            register_module_forward_pre_hook(self._before_forward),
            register_module_forward_hook(self._after_forward),
        ]
        return self

    def __exit__(self, *exception: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()


def _tensors(values: Any) -> Iterator[Tensor]:
    """The tensors in a nesting of tuples, lists and dicts."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, tuple | list):
        for value in values:
            yield from _tensors(value)
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))

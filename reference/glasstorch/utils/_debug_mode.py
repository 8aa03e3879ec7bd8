"""How does a program print the operators that it ran, as a tree with its modules?

Mirrors: torch/utils/_debug_mode/_mode.py, _calls.py, _utils.py (DebugMode)
Differs: what compiled functions, distributed tensors, profiler blocks and functions above the operators would add is
    refused or absent; no calls of functions are in the tree. `record_profiler_context` and `record_localtensor`, which
    are on by default, are accepted and add nothing. The options `device` and `pin_memory` of a factory show only where
    they were given.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from glasstorch._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode, _get_current_dispatch_mode_stack
from glasstorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.core.dtype import complex128, float64
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.dispatch.operator import Operator
from glasstorch.nn.modules.global_hooks import register_module_forward_hook, register_module_forward_pre_hook
from glasstorch.nn.modules.module import Module

Record = dict[str, Any]


class TensorIdTracker:
    """Numbers tensors in the order in which they are met, for as long as they live."""

    def __init__(self) -> None:
        self.tensor_memo: dict[int, int] = {}
        self.next_tensor_id = 0

    def _id(self, tensor: Tensor) -> int:
        key = id(tensor)
        if key not in self.tensor_memo:
            self.tensor_memo[key] = self.next_tensor_id
            self.next_tensor_id += 1
            weakref.finalize(tensor, self.tensor_memo.pop, key, None)
        return self.tensor_memo[key]


class _DebugCall:
    """One line of the tree. `log` is printed after it; `record` holds what a hook kept."""

    def __init__(self, call_depth: int) -> None:
        self.call_depth = call_depth
        self.record: Record | None = None
        self.log: Record | None = None
        self.output_str: str | None = None

    def render(self, attributes: Sequence[str]) -> str:
        """The line, without its indent."""
        raise NotImplementedError("Subclasses must implement string render()")

    def __repr__(self) -> str:
        return self.render([])


class _OpCall(_DebugCall):
    """A call of an operator."""

    def __init__(self, op: Operator, args: Any, kwargs: Any, call_depth: int) -> None:
        super().__init__(call_depth)
        self.op, self.args, self.kwargs = op, args, kwargs
        self.args_str: str | None = None
        self.kwargs_str: str | None = None

    def stringify_args(self, attributes: Sequence[str], tensor_memo: TensorIdTracker | None = None) -> None:
        """Keep the arguments as text, so that their memory can be freed."""
        self.args_str, self.kwargs_str = self._texts(attributes, tensor_memo)
        del self.args, self.kwargs

    def stringify_output(
        self, output: Any, attributes: Sequence[str], tensor_memo: TensorIdTracker | None = None
    ) -> None:
        """Keep the result as text."""
        if any(leaf is not None for leaf in tree_leaves(output)):
            self.output_str = f"  ->  {tree_map(lambda x: _arg_to_str(x, attributes, tensor_memo), output)}"

    def _texts(self, attributes: Sequence[str], memo: TensorIdTracker | None) -> tuple[str, str]:
        named = "".join(f", {k}={_arg_to_str(v, attributes, memo)}" for k, v in self.kwargs.items())
        return ", ".join(_arg_to_str(arg, attributes, memo) for arg in self.args), named

    def render(self, attributes: Sequence[str]) -> str:
        if self.args_str is None or self.kwargs_str is None:
            args, named = self._texts(attributes, None)
        else:
            args, named = self.args_str, self.kwargs_str
        log = f"  # {self.log}" if self.log else ""
        return f"{self.op.name}({args}{named}){self.output_str or ''}{log}"

    def __iter__(self) -> Iterator[Any]:
        kept = self.args_str is not None
        yield self.op
        yield from (self.args_str, self.kwargs_str) if kept else (self.args, self.kwargs)
        yield self.call_depth


class _AnnotateCall(_DebugCall):
    """A line of the program's own, or the name of a module that runs."""

    def __init__(self, tag: Any, header: str, call_depth: int) -> None:
        super().__init__(call_depth)
        self.tag, self.header = tag, header

    def render(self, attributes: Sequence[str]) -> str:
        return f"[{self.header}] {self.tag}"

    def __iter__(self) -> Iterator[Any]:
        yield from (f"[{self.header}] {self.tag}", (), {}, self.call_depth)


def _stringify_shape(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _tensor_debug_string(tensor: Tensor, attributes: Sequence[str], memo: TensorIdTracker | None) -> str:
    """`t$0: f32[2, 3]{requires_grad=False}`: a kind, a number if asked for, dtype, sizes, and facts asked for."""
    facts = {name: getattr(tensor, name) for name in attributes if hasattr(tensor, name)}
    told = f"{{{', '.join(f'{name}={value}' for name, value in facts.items())}}}" if facts else ""
    number = "" if memo is None else f"${memo._id(tensor)}"
    kind = "ft" if isinstance(tensor, FakeTensor) else "t"
    return f"{kind}{number}: {tensor.dtype.abbr}{_stringify_shape(tensor._shape)}{told}"


def _arg_to_str(arg: Any, attributes: Sequence[str], memo: TensorIdTracker | None = None) -> str:
    return str(tree_map(lambda x: _tensor_debug_string(x, attributes, memo) if isinstance(x, Tensor) else x, arg))


class DebugMode(TorchDispatchMode):
    """In the block, keeps each call of an operator; `debug_string()` is the tree of them.

    `record_nn_module` puts calls under the modules that make them, `record_ids` numbers tensors,
    `record_tensor_attributes` names facts to print of each tensor. Operators on fake tensors are kept if
    `record_faketensor`, others if `record_realtensor`. `store_original_args` keeps the arguments themselves.
    """

    def __init__(
        self,
        *,
        record_torchfunction: bool = False,
        record_faketensor: bool = False,
        record_realtensor: bool = True,
        record_tensor_attributes: Sequence[str] | None = None,
        record_nn_module: bool = False,
        store_original_args: bool = False,
        record_stack_trace: bool = False,
        record_output: bool = True,
        record_ids: bool = False,
        record_profiler_context: bool = True,
        record_localtensor: bool = True,
        run_compile_with_interpreter: bool = False,
    ) -> None:
        super().__init__()
        refused = {
            "record_torchfunction": record_torchfunction,
            "record_stack_trace": record_stack_trace,
            "run_compile_with_interpreter": run_compile_with_interpreter,
        }
        for name, asked in refused.items():
            if asked:
                raise NotImplementedError(f"DebugMode: {name}=True is not in glasstorch yet; leave it out")
        self.record_faketensor, self.record_realtensor = record_faketensor, record_realtensor
        self.record_tensor_attributes = list(record_tensor_attributes or ())
        self.record_nn_module, self.store_original_args = record_nn_module, store_original_args
        self.record_output, self.record_ids = record_output, record_ids
        self._handles: list[Any] = []
        self._names: weakref.WeakKeyDictionary[Module, str] = weakref.WeakKeyDictionary()
        self.reset()

    def reset(self) -> None:
        """Forget what was kept."""
        self.operators: list[_DebugCall] = []
        self.call_depth = 0
        self._tensor_memo = TensorIdTracker()
        self.current_nn_module_stack: list[str] = []

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    @property
    def logs(self) -> list[_DebugCall]:
        """What was kept, in the order of the calls."""
        return list(self.operators)

    def debug_string(self, show_stack_trace: bool | None = None) -> str:
        """One line for each call, indented by its depth."""
        if show_stack_trace:
            raise NotImplementedError("debug_string: show_stack_trace is not in glasstorch yet; leave it out")
        lines = (("  " * (op.call_depth + 1)) + op.render(self.record_tensor_attributes) for op in self.operators)
        return "\n".join(lines)

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = dict(kwargs or {})
        call = self._kept(func, types, args, named)
        if call is None:
            return func(*args, **named)
        for before in _before_hooks:
            _add_log(call, _run(before, func, types, args, named, call))
        result = func(*args, **named)
        if self.record_output:
            call.stringify_output(result, self.record_tensor_attributes, self._memo())
        for keep in _record_hooks:
            if (kept := _run(keep, func, types, args, named, result)) is not None:
                call.record = {**(call.record or {}), **kept}
        for after in _log_hooks:
            _add_log(call, _run(after, func, types, args, named, result))
        return result

    def _kept(self, func: Operator, types: Sequence[type], args: Any, named: Any) -> _OpCall | None:
        """The line of a call, which is kept; None if it is none of those that were asked for."""
        on_fake = FakeTensor in types or isinstance(_get_current_dispatch_mode(), FakeTensorMode)
        if not (self.record_faketensor if on_fake else self.record_realtensor and not types):
            return None
        call = _OpCall(func, args, named, self.call_depth + 1)
        if not self.store_original_args:
            call.stringify_args(self.record_tensor_attributes, self._memo())
        self.operators.append(call)
        return call

    def _memo(self) -> TensorIdTracker | None:
        return self._tensor_memo if self.record_ids else None

    # Modules --------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.reset()
        super().__enter__()
        if self.record_nn_module:
            self._handles = [
                register_module_forward_pre_hook(lambda module, _: self._enter_module(module)),
                register_module_forward_hook(lambda *_: self._leave_module()),
            ]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        while self._handles:
            self._handles.pop().remove()

    def _enter_module(self, module: Module) -> None:
        name = self._names.setdefault(module, type(module).__name__)
        for own, child in module.named_children():
            self._names[child] = f"{name}.{own}"
        self.operators.append(_AnnotateCall(name, "nn.Mod", self.call_depth + 1))
        self.current_nn_module_stack.append(name)
        self.call_depth += 1

    def _leave_module(self) -> None:
        self.call_depth -= 1
        self.current_nn_module_stack.pop()

    # What programs add ----------------------------------------------------------------------------------------------

    @staticmethod
    def _annotate(tag: Any) -> None:
        """Put a line of the program's own into the tree of the mode that is on."""
        mode = get_active_debug_mode()
        if mode is not None:
            mode.operators.append(_AnnotateCall(tag, "annotate", mode.call_depth))

    @staticmethod
    @contextmanager
    def dispatch_hooks(
        record_hook: Callable[..., Record | None] | None = None,
        log_hook: Callable[..., Record | None] | None = None,
        pre_log_hook: Callable[..., Record | None] | None = None,
    ) -> Iterator[None]:
        """In the block, `hook(func, types, args, kwargs, result)` says what to keep of a call, or to print after it.

        A `pre_log_hook` runs before the operator and gets the line in place of the result.
        """
        added = [
            (hooks, hook)
            for hooks, hook in ((_record_hooks, record_hook), (_log_hooks, log_hook), (_before_hooks, pre_log_hook))
            if hook is not None
        ]
        for hooks, hook in added:
            hooks.append(hook)
        try:
            yield
        finally:
            for hooks, _ in added:
                hooks.pop()

    @staticmethod
    @contextmanager
    def record_outputs() -> Iterator[None]:
        """In the block, each line keeps copies of its results, as `call.record["output"]`."""

        def copies(func: Operator, types: Any, args: Any, kwargs: Any, result: Any) -> Record:
            return {"output": tree_map(lambda x: x.clone() if isinstance(x, Tensor) else x, result)}

        with DebugMode.dispatch_hooks(record_hook=copies):
            yield

    @staticmethod
    @contextmanager
    def log_tensor_hashes(
        hash_fn: Callable[[Tensor], Any] | str | list[str] = "norm", hash_inputs: bool = False
    ) -> Iterator[None]:
        """In the block, each line ends with a number for each tensor of its result: by default the sum of magnitudes.

        With `hash_inputs` also with those of its arguments, as they were before.
        """
        names = [hash_fn] if isinstance(hash_fn, str) else hash_fn
        if isinstance(names, list) and names != ["norm"]:
            raise NotImplementedError(f"log_tensor_hashes: {names} is not in glasstorch; use 'norm' or a function")
        one = hash_fn if callable(hash_fn) else norm_hash_fn

        def numbers(tree: Any) -> Any:
            return tree_map(lambda x: one(x) if isinstance(x, Tensor) else None, tree)

        def before(func: Operator, types: Any, args: Any, kwargs: Any, call: Any) -> Record | None:
            found = None if "empty" in func.name else numbers((args, kwargs))
            return {"input_hash": found} if any(x is not None for x in tree_leaves(found)) else None

        def after(func: Operator, types: Any, args: Any, kwargs: Any, result: Any) -> Record | None:
            found = None if "empty" in func.name else numbers(result)
            return {"hash": found} if any(x is not None for x in tree_leaves(found)) else None

        with DebugMode.dispatch_hooks(log_hook=after, pre_log_hook=before if hash_inputs else None):
            yield


_record_hooks: list[Callable[..., Record | None]] = []
_log_hooks: list[Callable[..., Record | None]] = []
_before_hooks: list[Callable[..., Record | None]] = []


def _run(hook: Callable[..., Record | None], *arguments: Any) -> Record | None:
    """What a hook says; None where it fails, for a log must not stop the program."""
    try:
        return hook(*arguments)
    except Exception:  # noqa: BLE001  # as in PyTorch
        return None


def _add_log(call: _DebugCall, log: Record | None) -> None:
    if log is not None:
        call.log = {**(call.log or {}), **log}


def norm_hash_fn(t: Tensor, use_scalar: bool = True) -> Any:
    """The sum of the magnitudes of a tensor's elements, in float64 or complex128."""
    norm = t.to(dtype=complex128 if t.dtype.is_complex else float64).abs().sum()
    return norm.item() if use_scalar else norm


def get_active_debug_mode() -> DebugMode | None:
    """The DebugMode that is on; None where none is."""
    return next((mode for mode in _get_current_dispatch_mode_stack() if isinstance(mode, DebugMode)), None)

"""How does a compiler get a whole program, its backward pass included?

Reading order: `effects` (what a function does to its arguments, and which results share their memory), `joint` (one
graph of the forward and the backward pass), `drawn_again` (whose random numbers a checkpoint uses), `partition` (cut in
two), `roles`, `common_results`, `max_flow` and `min_cut` (cut so that little is saved), `partition_settings`, `boxed`
(how a compiled graph is called), `compiled` (run as one autograd node), `shared_arguments` (which share memory),
`symbolic` (one graph for all sizes), `aot` (all of it, for a function), `graph_compilers` (that only look at a graph),
`decompositions/` (operators in terms of simpler ones), `remembered` (from which line of the program a node comes);
`patterns/` (parts of a graph that are replaced by cheaper ones); `loops/` (from a graph to C++); how Python code
becomes such a graph: `bytecode/`, `guards` and `mismatch` (when a graph may be used again, and why not), `shapes`
(which sizes are symbols), `compilation` (what the graphs of one program have in common), `captured` (a function that
runs by its graphs), `entry` and `optimize` (how a program asks for that), `optimized_module` (for a module); `backends`
(who compiles a graph), `marks` (what is not captured), `stance` (whether graphs are used now), `setting_table` and
`settings` (what else can be chosen), `watching` (who is told of each stage), `reports/` (a page on all), `explain`,
`counters`, `log_names`, `log_state`, `logs` and `log_texts` (what was captured), `reasons` (what PyTorch calls that),
`minifier`, `bisecting` and `bisector` (where it goes wrong), `substitutes`, `static_addresses`, `arrays` and
`guard_filters` (what else a program may ask for), `config`, `errors`.

Below stands what a program finds at torch.compiler.

Mirrors: torch/compiler/__init__.py
Differs: `report` and `reporting`, which PyTorch does not have, write a page on a compilation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from glasstorch.compiler import config as config
from glasstorch.compiler.stance import is_compiling as is_compiling
from glasstorch.compiler.stance import is_dynamo_compiling as is_dynamo_compiling
from glasstorch.compiler.stance import is_exporting as is_exporting
from glasstorch.compiler.stance import set_stance as set_stance
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "config",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_portable_guards_unsafe",
    "keep_tensor_guards_unsafe",
    "list_backends",
    "load_cache_artifacts",
    "load_compiled_function",
    "nested_compile_region",
    "report",
    "reporting",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "skip_all_guards_unsafe",
    "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]


def compile(*args: Any, **kwargs: Any) -> Any:  # PyTorch's name
    """`torch.compile`."""
    from glasstorch.compiler import entry

    return entry.compile(*args, **kwargs)


def reset() -> None:
    """Forget what has been compiled."""
    from glasstorch.compiler import captured

    captured.reset()


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names that `compile(backend=...)` takes, but for those with a tag that is left out."""
    from glasstorch.compiler import backends

    return backends.list_backends(exclude_tags)


def set_default_backend(backend: Any) -> None:
    """Which backend compiles where none is named; None for PyTorch's default, "inductor"."""
    from glasstorch.compiler import backends

    backends.set_default_backend(backend)


def get_default_backend() -> Any:
    """The backend that compiles where none is named."""
    from glasstorch.compiler import backends

    return backends.get_default_backend()


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that is not captured: a call of it is a graph break. Without a function, a decorator."""
    from glasstorch.compiler import marks

    return marks.disable(fn, recursive, reason=reason)


def allow_in_graph(fn: Any) -> Any:
    """Let a function, or each of a list, stay one call in a graph: what it does is not looked into."""
    from glasstorch.compiler import marks

    return marks.allow_in_graph(fn)


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be called once, while its caller is captured, and its result be a constant of the graph."""
    from glasstorch.compiler import marks

    return marks.assume_constant_result(fn)


def substitute_in_graph(
    original_fn: Callable[..., Any], *, can_constant_fold_through: bool = False, skip_signature_check: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: where `original_fn` is called, the function below is captured. It must do the same."""
    from glasstorch.compiler import substitutes

    options = {"can_constant_fold_through": can_constant_fold_through, "skip_signature_check": skip_signature_check}
    return substitutes.substitute_in_graph(original_fn, **options)


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that calls one of arrays: tensors among the arguments and arrays of the result change.

    A call of it is a graph break.
    """
    from glasstorch.compiler import arrays

    return arrays.wrap_numpy(fn)


def nested_compile_region(
    fn: Any = None, *, options: Any = None, max_reuse_entries: int = 8, reuse_hash_fn: Any = None
) -> Any:
    """The function itself: it is captured wherever it is called, and not once for all places. A decorator."""
    if options is not None or reuse_hash_fn is not None:
        raise NotImplementedError(
            "nested_compile_region: glasstorch captures a region in each place; it has no options"
        )
    return fn if fn is not None else lambda function: function


def save_cache_artifacts() -> Any:
    """The machine code that this process has used, as bytes, and what it is; None if there is none."""
    from glasstorch.compiler.loops import artifacts

    return artifacts.save_cache_artifacts()


def load_cache_artifacts(serialized_artifacts: bytes) -> Any:
    """Keep machine code that was saved, so that it need not be compiled. It is executed later: load only your own."""
    from glasstorch.compiler.loops import artifacts

    return artifacts.load_cache_artifacts(serialized_artifacts)


def load_compiled_function(file: Any, *, f_globals: Any = None, external_data: Any = None) -> Callable[..., Any]:
    """A function that was compiled and saved: refused."""
    raise NotImplementedError(
        "load_compiled_function: glasstorch compiles a function in the process that runs it; what can be kept is "
        "machine code, by save_cache_artifacts"
    )


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Whether processes agree on guards: no. The result is what was set before."""
    if enabled:
        raise NotImplementedError("set_enable_guard_collectives: glasstorch has no groups of processes")
    return False


def _filter(name: str, guard_entries: Sequence[Any], **options: Any) -> list[bool]:
    from glasstorch.compiler import guard_filters

    found: list[bool] = getattr(guard_filters, name)(guard_entries, **options)
    return found


def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """For `options={"guard_filter_fn": ...}`: leave out the guards of the library's own modules."""
    return _filter("skip_guard_on_inbuilt_nn_modules_unsafe", guard_entries)


def skip_guard_on_all_nn_modules_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Leave out the guards of all modules."""
    return _filter("skip_guard_on_all_nn_modules_unsafe", guard_entries)


def keep_tensor_guards_unsafe(guard_entries: Sequence[Any], keep_parameters: bool = False) -> list[bool]:
    """Keep the guards of tensors alone, without those of parameters unless they are asked for."""
    return _filter("keep_tensor_guards_unsafe", guard_entries, keep_parameters=keep_parameters)


def keep_portable_guards_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Leave out the guards that hold in this process only."""
    return _filter("keep_portable_guards_unsafe", guard_entries)


def skip_guard_on_globals_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Leave out the guards of global variables."""
    return _filter("skip_guard_on_globals_unsafe", guard_entries)


def skip_all_guards_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Leave out all guards."""
    return _filter("skip_all_guards_unsafe", guard_entries)


def cudagraph_mark_step_begin() -> None:
    """Mark where a step begins, for CUDA graphs, of which there are none."""


def report(fn: Callable[..., Any], *args: Any, path: str | os.PathLike[str] = "report.html", **kwargs: Any) -> Path:
    """Compile a function, run it with these arguments, and write a page on what was made of it, stage by stage.

    The function is called once; if a result requires grad, its gradients are computed too, and dropped. A function
    that `torch.compile` has made is compiled anew, with the options that it has. The result is the page's path.
    """
    from glasstorch.compiler import entry, reports

    name = getattr(fn, "__qualname__", type(fn).__qualname__)
    return reports.report(name, entry.anew(fn), args, kwargs, path)


def reporting(path: str | os.PathLike[str] = "report.html") -> AbstractContextManager[Any]:
    """A context that writes a page on all that is compiled within it."""
    from glasstorch.compiler import reports

    return reports.reporting(path)


__getattr__ = refuse_unknown_names(__name__)

"""Who compiles a graph, and by which name is it asked for?

Mirrors: torch/_dynamo/backends/registry.py, torch/_dynamo/backends/debugging.py
Differs: the backends that lead to other compilers are listed as PyTorch lists them, and refused when they are used.

A backend is a function that gets a module with a graph and example inputs, and returns a function of those inputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

from glasstorch.compiler.errors import InvalidBackend

Backend = Callable[..., Callable[..., Any]]
DEFAULT: Final = "inductor"

# Where each backend is found when it is first asked for, and its tags.
PLACES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "inductor": ("glasstorch.compiler.loops.backend:compile_fx", ()),
    "aot_eager": ("glasstorch.compiler.backends:aot_eager", ("debug",)),
    "aot_eager_decomp_partition": ("glasstorch.compiler.backends:aot_eager_decomp_partition", ("debug",)),
    "eager": ("glasstorch.compiler.backends:eager", ("debug",)),
}
# Names of PyTorch's whose compilers are not part of this library.
ELSEWHERE: Final = {"cudagraphs": "graphs of CUDA", "openxla": "XLA", "tvm": "TVM"}
_registered: dict[str, tuple[Backend, tuple[str, ...]]] = {}
_default: list[Any] = [DEFAULT]


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Sequence[str] = ()) -> Any:
    """Let a backend be asked for by its name. Without a function, a decorator."""
    if compiler_fn is None:
        return partial(register_backend, name=name, tags=tags)
    if not callable(compiler_fn):
        raise AssertionError(f"compiler_fn must be callable, got {type(compiler_fn)}")
    name = name or compiler_fn.__name__
    if name in _registered:
        raise AssertionError(f"duplicate name: {name}")
    _registered[name] = (compiler_fn, tuple(tags))
    return compiler_fn


def lookup_backend(compiler_fn: Any) -> Backend:
    """The backend of a name; a function is its own."""
    if not isinstance(compiler_fn, str):
        found: Backend = compiler_fn
        return found
    if compiler_fn in _registered:
        return _registered[compiler_fn][0]
    if compiler_fn in ELSEWHERE:
        return _refused(compiler_fn)
    if compiler_fn not in PLACES:
        raise InvalidBackend(compiler_fn)
    module, _, name = PLACES[compiler_fn][0].partition(":")
    backend: Backend = getattr(import_module(module), name)
    return backend


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names that `torch.compile(backend=...)` takes, but for those with a tag that is left out."""
    left_out = set(exclude_tags or ())
    tags = {name: tags for name, (_, tags) in (*PLACES.items(), *_registered.items())} | dict.fromkeys(ELSEWHERE, ())
    return sorted(name for name in tags if not left_out.intersection(tags[name]))


def set_default_backend(backend: Any) -> None:
    """Which backend compiles where none is named; None for PyTorch's default, "inductor"."""
    if backend is not None and not isinstance(backend, str) and not callable(backend):
        raise TypeError(f"backend must be a string or callable, got {type(backend)}")
    _default[0] = DEFAULT if backend is None else backend


def get_default_backend() -> Any:
    """The backend that compiles where none is named."""
    return _default[0]


def eager(gm: Any, fake_tensor_inputs: Any, **options: Any) -> Callable[..., Any]:
    """Run the graph as it was captured."""
    if options:
        warnings.warn(f"eager backend ignoring extra kwargs {options}", stacklevel=2)
    run: Callable[..., Any] = gm.forward
    return run


def aot_eager(gm: Any, fake_tensor_inputs: Any, **options: Any) -> Callable[..., Any]:
    """Run the graphs of AOTAutograd, one forward and one backward, operator by operator."""
    if options:
        warnings.warn(f"aot_eager backend ignoring extra kwargs {options}", stacklevel=2)
    return _aot(gm, fake_tensor_inputs)


def aot_eager_decomp_partition(gm: Any, fake_tensor_inputs: Any, **options: Any) -> Callable[..., Any]:
    """`aot_eager` with core operators only, and a backward pass that computes again what is cheap."""
    if options:
        warnings.warn(f"aot_eager_decomp_partition backend ignoring extra kwargs {options}", stacklevel=2)
    from glasstorch.compiler.bisecting import limited_table
    from glasstorch.compiler.decompositions.table import core_aten_decompositions
    from glasstorch.compiler.min_cut import min_cut_rematerialization_partition

    return _aot(gm, fake_tensor_inputs, min_cut_rematerialization_partition, limited_table(core_aten_decompositions()))


def _aot(gm: Any, inputs: Sequence[Any], cut: Any = None, decompositions: Any = None) -> Callable[..., Any]:
    from glasstorch.compiler.aot import compile_flat
    from glasstorch.compiler.partition import default_partition

    run = compile_flat(gm, inputs, _forward_of, _forward_of, cut or default_partition, decompositions)
    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _forward_of(module: Any, inputs: Any) -> Callable[..., Any]:
    from glasstorch.compiler.boxed import make_boxed_func

    return make_boxed_func(module.forward)


def _refused(name: str) -> Backend:
    def refuse(gm: Any, fake_tensor_inputs: Any, **options: Any) -> Callable[..., Any]:
        raise NotImplementedError(f"the backend {name!r} needs {ELSEWHERE[name]}, which glasstorch does not have")

    refuse.__name__ = name
    return refuse

"""What does `torch.compile` do?

Mirrors: torch/__init__.py (compile), torch/_inductor/__init__.py (list_mode_options)
"""

from __future__ import annotations

from functools import partial, update_wrapper
from typing import Any, Final

# What each mode of "inductor" stands for.
MODES: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "lite": {
        "fallback_by_default": True,
        "selective_decompose": True,
        "reorder_for_peak_memory": False,
        "reorder_for_compute_comm_overlap": False,
        "triton.reorder_for_reducing_graph_partitions": False,
        "use_pre_grad_passes": False,
        "use_joint_graph_passes": False,
        "use_post_grad_passes": False,
        "use_dce": False,
        "allow_buffer_reuse": False,
    },
    "reduce-overhead": {"triton.cudagraphs": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
    "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True},
}


def compile(  # PyTorch's name
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """A function, or a module, that runs by graphs which a backend compiles. Without a model, a decorator.

    The first call is captured, and the graph is used again while what it depends on is the same. With `fullgraph`, a
    call that does not become one graph raises `torch._dynamo.exc.Unsupported`; otherwise what cannot be captured runs
    as it is. Each call of `compile` keeps graphs of its own, whatever `isolate_recompiles` says; `name` is for tools.
    `backend` is a name out of `torch._dynamo.list_backends(None)`, or a function of a module with a graph
    and example inputs. `mode` and `options` are passed to it. With `disable`, the model runs as it is.
    """
    from glasstorch.compiler.backends import DEFAULT, get_default_backend, lookup_backend
    from glasstorch.compiler.optimize import optimize

    backend = get_default_backend() if backend is None else backend
    if shapes_spec is not None:
        raise NotImplementedError("torch.compile: glasstorch has no shapes_spec; sizes are marked by `mark_dynamic`")
    if model is None:
        options_of_all = {
            "fullgraph": fullgraph, "dynamic": dynamic, "backend": backend, "mode": mode, "options": options,
            "name": name, "disable": disable, "recompile_limit": recompile_limit,
            "isolate_recompiles": isolate_recompiles,
        }  # fmt: skip
        return lambda model: _of_a_model(model, options_of_all)
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    options = dict(options or {})
    guard_filter = options.pop("guard_filter_fn", None)
    run = lookup_backend(backend)
    given: dict[str, Any] = {}
    if backend == DEFAULT:
        _check_mode(mode)
        from glasstorch.compiler.loops.settings import checked

        checked(options)
    if mode not in (None, "default"):
        given["mode"] = mode
    if options:
        given["options"] = options
    if given:
        run = update_wrapper(partial(run, **given), run) if hasattr(run, "__name__") else partial(run, **given)
    return optimize(
        run,
        nopython=fullgraph,
        dynamic=dynamic,
        disable=disable,
        recompile_limit=recompile_limit,
        guard_filter_fn=guard_filter,
    )(model)


def _of_a_model(model: Any, options: dict[str, Any]) -> Any:
    if model is None:
        raise RuntimeError("Model can't be None")
    return compile(model, **options)


def _check_mode(mode: str | None) -> None:
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")


def anew(fn: Any) -> Any:
    """A function that has no graphs yet; one that is compiled already is compiled again, with the same options."""
    from glasstorch.compiler.optimize import optimize
    from glasstorch.compiler.optimized_module import OptimizedModule

    if isinstance(fn, OptimizedModule):
        return fn.dynamo_ctx(fn._orig_mod)
    optimized = getattr(fn, "_optimized", None)
    if optimized is None:
        return compile(fn)
    of = optimized.of
    return optimize(
        of.backend, nopython=of.fullgraph, dynamic=of.dynamic, recompile_limit=of.limit, guard_filter_fn=of.guard_filter
    )(fn)

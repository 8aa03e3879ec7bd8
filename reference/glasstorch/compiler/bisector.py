"""Which stage of the compiler gives another answer than eager mode, and for which few operators?

Mirrors: torch/_inductor/compiler_bisector.py (CompilerBisector), torch/_dynamo/debug_utils.py (same_two_models)
Differs: an error counts as a wrong answer. The state of a search is kept in the process, not in files, and
    `first_difference`, which PyTorch does not have, compares by itself.

The backends do more and more: "eager" only captures, "aot_eager" makes a joint graph and cuts it, the next one
decomposes and cuts it elsewhere, "inductor" makes loops. The first one that goes wrong has the fault; in it, each step
is left out in turn, and of a step that is taken many times the first wrong one is found by halving.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.graph import grad
from glasstorch.compiler.backends import lookup_backend
from glasstorch.compiler.bisecting import limited, names, taken
from glasstorch.compiler.boxed import call
from glasstorch.compiler.captured import reset
from glasstorch.compiler.entry import anew
from glasstorch.compiler.minifier import minifier
from glasstorch.compiler.partition_settings import settings
from glasstorch.compiler.stance import state
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.core.random.generator import default_generator
from glasstorch.fx._names import at
from glasstorch.fx.graph_module import GraphModule
from glasstorch.nn.modules.module import Module

# For each backend, the steps that it has more than the one before. "cse" is a setting, the others are counted.
BACKENDS: Final[dict[str, tuple[str, ...]]] = {
    "eager": (),
    "aot_eager": (),
    "aot_eager_decomp_partition": ("cse", "decomposition"),
    "inductor": ("pre_grad_passes", "post_grad_passes", "lowerings"),
}
MANY: Final = 1 << 30


@dataclass
class BisectionResult:
    """The backend with the fault, the step if one was found, at which time it was wrong, and what it was about then."""

    backend: str
    subsystem: str | None = None
    bisect_number: int | None = None
    debug_info: str | None = None


class CompilerBisector:
    """Finds the backend, and the step in it, with which a check fails."""

    @classmethod
    def do_bisect(cls, fn: Callable[[], bool], cli_interface: bool = False) -> BisectionResult | None:
        """Where the fault is; None if the check passes with all backends.

        `fn` compiles something, and returns whether all is well; an error means that it is not.
        """
        if cli_interface:
            raise NotImplementedError("CompilerBisector: there is no command line; call do_bisect with a function")
        backend = next((name for name in BACKENDS if not cls._passes(fn, name)), None)
        if backend is None:
            return None
        for step in BACKENDS[backend]:
            if step == "cse":
                with settings.patch(cse=False):
                    if cls._passes(fn, backend):
                        return BisectionResult(backend, f"{backend}_cse")
            elif cls._passes(fn, backend, step, 0):
                return BisectionResult(backend, step, *cls._first(fn, backend, step))
        return BisectionResult(backend)

    @classmethod
    def _first(cls, fn: Callable[[], bool], backend: str, step: str) -> tuple[int, str]:
        """The first time at which a step is wrong, and what it is about."""
        cls._passes(fn, backend, step, MANY)
        good, bad = 0, max(taken[step], 1)
        while bad - good > 1:
            middle = (good + bad) // 2
            if cls._passes(fn, backend, step, middle):
                good = middle
            else:
                bad = middle
        cls._passes(fn, backend, step, bad)
        return bad, names.get(step, "")

    @classmethod
    def _passes(cls, fn: Callable[[], bool], backend: str, step: str = "", most: int = MANY) -> bool:
        with _compiled_by(lookup_backend(backend)), limited(step, most):
            try:
                return bool(fn())
            except Exception:  # noqa: BLE001  # whatever goes wrong is what is looked for
                return False


@contextmanager
def _compiled_by(backend: Any) -> Iterator[None]:
    """In the block, all functions are compiled anew, with this backend."""
    before = state.change("default", backend)
    reset()
    try:
        yield
    finally:
        state.change(*before)
        reset()


# A search that compares by itself --------------------------------------------------------------------------------


class Difference(NamedTuple):
    """The first backend whose answer differs, how, where in it, and a small graph that shows it, with its inputs."""

    backend: str
    what: str
    found: BisectionResult | None
    graph: GraphModule | None
    inputs: Sequence[Any]

    def __str__(self) -> str:
        where = self.found and self.found.subsystem
        lines = [f"{self.backend}: {self.what}"]
        if self.found is not None and where:
            lines.append(f"step: {where} {self.found.bisect_number or ''} {self.found.debug_info or ''}".rstrip())
        if self.graph is not None:
            lines.append(f"shown by\n{self.graph.code.strip()}")
        return "\n".join(lines)


def first_difference(
    fn: Callable[..., Any], *args: Any, rtol: float = 1e-4, atol: float = 1e-5, **kwargs: Any
) -> Difference | None:
    """The first stage at which a function's results, or gradients, are not those of eager mode; None if all agree.

    Each run gets copies of the arguments, of the module if it is one, and the same random numbers.
    """
    compare = _Comparison(fn, args, kwargs, {"rtol": rtol, "atol": atol})
    for backend in BACKENDS:
        graphs: list[tuple[GraphModule, list[Any]]] = []
        what = compare.difference(_keeping(lookup_backend(backend), graphs))
        if what is None:
            continue
        found = CompilerBisector.do_bisect(lambda: compare.difference() is None)
        graph, inputs = _smallest(lookup_backend(backend), graphs, compare) if backend != "eager" else (None, [])
        return Difference(backend, what, found, graph, inputs)
    return None


class _Comparison:
    """Runs a function compiled and not, and says how the answers differ."""

    def __init__(self, fn: Any, args: Sequence[Any], kwargs: dict[str, Any], tolerances: dict[str, float]) -> None:
        self.fn, self.args, self.kwargs, self.tolerances = fn, args, kwargs, tolerances
        self.drawn = default_generator.get_state()
        self.wanted = self.answers(fn, args, kwargs, lambda one: one)

    def answers(self, fn: Any, args: Sequence[Any], kwargs: dict[str, Any], compiled: Callable[[Any], Any]) -> Any:
        """Results, gradients, and the arguments afterwards."""
        default_generator.set_state(self.drawn)
        fn = copy.deepcopy(fn) if isinstance(fn, Module) else fn
        given, named = _copied((list(args), kwargs))
        used = [leaf for leaf in tree_leaves((given, named)) if isinstance(leaf, Tensor)]
        inputs = [*used, *(fn.parameters() if isinstance(fn, Module) else ())]
        results = compiled(fn)(*given, **named)
        roots = [leaf for leaf in tree_leaves(results) if isinstance(leaf, Tensor) and leaf.requires_grad]
        wanted = [leaf for leaf in inputs if leaf.requires_grad and leaf.is_leaf]
        gradients: Sequence[Any] = ()
        if roots and wanted:
            gradients = grad(roots, wanted, [at("ones_like")(root) for root in roots], allow_unused=True)
        return {"results": results, "gradients": list(gradients), "arguments": used}

    def difference(self, backend: Any = None) -> str | None:
        """How the compiled function differs; without a backend, compiled as the search says."""
        if backend is None:
            return self._between(self.wanted, lambda: self.answers(self.fn, self.args, self.kwargs, anew))
        with _compiled_by(backend):
            return self._between(self.wanted, lambda: self.answers(self.fn, self.args, self.kwargs, anew))

    def of_graph(self, backend: Any, graph: GraphModule, inputs: Sequence[Any]) -> bool:
        """Whether a graph alone gives another answer when it is compiled."""
        wanted = self.answers(graph.forward, inputs, {}, lambda one: one)

        def compiled(_: Any) -> Callable[..., Any]:
            run = backend(graph, list(inputs))
            return lambda *values: call(run, list(values)) if getattr(run, "_boxed_call", False) else run(*values)

        return self._between(wanted, lambda: self.answers(graph.forward, inputs, {}, compiled)) is not None

    def _between(self, wanted: dict[str, Any], run: Callable[[], dict[str, Any]]) -> str | None:
        try:
            found = run()
        except Exception as error:  # noqa: BLE001  # whatever goes wrong is what is looked for
            return f"{type(error).__name__}: {error}"
        for name, value in found.items():
            try:
                at("testing").assert_close(
                    tree_leaves(value), tree_leaves(wanted[name]), equal_nan=True, **self.tolerances
                )
            except (AssertionError, TypeError, ValueError) as error:
                return f"{name} differ: {' '.join(str(error).split())}"
        return None


def _copied(values: Any) -> Any:
    def one(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.detach().clone().requires_grad_(value.requires_grad)
        return value

    return tree_map(one, values)


def _keeping(backend: Any, graphs: list[tuple[GraphModule, list[Any]]]) -> Any:
    def keep(module: GraphModule, inputs: list[Any]) -> Any:
        graphs.append((copy.deepcopy(module), _copied(inputs)))
        return backend(module, inputs)

    return keep


def _smallest(
    backend: Any, graphs: Sequence[tuple[GraphModule, list[Any]]], compare: _Comparison
) -> tuple[GraphModule | None, Sequence[Any]]:
    """The smallest part of a graph for which the backend goes wrong; none if no graph does so by itself."""
    for graph, inputs in graphs:
        if compare.of_graph(backend, graph, inputs):
            with redirect_stderr(StringIO()):
                return minifier(
                    graph, inputs, lambda module, given: compare.of_graph(backend, module, given), lambda *shown: None
                )
    return None, []

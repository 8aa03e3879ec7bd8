"""What do all graphs that one `torch.compile` makes have in common?

Mirrors: torch/_dynamo/convert_frame.py (ConvertFrame), torch/_dynamo/output_graph.py (call_user_compiler)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from traceback import FrameSummary
from typing import Any, Final, NamedTuple

from glasstorch.compiler.bytecode.unsupported import TorchDynamoException, Unsupported
from glasstorch.compiler.counters import counters
from glasstorch.compiler.errors import BackendCompilerFailed
from glasstorch.compiler.logs import is_on, tell
from glasstorch.compiler.reasons import hints_of, kind_of
from glasstorch.compiler.settings import settings
from glasstorch.compiler.stance import state
from glasstorch.compiler.watching import timed, told
from glasstorch.fx.graph_module import GraphModule

PLACE: Final = re.compile(r"(.*):(\d+) in (.*)")
Backend = Callable[[GraphModule, list[Any]], Callable[..., Any]]


class Break(NamedTuple):
    """Why a graph ended early, or why a call was not captured."""

    reason: str
    where: str
    graph_break: bool = True  # whether the function goes on in another graph

    @property
    def user_stack(self) -> list[FrameSummary]:
        """The line of the program at which the graph ended; none if it is not known."""
        found = PLACE.fullmatch(self.where)
        return [FrameSummary(found[1], int(found[2]), found[3])] if found else []

    @property
    def kind(self) -> str | None:
        """What PyTorch calls such a reason."""
        return kind_of(self.reason)


class Compilation:
    """The options of one `torch.compile`, and what it found where it could not capture the program."""

    def __init__(
        self, backend: Backend, fullgraph: bool = False, limit: int | None = None, dynamic: bool | None = None
    ) -> None:
        self.backend = backend
        self.fullgraph = fullgraph
        self.limit = limit  # instead of the setting `recompile_limit`
        self.dynamic = dynamic
        self.guard_filter: Any = None  # which guards are checked, where the program chooses
        self.forget()

    def forget(self) -> None:
        """Forget what was compiled."""
        self.breaks: list[Break] = []
        self.functions: list[Any] = []  # those that have graphs, each an Optimized
        self.parts: dict[Any, Any] = {}  # functions that go on after a break, and those that are called there

    @property
    def recompile_limit(self) -> int:
        """How many graphs one function may have."""
        return settings.recompile_limit if self.limit is None else self.limit

    def note(self, error: Unsupported, *, goes_on: bool, is_branch: bool = False) -> None:
        """Keep why a capture ended. A branch is counted where PyTorch counts it."""
        counters["graph_break" if goes_on and not is_branch else "unimplemented"][error.reason] += 1
        self.breaks.append(Break(error.reason, error.where, goes_on))
        told("broken", found=self.breaks[-1])
        then = "the graph ends there" if goes_on else "the function runs as it is"
        hints = "".join(f"\n  Hint: {hint}" for hint in hints_of(error.reason))
        tell("graph_breaks", f"{error.reason}\n  at {error.where or 'an unknown line'}; {then}{hints}")

    def run_of(self, module: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        """What the backend makes of a graph; a graph that computes nothing runs as it is."""
        calls = sum(node.op.startswith("call") for node in module.graph.nodes)
        if not calls:
            run: Callable[..., Any] = module.forward
            return run
        counters["stats"]["calls_captured"] += calls
        counters["stats"]["unique_graphs"] += 1
        if is_on("graph_code"):
            tell("graph_code", module.code.strip())
        told("graph", module=module)
        backend = state.backend or self.backend
        try:
            with timed("backend"):
                return backend(module, inputs)
        except TorchDynamoException:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a backend raises is told with its name
            failed = BackendCompilerFailed(backend, error).with_traceback(error.__traceback__)
            raise failed from (error if settings.verbose else None)

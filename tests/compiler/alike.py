"""How is it tested that a program which compiles functions does what it does with PyTorch?"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import glasstorch
import glasstorch._dynamo

BACKENDS = ("eager", "aot_eager", "inductor")
Program = Callable[[Any, Callable[..., Any]], Any]


def check(torch: Any, program: Program, backends: tuple[str, ...] = BACKENDS, graphs: bool = True) -> None:
    """A program of the library and of its `compile` gives what it gives with PyTorch, in as many graphs.

    The number of graphs may be another one unless `graphs`.
    PyTorch's "inductor" would need seconds for each graph, so that "aot_eager" stands for it.
    """
    import torch._dynamo  # a submodule that `import torch` leaves out

    known: dict[str, Any] = {}
    for backend in backends:
        ours, peer = outcome(glasstorch, program, backend, graphs), "aot_eager" if backend == "inductor" else backend
        theirs = known[peer] = known[peer] if peer in known else outcome(torch, program, peer, graphs)
        assert ours == theirs, f"{backend}: {ours}, and with PyTorch {theirs}"


def outcome(torch: Any, program: Program, backend: str, with_graphs: bool) -> Any:
    """What a program gives, as plain objects, and how many graphs were compiled; or the error that it raises."""
    compiler, graphs = torch._dynamo.lookup_backend(backend), []

    def counted(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return compiler(module, inputs)

    def compiled(function: Any = None, **options: Any) -> Any:
        return torch.compile(function, backend=counted, **options)

    torch._dynamo.reset()
    torch.manual_seed(0)
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(program(torch, compiled)), len(graphs) if with_graphs else None
    except Exception as error:  # noqa: BLE001  # which one it is, is compared
        return type(error).__name__, str(error).partition("\n")[0]
    finally:
        logging.disable(logging.NOTSET)
        torch._dynamo.reset()


def plain(value: Any) -> Any:
    """A value with lists of rounded numbers in place of tensors."""
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        numbers = value.detach().reshape(-1).tolist()
        rounded = [round(number, 4) if isinstance(number, float) else number for number in numbers]
        return str(value.dtype).rpartition(".")[2], tuple(value.shape), value.requires_grad, rounded
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, int | float | str) else str(value).replace("glasstorch", "torch")

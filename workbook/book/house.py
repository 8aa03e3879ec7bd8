"""Which rooms has the house? The library's layers from the bottom up, for the map and the reference."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PACKAGE = Path("reference") / "glasstorch"


class Layer(NamedTuple):
    """One storey: it imports only from those below it."""

    number: int
    rooms: tuple[str, ...]  # folders of the package, or a single file of it
    question: str
    counterpart: str  # where PyTorch answers the same question
    chapters: tuple[str, ...]

    def built(self, root: Path) -> tuple[str, ...]:
        """Those of its rooms that stand already."""
        return tuple(room for room in self.rooms if stands(root / PACKAGE / room))


LAYERS = (
    Layer(0, ("core",), "What is a tensor before any operation?", "c10/core", ("02",)),
    Layer(1, ("dispatch",), "Which kernel runs?", "ATen/core/dispatch", ("03",)),
    Layer(2, ("operators",), "Which operators exist, with what shapes?", "torchgen", ("01", "03")),
    Layer(3, ("printing.py", "_tensor.py"), "What does a user hold?", "python_variable.cpp", ("01",)),
    Layer(4, ("kernels",), "How is it computed?", "ATen/native, c10/cuda", ("02", "05")),
    Layer(5, ("autograd",), "How are gradients recorded and run?", "torch/csrc/autograd", ("04",)),
    Layer(6, ("func", "amp", "profiler"), "What can be done to every call?", "functorch, autocast", ("04", "07")),
    Layer(
        7,
        ("nn", "optim", "data", "serialization"),
        "How is a model trained?",
        "torch/nn, torch/optim",
        ("07",),
    ),
    Layer(8, ("jit", "fx"), "How is a program captured and optimised?", "torch/csrc/jit, torch/fx", ("06",)),
    Layer(
        9,
        ("compiler", "quantization", "distributed"),
        "How is it compiled, made small, spread out?",
        "_dynamo, _inductor, ao",
        ("06", "08", "09"),
    ),
    Layer(10, ("export", "__init__.py"), "What does `import torch` offer?", "torch", ("10",)),
)


def stands(path: Path) -> bool:
    """Whether there is a module or a package at the path."""
    return (path.suffix == ".py" and path.is_file()) or (path / "__init__.py").is_file()

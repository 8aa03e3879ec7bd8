"""Which rooms does the house have? The library's layers from the bottom up, for the map and the reference."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PACKAGE = Path("reference") / "glasstorch"
FACADE = "__init__.py"
HEADS = ("in glasstorch", "in the book", "in PyTorch 2.13")  # over a layer's rooms, its chapters, PyTorch's files


class Layer(NamedTuple):
    """One storey, which imports only from the storeys below it."""

    number: int
    rooms: tuple[str, ...]  # folders of the package, or a single file of it
    question: str
    there: tuple[str, ...]  # files of PyTorch that answer the same question, the first to open first
    chapters: tuple[str, ...]

    def built(self, root: Path) -> tuple[str, ...]:
        """The rooms that already exist."""
        return tuple(room for room in self.rooms if stands(root / PACKAGE / room))


LAYERS = (
    Layer(
        0,
        ("core",),
        "What is a tensor before any operation?",
        ("c10/core/TensorImpl.h", "c10/core/StorageImpl.h"),
        ("02",),
    ),
    Layer(
        1,
        ("dispatch",),
        "Which kernel runs?",
        ("aten/src/ATen/core/dispatch/Dispatcher.h", "c10/core/DispatchKeySet.h"),
        ("03",),
    ),
    Layer(
        2,
        ("devices",),
        "What does a device do?",
        ("c10/cuda/CUDACachingAllocator.h", "c10/cuda/CUDAStream.h"),
        ("05",),
    ),
    Layer(
        3,
        ("calls",),
        "Which operator does a Python call mean?",
        ("torch/csrc/utils/python_arg_parser.h",),
        ("01",),
    ),
    Layer(
        4,
        ("operators",),
        "Which operators exist, with what shapes?",
        ("aten/src/ATen/native/native_functions.yaml", "torchgen/model.py"),
        ("01", "03"),
    ),
    Layer(
        5,
        ("outside_data", "python_forms"),
        "Which Python functions are more than an operator?",
        ("torch/csrc/utils/tensor_new.h", "torch/functional.py"),
        ("01",),
    ),
    Layer(
        6,
        ("printing.py", "_tensor.py"),
        "What does a user hold?",
        ("torch/csrc/autograd/python_variable.cpp", "torch/_tensor.py"),
        ("01",),
    ),
    Layer(
        7,
        ("kernels",),
        "How is it computed?",
        ("aten/src/ATen/TensorIterator.h", "aten/src/ATen/native/cuda/Loops.cuh"),
        ("02", "05"),
    ),
    Layer(
        8,
        ("autograd",),
        "How are gradients recorded and run?",
        ("torch/csrc/autograd/node.h", "torch/csrc/autograd/engine.h"),
        ("04",),
    ),
    Layer(
        9,
        (
            "func",
            "amp",
            "profiler",
            "_dispatch_queries.py",
            "_python_dispatch.py",
            "_traceable.py",
            "_library",
            "_subclasses",
        ),
        "What can be done to every call?",
        ("torch/_functorch/eager_transforms.py", "torch/amp/autocast_mode.py", "torch/profiler/profiler.py"),
        ("04", "07"),
    ),
    Layer(
        10,
        ("nn", "optim", "data", "serialization", "distributions"),
        "How is a model trained?",
        ("torch/nn/modules/module.py", "torch/optim/optimizer.py", "torch/utils/data/dataloader.py"),
        ("07",),
    ),
    Layer(
        11,
        ("jit", "fx"),
        "How is a program captured and optimised?",
        ("torch/csrc/jit/ir/ir.h", "torch/fx/graph.py"),
        ("06",),
    ),
    Layer(
        12,
        ("compiler", "quantization", "distributed", "_functorch", "_dynamo", "_inductor", "_logging", "_decomp"),
        "How is it compiled, quantized and distributed?",
        (
            "torch/_inductor/compile_fx.py",
            "torch/ao/quantization/observer.py",
            "torch/distributed/distributed_c10d.py",
        ),
        ("06", "08", "09"),
    ),
    Layer(
        13,
        (
            "export",
            "cuda",
            "cpu",
            "accelerator",
            "backends",
            "array_api",
            "masked",
            "sparse",
            "nested",
            "signal",
            "multiprocessing",
            "testing",
            "utils",
            FACADE,
        ),
        "What do `import torch` and `torch.cuda` offer?",
        ("torch/export/exported_program.py", "torch/cuda/__init__.py", "torch/__init__.py"),
        ("05", "10"),
    ),
)


def not_told(chapter: str, *, begun: bool) -> str:
    """The text for a chapter that does not cover a layer yet, although other sections of it may exist.

    >>> not_told("07", begun=False)
    '07: not written yet'
    >>> not_told("04", begun=True)
    '04: a later section'
    """
    return f"{chapter}: a later section" if begun else f"{chapter}: not written yet"


def stands(path: Path) -> bool:
    """Whether there is a module or a package at the path."""
    return (path.suffix == ".py" and path.is_file()) or (path / "__init__.py").is_file()

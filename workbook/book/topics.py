"""What is each section's part of the interview about?

A section belongs to one topic or to several. The first is where the page of all questions lists its questions; under
each of them `workbook review TOPIC` asks them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from workbook.book.errors import BookError

# In the order of the page. The names are what a reader types.
TITLES = {
    "architecture": "Architecture",
    "calls": "From a Python call to a kernel",
    "operators": "Operators and generated code",
    "views": "Storage, strides and views",
    "dispatcher": "The dispatcher",
    "dtypes": "Dtypes",
    "modes": "Modes and kernels of your own",
    "autograd": "Autograd: the graph",
    "engine": "Autograd: the engine",
    "memory": "Memory",
    "cuda": "CUDA: launches and streams",
    "allocator": "CUDA: the caching allocator",
    "jit": "Graphs and compilers",
    "tracing": "Tracing",
    "ir": "The IR",
    "passes": "Passes",
    "fusion": "Fusion",
    "modules": "Modules",
    "hooks": "Hooks",
    "initialisation": "Initialisation and random numbers",
    "attention": "Attention",
    "convolution": "Convolutions",
    "training": "Training",
    "optimizers": "Optimizers",
    "profiling": "Profiling",
    "data": "Data loading",
    "saving": "Saving and loading",
    "precision": "Mixed precision",
}

# By the section's path in the book, without its ending.
OF_SECTION: dict[str, tuple[str, ...]] = {
    "00-start/how-to-read": ("views",),
    "00-start/one-addition": ("calls", "dispatcher", "dtypes"),
    "00-start/one-backward": ("autograd", "engine"),
    "00-start/a-classifier": ("training",),
    "00-start/map-of-the-house": ("architecture",),
    "01-architecture/layers": ("architecture",),
    "01-architecture/every-hop-of-a-call": ("calls", "dispatcher"),
    "01-architecture/the-bridge": ("calls",),
    "01-architecture/four-names-for-one-operator": ("calls",),
    "01-architecture/objects-and-reference-counts": ("calls",),
    "01-architecture/the-gil-and-what-is-released": ("calls",),
    "01-architecture/from-a-row-to-an-operator": ("operators",),
    "01-architecture/where-things-live": ("architecture",),
    "01-architecture/three-libraries-underneath": ("architecture",),
    "01-architecture/one-source-several-processors": ("architecture",),
    "01-architecture/one-operator-five-places": ("architecture", "dispatcher"),
    "01-architecture/watching-pytorch": ("architecture",),
    "02-tensor-storage/one-buffer-many-views": ("views", "memory"),
    "02-tensor-storage/what-a-kernel-may-assume": ("views", "memory"),
    "02-tensor-storage/when-a-view-is-impossible": ("views",),
    "03-dispatcher/a-call-is-a-set-of-keys": ("dispatcher",),
    "03-dispatcher/one-entry-of-the-table": ("dispatcher",),
    "03-dispatcher/dtype-is-not-a-key": ("dtypes", "dispatcher"),
    "03-dispatcher/a-kernel-that-wins": ("modes", "dispatcher"),
    "03-dispatcher/functionalization": ("dispatcher", "views"),
    "03-dispatcher/custom-operators-and-opcheck": ("modes", "operators"),
    "03-dispatcher/subclasses-and-modes": ("modes", "dispatcher"),
    "03-dispatcher/your-own-backend": ("dispatcher", "architecture"),
    "03-dispatcher/two-different-not-implemented": ("dispatcher", "autograd"),
    "03-dispatcher/layouts-as-keys": ("dispatcher", "views"),
    "03-dispatcher/nested-tensors": ("dispatcher", "attention"),
    "03-dispatcher/autocast-and-vmap-as-fallbacks": ("modes", "dispatcher"),
    "03-dispatcher/what-a-dispatch-costs": ("dispatcher", "profiling"),
    "04-autograd/the-graph-is-built-by-running": ("autograd",),
    "04-autograd/nodes-edges-and-what-is-saved": ("autograd", "memory"),
    "04-autograd/the-engine-step-by-step": ("engine", "autograd"),
    "04-autograd/when-gradients-are-added-in-place": ("engine", "memory"),
    "04-autograd/gradients-as-vector-jacobian-products": ("autograd",),
    "04-autograd/leaves-and-accumulation": ("autograd", "memory"),
    "04-autograd/versions-and-in-place-errors": ("autograd", "memory"),
    "04-autograd/views-in-place-and-copyslices": ("autograd", "views"),
    "04-autograd/hooks-and-who-may-change-what": ("hooks", "autograd"),
    "04-autograd/your-own-function": ("autograd",),
    "04-autograd/double-backward-and-gradcheck": ("autograd",),
    "04-autograd/modes-and-their-memory": ("autograd", "memory"),
    "04-autograd/checkpointing": ("autograd", "memory"),
    "04-autograd/forward-mode-and-jacobians": ("autograd",),
    "04-autograd/vmap-as-a-key": ("autograd", "dispatcher"),
    "04-autograd/threads-reentrancy-and-devices": ("engine",),
    "04-autograd/debugging-a-nan": ("autograd", "engine"),
    "04-autograd/distributed-autograd-in-outline": ("engine",),
    "04-autograd/reading-the-engine": ("engine",),
    "05-cuda/what-a-launch-is": ("cuda",),
    "05-cuda/streams-and-events": ("cuda",),
    "05-cuda/the-caching-allocator": ("allocator", "cuda", "memory"),
    "06-jit/why-a-graph": ("jit",),
    "06-jit/tracing-is-a-dispatch-key": ("tracing", "jit"),
    "06-jit/reading-the-ir": ("ir", "jit"),
    "06-jit/a-pass-is-a-function": ("passes", "jit"),
    "06-jit/fusion-measured": ("fusion", "jit"),
    "06-jit/fx-as-a-tool": ("passes", "tracing"),
    "06-jit/from-trace-to-bytecode": ("tracing", "jit"),
    "06-jit/one-frame-step-by-step": ("tracing", "jit"),
    "06-jit/guards-and-recompiles": ("jit",),
    "06-jit/graph-breaks": ("jit",),
    "06-jit/dynamic-shapes": ("jit",),
    "06-jit/the-joint-graph": ("autograd", "memory"),
    "06-jit/decompositions": ("passes", "operators"),
    "06-jit/loops-and-fusion": ("fusion", "memory"),
    "06-jit/the-cpp-that-comes-out": ("jit", "fusion"),
    "06-jit/what-compile-does-not-help": ("fusion", "jit"),
    "07-nn-and-training/what-a-module-is": ("modules", "training"),
    "07-nn-and-training/hooks-and-their-order": ("hooks", "modules", "autograd"),
    "07-nn-and-training/from-a-layer-to-the-generator": ("initialisation", "training"),
    "07-nn-and-training/attention-three-ways": ("attention", "memory"),
    "07-nn-and-training/how-a-convolution-is-computed": ("convolution",),
    "07-nn-and-training/choosing-a-convolution-algorithm": ("convolution",),
    "07-nn-and-training/optimizers-as-tensor-programs": ("optimizers", "training"),
    "07-nn-and-training/the-loop-under-the-profiler": ("profiling", "training"),
    "07-nn-and-training/what-a-profile-counts": ("profiling", "memory"),
    "07-nn-and-training/workers-and-their-seeds": ("data", "training"),
    "07-nn-and-training/saving-and-loading": ("saving", "memory", "training"),
    "07-nn-and-training/mixed-precision": ("precision", "dispatcher", "training"),
    "07-nn-and-training/a-gpt-line-by-line": ("training", "initialisation", "optimizers"),
}


def topics_of(path: str) -> tuple[str, ...]:
    """The topics of a section, by the path of its text."""
    try:
        return OF_SECTION[path.removesuffix(".md")]
    except KeyError:
        raise BookError(
            f"{path} asks questions, and has no topic\n"
            f"  give it a row in workbook/book/topics.py; the topics are: {', '.join(TITLES)}"
        ) from None


class Topic(NamedTuple):
    """A topic, and the paths of its sections."""

    name: str
    listed: tuple[str, ...]  # whose questions the page lists here
    also: tuple[str, ...]  # that belong to it too, and are listed under another


def topics(paths: Iterable[str]) -> list[Topic]:
    """The topics in their order, with those of the sections that belong to each."""
    belongs = {path: topics_of(path) for path in paths}
    return [
        Topic(
            name,
            tuple(path for path, names in belongs.items() if names[0] == name),
            tuple(path for path, names in belongs.items() if name in names[1:]),
        )
        for name in TITLES
    ]

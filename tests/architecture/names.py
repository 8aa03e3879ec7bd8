"""Which public names has torch, and which of them are modules?

The answer is committed twice: `torch_names.json`, so that the test of our own names runs without torch, and
`core/torch_names.txt` in the library, which tells a name that is missing there from a typing mistake.

    python -m tests.architecture.names write    write both again; needs the pinned torch
    python -m tests.architecture.names torch    print what `write` would write
    python -m tests.architecture.names ours     print which names of glasstorch are modules, all imported
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TypedDict

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("torch_names.json")
NAMESPACES = (
    "torch",
    "torch.amp",
    "torch.autograd",
    "torch.compiler",
    "torch.cuda",
    "torch.distributed",
    "torch.export",
    "torch.fft",
    "torch.func",
    "torch.fx",
    "torch.jit",
    "torch.library",
    "torch.linalg",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.optim",
    "torch.profiler",
    "torch.sparse",
    "torch.special",
    "torch.utils",
    "torch.utils.data",
)
# Those whose names the library can tell from typing mistakes, besides the ones above.
MORE_NAMESPACES = (
    "torch.accelerator",
    "torch.amp.grad_scaler",
    "torch.autograd.forward_ad",
    "torch.autograd.function",
    "torch.autograd.functional",
    "torch.autograd.grad_mode",
    "torch.autograd.graph",
    "torch.autograd.profiler",
    "torch.backends",
    "torch.backends.cpu",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.backends.mkl",
    "torch.backends.mkldnn",
    "torch.backends.mps",
    "torch.backends.openmp",
    "torch.backends.opt_einsum",
    "torch.backends.quantized",
    "torch.cpu",
    "torch.cpu.amp",
    "torch.cuda.amp",
    "torch.cuda.graphs",
    "torch.cuda.memory",
    "torch.cuda.nvtx",
    "torch.cuda.random",
    "torch.cuda.streams",
    "torch.distributions",
    "torch.distributions.constraints",
    "torch.distributions.transforms",
    "torch.functional",
    "torch.futures",
    "torch.hub",
    "torch.masked",
    "torch.mps",
    "torch.mtia",
    "torch.multiprocessing",
    "torch.nested",
    "torch.nn.attention",
    "torch.nn.modules",
    "torch.nn.modules.module",
    "torch.nn.parallel",
    "torch.nn.parameter",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.prune",
    "torch.nn.utils.rnn",
    "torch.nn.utils.stateless",
    "torch.onnx",
    "torch.optim.lr_scheduler",
    "torch.optim.optimizer",
    "torch.optim.swa_utils",
    "torch.overrides",
    "torch.package",
    "torch.quantization",
    "torch.quasirandom",
    "torch.random",
    "torch.return_types",
    "torch.serialization",
    "torch.signal.windows",
    "torch.storage",
    "torch.testing",
    "torch.types",
    "torch.utils.benchmark",
    "torch.utils.checkpoint",
    "torch.utils.cpp_extension",
    "torch.utils.data.dataloader",
    "torch.utils.data.dataset",
    "torch.utils.data.distributed",
    "torch.utils.data.sampler",
    "torch.utils.dlpack",
    "torch.utils.flop_counter",
    "torch.utils.hooks",
    "torch.utils.mobile_optimizer",
    "torch.utils.model_zoo",
    "torch.utils.tensorboard",
    "torch.version",
    "torch.xpu",
)
FOR_MESSAGES = ROOT / "reference" / "glasstorch" / "core" / "torch_names.txt"
HEADING = """\
# The public modules of PyTorch 2.13, each with its public names where glasstorch tells them from typing mistakes.
# Written by `python -m tests.architecture.names write`.
"""
NEVER_IMPORTED = ("__main__",)
OPTIONAL = (
    "cupy",
    "cupy_backends",
    "tensorboard",
)  # a submodule that needs one of these need not be importable everywhere


class Names(TypedDict):
    """The public names of one namespace."""

    modules: list[str]
    others: list[str]


class Committed(TypedDict):
    """What is committed of torch: the content of `torch_names.json`, and that of `torch_names.txt`."""

    names: dict[str, Names]
    text: str


def names_of(namespace: ModuleType) -> Names:
    """The namespace's public names; modules of other packages (`torch.os`) are left out."""
    package = namespace.__name__.partition(".")[0]
    modules, others = [], []
    for name, value in sorted(vars(namespace).items()):
        if name.startswith("_"):
            continue
        if not isinstance(value, ModuleType):
            others.append(name)
        elif value.__name__.partition(".")[0] == package:
            modules.append(name)
    return {"modules": modules, "others": others}


def from_torch() -> Committed:
    """What the installed torch says. Only the listed namespaces are imported.

    The names come first: the text imports more, and a submodule that is imported becomes a name of its package.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"names": torch_names(), "text": text_for_messages()}


def torch_names() -> dict[str, Names]:
    """The names of the installed torch."""
    return {name: names_of(importlib.import_module(name)) for name in NAMESPACES}


def text_for_messages() -> str:
    """A line for each public module of the installed torch, and one for its Tensor: its path, and its public names."""
    torch = importlib.import_module("torch")
    with_names = {*NAMESPACES, *MORE_NAMESPACES}
    lines = {name: names_for_messages(importlib.import_module(name)) for name in with_names}
    lines |= {name: [] for name in public_modules(torch.__path__, "torch.") if name not in with_names}
    lines["torch.Tensor"] = [name for name in dir(torch.Tensor) if not name.startswith("_")]
    return HEADING + "".join(f"{' '.join([name, *names])}\n" for name, names in sorted(lines.items()))


def public_modules(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """The modules in these folders and in the packages below them, without those whose path has a private part.

    `pkgutil.walk_packages` would import every package that it meets, private ones included: twice the memory and
    six times the time of what is needed. The names of a package's files tell the same.
    """
    for module in pkgutil.iter_modules(folders):
        if module.name.startswith("_"):
            continue
        yield prefix + module.name
        if module.ispkg:
            below = [str(Path(folder) / module.name) for folder in folders]
            yield from public_modules(below, f"{prefix}{module.name}.")


def names_for_messages(namespace: ModuleType) -> list[str]:
    """The public names of a namespace that are not other packages', its modules left out; sorted."""
    listed = set(getattr(namespace, "__all__", ()))
    spaces = [vars(namespace)]
    if type(namespace) is not ModuleType:  # a module that can be assigned to, around the one of its file
        spaces += [vars(type(namespace)), vars(getattr(namespace, "m", namespace))]
    names = {
        name
        for name, value in (pair for space in spaces for pair in space.items())
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and str(getattr(value, "__module__", None) or "torch").partition(".")[0] == "torch"
    }
    return sorted((listed | names) - {"TYPE_CHECKING"})


def import_everything(package: ModuleType) -> None:
    """Import every submodule, since importing one puts its name into the folder that holds it."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name.rpartition(".")[2] in NEVER_IMPORTED:
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in OPTIONAL:
                raise


def our_modules() -> dict[str, list[str]]:
    """The public names of glasstorch that are modules, for each namespace that exists in both."""
    package = importlib.import_module("glasstorch")
    import_everything(package)
    ours = {name: sys.modules.get(name.replace("torch", "glasstorch", 1)) for name in NAMESPACES}
    return {name: names_of(module)["modules"] for name, module in ours.items() if module is not None}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write"]:
            committed = from_torch()
            lines = [f' "{name}": {json.dumps(names)}' for name, names in committed["names"].items()]
            DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            FOR_MESSAGES.write_text(committed["text"], encoding="utf-8")
        case ["ours"]:
            print(json.dumps(our_modules()))
        case ["torch"]:
            print(json.dumps(from_torch()))
        case _:
            sys.exit(__doc__)

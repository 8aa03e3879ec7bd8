"""Which public names has torch, and which of them are modules?

The answer is committed (`torch_names.json`), so that the test of our own names runs without torch.

    python -m tests.architecture.names write    write it again; needs the pinned torch
    python -m tests.architecture.names torch    print it
    python -m tests.architecture.names ours     print which names of glasstorch are modules, all imported
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import TypedDict

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


def torch_names() -> dict[str, Names]:
    """The names of the installed torch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: names_of(importlib.import_module(name)) for name in NAMESPACES}


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
            lines = [f' "{name}": {json.dumps(names)}' for name, names in torch_names().items()]
            DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        case ["ours"]:
            print(json.dumps(our_modules()))
        case ["torch"]:
            print(json.dumps(torch_names()))
        case _:
            sys.exit(__doc__)

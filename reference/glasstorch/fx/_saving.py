"""How is a module with a graph pickled, and written as a package?

Mirrors: torch/fx/graph_module.py (reduce_graph_module, GraphModule.to_folder)
Differs: the code imports this library as torch, and whatever else it refers to.

Neither has the graph in it: how graphs are kept may change, and Python code does not. A pickle is read by tracing its
code again, in which all submodules stay calls.
"""

from __future__ import annotations

import builtins
import os
import warnings
from pathlib import Path
from typing import Any, Final

from glasstorch.fx._custom_builtins import CUSTOM_BUILTINS
from glasstorch.nn.modules import batchnorm, conv, linear
from glasstorch.nn.modules.module import Module
from glasstorch.serialization.saving import save

INDENT: Final = "    "
IMPORT_TORCH: Final = CUSTOM_BUILTINS["torch"].import_str

# Layers whose `repr` is the code that makes them.
COMMON_LAYERS: Final = (
    linear.Linear, conv.Conv1d, conv.Conv2d, conv.Conv3d, batchnorm.BatchNorm1d, batchnorm.BatchNorm2d,
    batchnorm.BatchNorm3d,
)  # fmt: skip


class CodeOnlyModule(Module):
    """A module with the attributes of another one, whose `forward` is set on its class."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def import_block(names: dict[str, Any]) -> str:
    """The statements that import what generated code refers to, sorted."""
    lines = {_import(name, obj) for name, obj in names.items()}
    return "\n".join(sorted(lines))


def _import(name: str, obj: Any) -> str:
    if name in CUSTOM_BUILTINS:
        return CUSTOM_BUILTINS[name].import_str
    if isinstance(obj, str):  # an annotation that is a text, as `from __future__ import annotations` makes them
        return f"{name} = {obj!r}"
    module, attribute = obj.__module__, getattr(obj, "__qualname__", None) or obj.__name__
    return f"from {module.replace('_operator', 'operator')} import {attribute} as {name}"


def to_folder(module: Any, folder: str | os.PathLike[str], class_name: str) -> None:
    """Write a module's code, its parameters and buffers, and what else it needs, as a Python package."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    save(module.state_dict(), folder / "state_dict.pt")
    lines, pickled = [], []
    for name, child in module.named_children():
        if type(child) in COMMON_LAYERS:
            lines.append(f"setattr(self, '{name}', {child!r})")
            continue
        file = folder / f"{name}.pt"
        save(child, file)
        pickled.append(name)
        text = repr(child).replace("\r", " ").replace("\n", " ")
        lines.append(f"setattr(self, '{name}', torch.load(r'{file}', weights_only=False)) # {text}")
    for name, buffer in module._buffers.items():
        if buffer is not None:
            empty = f"torch.empty({list(buffer.shape)}, dtype={buffer.dtype})"
            lines.append(f"self.register_buffer('{name}', {empty})")
    for name, parameter in module._parameters.items():
        if parameter is not None:
            empty = f"torch.empty({list(parameter.shape)}, dtype={parameter.dtype})"
            lines.append(f"setattr(self, '{name}', torch.nn.Parameter({empty}))")
    lines.append(f"self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
    body = "".join(f"{INDENT * 2}{line}\n" for line in lines)
    known = [IMPORT_TORCH, *(builtin.import_str for builtin in CUSTOM_BUILTINS.values())]
    names = module.recompile().globals
    others = {name: obj for name, obj in names.items() if name not in CUSTOM_BUILTINS and name not in vars(builtins)}
    wraps, define, rest = module.code.partition("def ")
    imports = "\n".join([*dict.fromkeys(known), import_block(others), *wraps.split()])
    code = "\n".join(f"{INDENT}{line}" if line.strip() else "" for line in f"\n\n\n{define}{rest}".split("\n"))
    nn = "from torch.nn import *\n".replace("torch", IMPORT_TORCH.split()[1])
    head = f"class {class_name}(torch.nn.Module):\n{INDENT}def __init__(self):\n{INDENT * 2}super().__init__()\n"
    (folder / "module.py").write_text(f"{imports}\n\n{nn}{head}{body}\n{code}\n", encoding="utf-8")
    (folder / "__init__.py").write_text("from .module import *", encoding="utf-8")
    if pickled:
        warnings.warn(
            f"Was not able to save the following children modules as reprs -saved as pickled files instead: {pickled}",
            stacklevel=3,
        )

"""In which module does a class say it is, where glasstorch is imported as torch?

Mirrors: nothing; PyTorch's classes are where they are
Differs: `print(torch.Tensor)` prints `<class 'torch.Tensor'>` in a program that runs as PyTorch's, and a pickle of such
    a program names PyTorch's modules, which its own unpickler finds. Imported by its own name, the library says where a
    class is defined.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

from glasstorch.autograd.node import Node
from glasstorch.core.errors import LinAlgError
from glasstorch.core.unknown_names import as_torch, offered_names, torch_names

OURS = "glasstorch"
COMPILED = "builtins"  # what Python says of a class that is written in C and names no module

# Modules of PyTorch that are folders here.
ONE_MODULE_THERE = ("torch.distributions.constraints", "torch.distributions.transforms", "torch.optim.lr_scheduler")

# Public classes that PyTorch defines elsewhere than at the outermost place where it offers them.
DEFINED_AT = {
    "torch.Generator": "torch._C",
    "torch.TypedStorage": "torch.storage",
    "torch.UntypedStorage": "torch.storage",
    "torch.enable_grad": "torch.autograd.grad_mode",
    "torch.inference_mode": "torch.autograd.grad_mode",
    "torch.no_grad": "torch.autograd.grad_mode",
    "torch.set_grad_enabled": "torch.autograd.grad_mode",
    "torch.nn.GRUCell": "torch.nn.modules.rnn",
    "torch.nn.LSTMCell": "torch.nn.modules.rnn",
    "torch.nn.MultiheadAttention": "torch.nn.modules.activation",
    "torch.nn.RNNCell": "torch.nn.modules.rnn",
    "torch.nn.RNNCellBase": "torch.nn.modules.rnn",
    "torch.nn.TransformerDecoderLayer": "torch.nn.modules.transformer",
    "torch.nn.TransformerEncoderLayer": "torch.nn.modules.transformer",
    "torch.nn.parallel.DistributedDataParallel": "torch.nn.parallel.distributed",
    "torch.optim.optimizer.RemovableHandle": "torch.utils.hooks",
    "torch.autograd.profiler.EventList": "torch.autograd.profiler_util",
    "torch.autograd.profiler.FunctionEvent": "torch.autograd.profiler_util",
    "torch.profiler.record_function": "torch.autograd.profiler",
    "torch.cuda.Event": "torch.cuda.streams",
    "torch.cuda.Stream": "torch.cuda.streams",
}


def say_torch_everywhere() -> None:
    """Let the public classes of all modules that are loaded say where PyTorch has them."""
    loaded = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == OURS]
    for module in loaded:
        _by_definition(module)
    # A class may be offered in several places; the outermost one is where programs find it.
    for module in sorted(loaded, key=lambda module: module.__name__.count(".")):
        _by_offer(module)
    LinAlgError.__module__ = "torch._C"  # though programs find it at torch.linalg


def say_torch(module: ModuleType) -> None:
    """Let the public classes of a module that was loaded just now say where PyTorch has them."""
    _by_definition(module)
    _by_offer(module)


def _by_definition(module: ModuleType) -> None:
    """Where PyTorch has a module of the same path, the classes that are defined in it stay there.

    Where it has one module for what is a folder here, that folder's private classes are in that module. The nodes of
    the graph are classes in C there: `type(loss.grad_fn)` is `<class 'MeanBackward0'>`.
    """
    path = as_torch(module.__name__)
    folder = path.rpartition(".")[0]
    is_torchs, in_folder = path in torch_names(), folder in ONE_MODULE_THERE
    for name, value in _classes(module):
        if value.__module__ != module.__name__ or value.__qualname__ != name:
            continue
        if is_torchs:
            value.__module__ = path
            sys.modules.setdefault(path, module)  # where `inspect` and `typing` look for the class's module
        elif in_folder and name.startswith("_"):
            value.__module__ = folder
        elif issubclass(value, Node) and value is not Node:
            value.__module__ = COMPILED


def _by_offer(module: ModuleType) -> None:
    """Where PyTorch's module of the same path offers a class, it says that it is there."""
    path = as_torch(module.__name__)
    if offered := torch_names().get(path):
        known = offered.intersection(offered_names(vars(module)))
        for name, value in _classes(module):
            if name in known and value.__module__.partition(".")[0] == OURS and value.__qualname__ == name:
                value.__module__ = DEFINED_AT.get(f"{path}.{name}", path)


def _classes(module: ModuleType) -> Iterator[tuple[str, type]]:
    return ((name, value) for name, value in vars(module).items() if isinstance(value, type))

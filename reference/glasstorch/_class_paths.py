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
from typing import Final

from glasstorch.autograd.function_node import _FunctionBase
from glasstorch.autograd.node import Node
from glasstorch.core.errors import LinAlgError
from glasstorch.core.unknown_names import as_torch, offered_names, torch_names

OURS = "glasstorch"
COMPILED = "builtins"  # what Python says of a class that is written in C and names no module

# Where PyTorch has classes that a module here defines at another path, or in another folder: the module, or the folder,
# and the classes by name; "*" are all that PyTorch's module offers, and those whose names begin with an underscore.
ELSEWHERE: Final = {
    "_library.custom_ops": ("torch._library.custom_ops", "CustomOpDef"),
    "_subclasses.fake_tensor": ("torch._subclasses.fake_tensor", "FakeTensor FakeTensorMode"),
    "_python_dispatch": ("torch.utils._python_dispatch", "TorchDispatchMode"),
    "autograd.checking.values": ("torch.autograd.gradcheck", "GradcheckError"),
    "autograd.function_node": ("torch.autograd.function", "BackwardCFunction FunctionCtx _HookMixin"),
    "autograd.engine_modes": (
        "torch.autograd.grad_mode",
        "_unsafe_preserve_version_counter enforce_grad_layout_policy set_multithreading_enabled",
    ),
    "autograd.modes": ("torch.autograd.grad_mode", "enable_grad inference_mode no_grad set_grad_enabled"),
    "autograd.view_replay": ("torch.autograd.grad_mode", "_force_original_view_tracking"),
    "calls.ops": ("torch._ops", "OpOverloadPacket _HigherOrderNamespace _OpNamespace _Ops"),
    "core.keys": ("torch", "DispatchKey DispatchKeySet"),
    "core.random.generator": ("torch._C", "Generator"),
    "core.removable_handle": ("torch.utils.hooks", "RemovableHandle"),
    "core.symbols": ("torch", "SymInt SymFloat SymBool"),
    "core.storage": ("torch.storage", "UntypedStorage _StorageBase"),
    "core.typed_storage": ("torch.storage", "TypedStorage"),
    "data.dataloader": ("torch.utils.data.dataloader", "DataLoader _InfiniteConstantSampler"),
    "data.datapipes": ("torch.utils.data.datapipes.datapipe", "DFIterDataPipe DataChunk IterDataPipe MapDataPipe"),
    "data.dataset": ("torch.utils.data.dataset", "*"),
    "data.distributed": ("torch.utils.data.distributed", "DistributedSampler"),
    "data.fetch": ("torch.utils.data.dataloader", "_DatasetKind"),
    "data.iterators": ("torch.utils.data.dataloader", "_BaseDataLoaderIter _SingleProcessDataLoaderIter"),
    "data.sampler": ("torch.utils.data.sampler", "*"),
    "data.workers": ("torch.utils.data.dataloader", "_MultiProcessingDataLoaderIter"),
    "devices.stream": ("torch.cuda.streams", "Event Stream"),
    "dispatch.overload": ("torch._ops", "OpOverload"),
    "dispatch.record_block": ("torch.autograd.profiler", "record_function"),
    "dispatch.runtime_schema": ("torch", "Argument FunctionSchema"),
    "distributions.constraints": ("torch.distributions.constraints", "*"),
    "distributions.transforms": ("torch.distributions.transforms", "*"),
    "fx._codegen": ("torch.fx.graph", "CodeGen PythonCode"),
    "fx._patching": ("torch.fx._symbolic_trace", "wrap"),
    "fx._symbolic_trace": ("torch.fx._symbolic_trace", "PHBase PHWithMeta ProxyableClassMeta Tracer"),
    "jit._script": ("torch.jit._script", "RecursiveScriptModule ScriptModule"),
    "jit._trace": ("torch.jit._trace", "TopLevelTracedModule"),
    "jit.check_trace": ("torch.jit._trace", "TracingCheckError"),
    "jit.tracer": ("torch.jit._trace", "TracerWarning"),
    "nested._internal.nested_int": ("torch.nested._internal.nested_int", "NestedIntNode"),
    "nested._internal.nested_tensor": ("torch.nested._internal.nested_tensor", "NestedTensor"),
    "nn.functions.linear_cross_entropy": (
        "torch.nn.modules.linear_cross_entropy_options",
        "LinearCrossEntropyOptions",
    ),
    "nn.modules.attention": ("torch.nn.modules.activation", "MultiheadAttention"),
    "nn.modules.hooks": ("torch.nn.modules.module", "_WrappedHook"),
    "nn.modules.rnn_cells": ("torch.nn.modules.rnn", "GRUCell LSTMCell RNNCell RNNCellBase"),
    "nn.modules.state": ("torch.nn.modules.module", "_IncompatibleKeys"),
    "nn.modules.transformer_layers": (
        "torch.nn.modules.transformer",
        "TransformerDecoderLayer TransformerEncoderLayer",
    ),
    "nn.parallel.distributed_data_parallel": ("torch.nn.parallel.distributed", "DistributedDataParallel"),
    "optim.lr_scheduler.scheduler": ("torch.optim.lr_scheduler", "LRScheduler _LRScheduler"),
    "profiler.autograd_profile": ("torch.autograd.profiler", "_ProfilerStats profile"),
    "profiler.event": ("torch.autograd.profiler_util", "FunctionEvent"),
    "profiler.event_list": ("torch.autograd.profiler_util", "EventList MemRecordsAcc"),
    "utils.tensorboard._file_writer": ("torch.utils.tensorboard.writer", "FileWriter"),
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
    _FunctionBase.__module__ = "torch._C"  # the other nodes have no module


def say_torch(module: ModuleType) -> None:
    """Let the public classes of a module that was loaded just now say where PyTorch has them."""
    _by_definition(module)
    _by_offer(module)


def _by_definition(module: ModuleType) -> None:
    """Where PyTorch has a module of the same path, the classes that are defined in it stay there.

    The nodes of the graph are classes in C there: `type(loss.grad_fn)` is `<class 'MeanBackward0'>`.
    """
    path = as_torch(module.__name__)
    is_torchs = path in torch_names()
    there, names = _elsewhere(module.__name__.removeprefix(f"{OURS}."))
    for name, value in _classes(module):
        if value.__module__ != module.__name__ or value.__qualname__ != name:
            continue
        if name in names or ("*" in names and (name.startswith("_") or name in torch_names()[there])):
            value.__module__ = there
        elif is_torchs:
            value.__module__ = path
            sys.modules.setdefault(path, module)  # where `inspect` and `typing` look for the class's module
        elif Node in value.__mro__[1:]:  # `issubclass` would ask each of Node's 250 classes about each class: 0.3 s
            value.__module__ = COMPILED


def _elsewhere(path: str) -> tuple[str, list[str]]:
    """PyTorch's module for classes that a module here defines, or its folder, and their names."""
    there, names = ELSEWHERE.get(path) or ELSEWHERE.get(path.rpartition(".")[0]) or ("", "")
    return there, names.split()


def _by_offer(module: ModuleType) -> None:
    """Where PyTorch's module of the same path offers a class, it says that it is there."""
    path = as_torch(module.__name__)
    if offered := torch_names().get(path):
        known = offered.intersection(offered_names(vars(module)))
        for name, value in _classes(module):
            if name in known and value.__module__.partition(".")[0] == OURS and value.__qualname__ == name:
                value.__module__ = path


def _classes(module: ModuleType) -> Iterator[tuple[str, type]]:
    return ((name, value) for name, value in vars(module).items() if isinstance(value, type))

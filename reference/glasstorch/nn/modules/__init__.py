"""Which layers are there?

Reading order: `module`, `state`, `conversion`, `hooks`, `calling`, `global_hooks`, `backward_hooks`, `linear`, `conv`,
`fold`, `activation`, `flatten`, `loss`, `container`.

Mirrors: torch/nn/modules
Differs: the layers that a small network needs; a file holds a family of layers, as in PyTorch.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.modules.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from glasstorch.nn.modules.container import Container, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from glasstorch.nn.modules.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from glasstorch.nn.modules.flatten import Flatten, Unflatten
from glasstorch.nn.modules.fold import Fold, Unfold
from glasstorch.nn.modules.linear import Identity, Linear
from glasstorch.nn.modules.loss import CrossEntropyLoss, MSELoss, NLLLoss
from glasstorch.nn.modules.module import Module

__all__ = [
    "Module",
    "Linear",
    "Identity",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Fold",
    "Unfold",
    "ReLU",
    "Tanh",
    "Sigmoid",
    "Softmax",
    "LogSoftmax",
    "Flatten",
    "Unflatten",
    "CrossEntropyLoss",
    "NLLLoss",
    "MSELoss",
    "Container",
    "Sequential",
    "ModuleList",
    "ModuleDict",
    "ParameterList",
    "ParameterDict",
]

__getattr__ = _refuse_unknown_names(__name__)

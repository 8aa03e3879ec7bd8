"""What are networks built from?

Reading order: `parameter`, `hooks`, `module`, `state`, `functional`, `init`, `linear`, `activation`,
`flatten`, `loss`, `container`.

Mirrors: torch/nn
Differs: the layers that a small network needs; a file holds a family of layers, as in torch/nn/modules.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn import functional, init
from glasstorch.nn.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from glasstorch.nn.container import ModuleDict, ModuleList, Sequential
from glasstorch.nn.flatten import Flatten
from glasstorch.nn.linear import Identity, Linear
from glasstorch.nn.loss import CrossEntropyLoss, MSELoss, NLLLoss
from glasstorch.nn.module import Module
from glasstorch.nn.parameter import Parameter

__all__ = [
    "functional",
    "init",
    "Parameter",
    "Module",
    "Linear",
    "Identity",
    "ReLU",
    "Tanh",
    "Sigmoid",
    "Softmax",
    "LogSoftmax",
    "Flatten",
    "CrossEntropyLoss",
    "NLLLoss",
    "MSELoss",
    "Sequential",
    "ModuleList",
    "ModuleDict",
]

__getattr__ = _refuse_unknown_names(__name__)

"""Which layers are there?

Reading order: `hooks`, `module`, `state`, `linear`, `activation`, `dropout`, `flatten`, `loss`, `container`.

Mirrors: torch/nn/modules
Differs: the layers that a small network needs; a file holds a family of layers, as in PyTorch.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.modules.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from glasstorch.nn.modules.container import ModuleDict, ModuleList, Sequential
from glasstorch.nn.modules.dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout
from glasstorch.nn.modules.flatten import Flatten
from glasstorch.nn.modules.linear import Identity, Linear
from glasstorch.nn.modules.loss import CrossEntropyLoss, MSELoss, NLLLoss
from glasstorch.nn.modules.module import Module

__all__ = [
    "Module",
    "Linear",
    "Identity",
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "RReLU",
    "SELU",
    "Sigmoid",
    "SiLU",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "Flatten",
    "CrossEntropyLoss",
    "NLLLoss",
    "MSELoss",
    "Sequential",
    "ModuleList",
    "ModuleDict",
]

__getattr__ = _refuse_unknown_names(__name__)

"""Which layers are there?

Reading order: `module`, `state`, `conversion`, `hooks`, `calling`, `global_hooks`, `backward_hooks`, `linear`,
`activation`, `flatten`, `distance`, `linear_cross_entropy_options`, `loss`, `container`, `adaptive`.

Mirrors: torch/nn/modules
Differs: the layers that a small network needs; a file holds a family of layers, as in PyTorch.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.modules.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from glasstorch.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss
from glasstorch.nn.modules.container import Container, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from glasstorch.nn.modules.distance import CosineSimilarity, PairwiseDistance
from glasstorch.nn.modules.flatten import Flatten, Unflatten
from glasstorch.nn.modules.linear import Bilinear, Identity, Linear
from glasstorch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from glasstorch.nn.modules.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    CTCLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LinearCrossEntropyLoss,
    MarginRankingLoss,
    MSELoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    NLLLoss,
    NLLLoss2d,
    PoissonNLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from glasstorch.nn.modules.module import Module

__all__ = [
    "Module",
    "Linear",
    "Bilinear",
    "Identity",
    "ReLU",
    "Tanh",
    "Sigmoid",
    "Softmax",
    "LogSoftmax",
    "Flatten",
    "Unflatten",
    "L1Loss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "GaussianNLLLoss",
    "KLDivLoss",
    "MSELoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "HingeEmbeddingLoss",
    "MultiLabelMarginLoss",
    "SmoothL1Loss",
    "HuberLoss",
    "SoftMarginLoss",
    "CrossEntropyLoss",
    "LinearCrossEntropyLoss",
    "MultiLabelSoftMarginLoss",
    "CosineEmbeddingLoss",
    "MarginRankingLoss",
    "MultiMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "CTCLoss",
    "LinearCrossEntropyOptions",
    "CosineSimilarity",
    "PairwiseDistance",
    "AdaptiveLogSoftmaxWithLoss",
    "Container",
    "Sequential",
    "ModuleList",
    "ModuleDict",
    "ParameterList",
    "ParameterDict",
]

__getattr__ = _refuse_unknown_names(__name__)

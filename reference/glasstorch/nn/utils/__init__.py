"""What else is done with the parameters of a module?

Reading order: `stateless`, `clip_grad`, `convert_parameters`, `rnn`, `parametrize`, `parametrizations`, `weight_norm`,
`spectral_norm`, `prune`, `fusion`, `memory_format`, `init`.

Mirrors: torch/nn/utils
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.utils import parametrizations as parametrizations
from glasstorch.nn.utils import parametrize as parametrize
from glasstorch.nn.utils import rnn as rnn
from glasstorch.nn.utils import stateless as stateless
from glasstorch.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from glasstorch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from glasstorch.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from glasstorch.nn.utils.init import skip_init
from glasstorch.nn.utils.memory_format import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format
from glasstorch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from glasstorch.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grads_with_norm_",
    "clip_grad_value_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]

__getattr__ = _refuse_unknown_names(__name__)

"""What else is done with the parameters of a module?

Reading order: `stateless`, `clip_grad`, `convert_parameters`, `rnn`, `parametrize`.

Mirrors: torch/nn/utils
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
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

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grads_with_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
]

__getattr__ = _refuse_unknown_names(__name__)

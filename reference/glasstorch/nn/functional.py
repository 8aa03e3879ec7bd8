"""Which functions do layers compute?

Mirrors: torch/nn/functional.py
Differs: the functions are written in `nn/functions`, kind by kind, and gathered here.
    `core/left_out.py` lists what is left out.
"""

import math as math
import warnings as warnings

import numpy

from glasstorch._tensor import Tensor as Tensor
from glasstorch.calls.overloaded import handle_torch_function as handle_torch_function
from glasstorch.calls.overloaded import has_torch_function as has_torch_function
from glasstorch.calls.overloaded import has_torch_function_unary as has_torch_function_unary
from glasstorch.calls.overloaded import has_torch_function_variadic as has_torch_function_variadic
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn import _reduction
from glasstorch.nn import grad as grad
from glasstorch.nn.functions import activation as _activation
from glasstorch.nn.functions import attention as _attention
from glasstorch.nn.functions import class_loss as _class_loss
from glasstorch.nn.functions import convolution as _convolution
from glasstorch.nn.functions import distance as _distance
from glasstorch.nn.functions import dropout as _dropout
from glasstorch.nn.functions import embedding as _embedding
from glasstorch.nn.functions import linear as _linear
from glasstorch.nn.functions import linear_cross_entropy as _linear_cross_entropy
from glasstorch.nn.functions import loss as _loss
from glasstorch.nn.functions import normalization as _normalization
from glasstorch.nn.functions import padding as _padding
from glasstorch.nn.functions import pair_loss as _pair_loss
from glasstorch.nn.functions import pooling as _pooling
from glasstorch.nn.functions import resampling as _resampling
from glasstorch.nn.functions.activation import *  # noqa: F403
from glasstorch.nn.functions.activation import _get_softmax_dim as _get_softmax_dim
from glasstorch.nn.functions.attention import *  # noqa: F403
from glasstorch.nn.functions.attention import _canonical_mask as _canonical_mask
from glasstorch.nn.functions.attention import _in_projection as _in_projection
from glasstorch.nn.functions.attention import _in_projection_packed as _in_projection_packed
from glasstorch.nn.functions.attention import _mha_shape_check as _mha_shape_check
from glasstorch.nn.functions.attention import _none_or_dtype as _none_or_dtype
from glasstorch.nn.functions.choice import boolean_dispatch as boolean_dispatch
from glasstorch.nn.functions.class_loss import *  # noqa: F403
from glasstorch.nn.functions.convolution import *  # noqa: F403
from glasstorch.nn.functions.distance import *  # noqa: F403
from glasstorch.nn.functions.dropout import *  # noqa: F403
from glasstorch.nn.functions.embedding import *  # noqa: F403
from glasstorch.nn.functions.linear import *  # noqa: F403
from glasstorch.nn.functions.linear_cross_entropy import *  # noqa: F403
from glasstorch.nn.functions.loss import *  # noqa: F403
from glasstorch.nn.functions.normalization import *  # noqa: F403
from glasstorch.nn.functions.normalization import _verify_batch_size as _verify_batch_size
from glasstorch.nn.functions.normalization import _verify_spatial_size as _verify_spatial_size
from glasstorch.nn.functions.padding import *  # noqa: F403
from glasstorch.nn.functions.pair_loss import *  # noqa: F403
from glasstorch.nn.functions.pooling import *  # noqa: F403
from glasstorch.nn.functions.pooling import _adaptive_max_pool1d as _adaptive_max_pool1d
from glasstorch.nn.functions.pooling import _adaptive_max_pool2d as _adaptive_max_pool2d
from glasstorch.nn.functions.pooling import _adaptive_max_pool3d as _adaptive_max_pool3d
from glasstorch.nn.functions.pooling import _fractional_max_pool2d as _fractional_max_pool2d
from glasstorch.nn.functions.pooling import _fractional_max_pool3d as _fractional_max_pool3d
from glasstorch.nn.functions.pooling import _max_pool1d as _max_pool1d
from glasstorch.nn.functions.pooling import _max_pool2d as _max_pool2d
from glasstorch.nn.functions.pooling import _max_pool3d as _max_pool3d
from glasstorch.nn.functions.pooling import _unpool_output_size as _unpool_output_size
from glasstorch.nn.functions.resampling import *  # noqa: F403
from glasstorch.nn.functions.resampling import _is_integer as _is_integer
from glasstorch.nn.functions.tuples import BroadcastingList1 as BroadcastingList1
from glasstorch.nn.functions.tuples import BroadcastingList2 as BroadcastingList2
from glasstorch.nn.functions.tuples import BroadcastingList3 as BroadcastingList3
from glasstorch.nn.functions.tuples import _list_with_default as _list_with_default
from glasstorch.nn.functions.tuples import _pair as _pair
from glasstorch.nn.functions.tuples import _single as _single
from glasstorch.nn.functions.tuples import _triple as _triple
from glasstorch.nn.functions.tuples import assert_int_or_pair as assert_int_or_pair

# PyTorch's names for what its functions use.
np, DType, _Reduction = numpy, int, _reduction

__all__: list[str] = []
__all__ += _activation.__all__
__all__ += _attention.__all__
__all__ += _class_loss.__all__
__all__ += _convolution.__all__
__all__ += _distance.__all__
__all__ += _dropout.__all__
__all__ += _embedding.__all__
__all__ += _linear.__all__
__all__ += _linear_cross_entropy.__all__
__all__ += _loss.__all__
__all__ += _normalization.__all__
__all__ += _padding.__all__
__all__ += _pair_loss.__all__
__all__ += _pooling.__all__
__all__ += _resampling.__all__

__getattr__ = _refuse_unknown_names(__name__)

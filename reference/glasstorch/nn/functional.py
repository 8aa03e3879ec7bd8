"""Which functions do layers compute?

Mirrors: torch/nn/functional.py
Differs: only the functions whose operators exist; they are written in `nn/functions`.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
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
from glasstorch.nn.functions.attention import *  # noqa: F403
from glasstorch.nn.functions.class_loss import *  # noqa: F403
from glasstorch.nn.functions.convolution import *  # noqa: F403
from glasstorch.nn.functions.distance import *  # noqa: F403
from glasstorch.nn.functions.dropout import *  # noqa: F403
from glasstorch.nn.functions.embedding import *  # noqa: F403
from glasstorch.nn.functions.linear import *  # noqa: F403
from glasstorch.nn.functions.linear_cross_entropy import *  # noqa: F403
from glasstorch.nn.functions.loss import *  # noqa: F403
from glasstorch.nn.functions.normalization import *  # noqa: F403
from glasstorch.nn.functions.padding import *  # noqa: F403
from glasstorch.nn.functions.pair_loss import *  # noqa: F403
from glasstorch.nn.functions.pooling import *  # noqa: F403
from glasstorch.nn.functions.resampling import *  # noqa: F403

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

"""From where does a captured program get a value, at PyTorch's own path?

Mirrors: torch/_dynamo/source.py
Differs: the kinds of source are those that a symbol can have (fx/experimental/_symbols/sources.py).
"""

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.fx.experimental._symbols.sources import AttrSource as AttrSource
from glasstorch.fx.experimental._symbols.sources import ConstantSource as ConstantSource
from glasstorch.fx.experimental._symbols.sources import GetItemSource as GetItemSource
from glasstorch.fx.experimental._symbols.sources import GlobalSource as GlobalSource
from glasstorch.fx.experimental._symbols.sources import LocalSource as LocalSource
from glasstorch.fx.experimental._symbols.sources import Source as Source
from glasstorch.fx.experimental._symbols.sources import TensorProperty as TensorProperty
from glasstorch.fx.experimental._symbols.sources import TensorPropertySource as TensorPropertySource

__getattr__ = refuse_unknown_names(__name__)

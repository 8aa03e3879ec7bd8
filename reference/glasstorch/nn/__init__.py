"""What are networks built from?

Reading order: `uninitialized`, `parameter`, `attention/`, `packing`, `functions`, `grad`, `functional`, `init`,
`modules`, `utils`.

Mirrors: torch/nn
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn import attention, functional, grad, init, modules, utils
from glasstorch.nn.modules import *  # noqa: F403
from glasstorch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__all__ += ["attention", "functional", "grad", "init", "modules", "utils"]
__all__ += modules.__all__

__getattr__ = _refuse_unknown_names(__name__)

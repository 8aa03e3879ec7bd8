"""What are networks built from?

Reading order: `uninitialized`, `parameter`, `attention/`, `packing`, `functions`, `grad`, `functional`, `init`,
`factory`, `common_types`, `_reduction`, `modules`, `parallel/`, `utils`.

Mirrors: torch/nn
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn import _reduction as _reduction
from glasstorch.nn import attention, common_types, functional, grad, init, modules, parallel, utils
from glasstorch.nn.factory import factory_kwargs
from glasstorch.nn.modules import *  # noqa: F403
from glasstorch.nn.parallel import DataParallel
from glasstorch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__all__ += ["DataParallel", "factory_kwargs"]
__all__ += ["attention", "common_types", "functional", "grad", "init", "modules", "parallel", "utils"]
__all__ += modules.__all__

__getattr__ = _refuse_unknown_names(__name__)

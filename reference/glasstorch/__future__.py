"""What does a program choose now that may become the rule later?

Mirrors: torch/__future__.py
Differs: re-exports of glasstorch/nn/modules/replacement.py, which asks.
"""

from glasstorch.nn.modules.replacement import (
    get_overwrite_module_params_on_conversion as get_overwrite_module_params_on_conversion,
)
from glasstorch.nn.modules.replacement import (
    get_swap_module_params_on_conversion as get_swap_module_params_on_conversion,
)
from glasstorch.nn.modules.replacement import (
    set_overwrite_module_params_on_conversion as set_overwrite_module_params_on_conversion,
)
from glasstorch.nn.modules.replacement import (
    set_swap_module_params_on_conversion as set_swap_module_params_on_conversion,
)

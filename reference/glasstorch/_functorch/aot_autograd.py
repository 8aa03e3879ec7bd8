"""How does a program compile a function with its backward pass?

Mirrors: torch/_functorch/aot_autograd.py
Differs: the code is in compiler/.
"""

from glasstorch.compiler.aot import aot_function as aot_function
from glasstorch.compiler.aot import aot_module as aot_module
from glasstorch.compiler.aot import aot_module_simplified as aot_module_simplified
from glasstorch.compiler.boxed import make_boxed_compiler as make_boxed_compiler
from glasstorch.compiler.boxed import make_boxed_func as make_boxed_func
from glasstorch.compiler.min_cut import min_cut_rematerialization_partition as min_cut_rematerialization_partition
from glasstorch.compiler.partition import default_partition as default_partition
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

compiled_function, compiled_module = aot_function, aot_module  # older names

__getattr__ = _refuse_unknown_names(__name__)

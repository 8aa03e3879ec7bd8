"""How is a function made one that runs by graphs, at PyTorch's own path?

Mirrors: torch/_dynamo/eval_frame.py
Differs: the code is in compiler/. Frames are not evaluated in another way; a function is wrapped.
"""

from glasstorch.compiler.explain import explain as explain
from glasstorch.compiler.marks import disable as disable
from glasstorch.compiler.marks import innermost as innermost
from glasstorch.compiler.optimize import optimize as optimize
from glasstorch.compiler.optimized_module import OptimizedModule as OptimizedModule
from glasstorch.core.unknown_names import refuse_unknown_names

__getattr__ = refuse_unknown_names(__name__)

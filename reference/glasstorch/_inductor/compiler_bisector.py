"""Where does the compiler go wrong, at PyTorch's own path?

Mirrors: torch/_inductor/compiler_bisector.py
Differs: the code is in compiler/bisector.py; `first_difference` is a name that PyTorch does not have.
"""

from glasstorch.compiler.bisector import BACKENDS as BACKENDS
from glasstorch.compiler.bisector import BisectionResult as BisectionResult
from glasstorch.compiler.bisector import CompilerBisector as CompilerBisector
from glasstorch.compiler.bisector import Difference as Difference
from glasstorch.compiler.bisector import first_difference as first_difference

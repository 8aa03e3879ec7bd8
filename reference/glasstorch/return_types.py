"""Which types do operators with named results return?

Mirrors: torch/return_types.py
Differs: re-exports of core/return_types.py.
"""

from glasstorch.core.return_types import max as max
from glasstorch.core.return_types import min as min
from glasstorch.core.return_types import sort as sort

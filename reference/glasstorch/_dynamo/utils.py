"""What has happened while programs were compiled, at PyTorch's own path?

Mirrors: torch/_dynamo/utils.py (counters)
Differs: the code is in compiler/counters.py.
"""

from glasstorch.compiler.counters import counters as counters

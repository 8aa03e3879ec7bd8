"""What can be asked of the kernels for the CPU?

Reading order: `convolution`.

Mirrors: torch/backends/cpu/__init__.py
Differs: the kernels are NumPy's for every processor, so that there is no get_cpu_capability. What is asked is this
    library's own.
"""

from __future__ import annotations

from glasstorch.backends.cpu import convolution as convolution

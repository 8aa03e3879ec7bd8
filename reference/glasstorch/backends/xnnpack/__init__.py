"""Is XNNPACK used?

Mirrors: torch/backends/xnnpack/__init__.py
Differs: it is not.
"""

__all__ = ["enabled"]

enabled = False

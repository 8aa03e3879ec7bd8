"""Are Arm's KleidiAI kernels used?

Mirrors: torch/backends/kleidiai/__init__.py
Differs: they are not; the kernels are NumPy's.
"""

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether KleidiAI is used: no."""
    return False

"""What the generator wrote from the declarations.

Reading order: `autograd_kernels`, `inplace_or_view_kernels`.

Mirrors: torch/csrc/autograd/generated, build/aten/src/ATen
Differs: committed, and meant to be read.
"""

from importlib import import_module


def register_autograd_kernels() -> None:
    """Import the generated kernels; each registers itself."""
    for name in ("autograd_kernels", "inplace_or_view_kernels"):
        import_module(f"{__name__}.{name}")

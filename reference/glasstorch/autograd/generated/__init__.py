"""The generated autograd nodes and kernels, and the rows of ADInplaceOrView kernels.

Reading order: `autograd_kernels`, `inplace_or_view_kernels`.

Mirrors: torch/csrc/autograd/generated, build/aten/src/ATen
Differs: committed, and meant to be read.
"""

from importlib import import_module


def register_autograd_kernels() -> None:
    """Import the generated kernels, those written by hand, and the shortcuts; each registers itself."""
    for name in (
        "generated.autograd_kernels",
        "generated.inplace_or_view_kernels",
        "manual",
        "not_implemented",
        "shortcuts",
    ):
        import_module(f"glasstorch.autograd.{name}")

"""Which names of PyTorch are left out on purpose?

Mirrors: nothing; PyTorch has all its names
"""

from __future__ import annotations

from typing import Final

QUANTIZED = "there are no quantized dtypes"
SCALED = "there are no float8 dtypes, nor products of matrices in groups"
PROCESSES = "there are no groups of processes"
NOTES = "it is a text that PyTorch puts into its own docstrings"
COMPILED = "it is for compiled kernels"

LEFT_OUT: Final = {
    "torch.nn.intrinsic": QUANTIZED,
    "torch.nn.qat": QUANTIZED,
    "torch.nn.quantizable": QUANTIZED,
    "torch.nn.quantized": QUANTIZED,
    "torch.nn.functional.grouped_mm": SCALED,
    "torch.nn.functional.scaled_mm": SCALED,
    "torch.nn.functional.scaled_grouped_mm": SCALED,
    "torch.nn.functional.ScalingType": SCALED,
    "torch.nn.functional.SwizzleType": SCALED,
    "torch.nn.functional.reproducibility_notes": NOTES,
    "torch.nn.functional.sparse_support_notes": NOTES,
    "torch.nn.functional.tf32_notes": NOTES,
    "torch.nn.attention.flex_attention": COMPILED,
    "torch.nn.attention.varlen": COMPILED,
    "torch.nn.parallel.DistributedDataParallel": PROCESSES,
    "torch.nn.parallel.DistributedDataParallelCPU": PROCESSES,
    "torch.nn.parallel.distributed": PROCESSES,
}


def reason_for(path: str) -> str | None:
    """Why a name of PyTorch, or a module that it is in, is left out; None for a name that is not left out on purpose.

    >>> reason_for("torch.nn.quantized.Linear")
    'there are no quantized dtypes'
    """
    while path:
        if path in LEFT_OUT:
            return LEFT_OUT[path]
        path = path.rpartition(".")[0]
    return None

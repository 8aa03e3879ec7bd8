"""How does a loop of several steps run over arrays that do not fit into the cache?

Mirrors: aten/src/ATen/TensorIterator.h (serial_for_each), aten/src/ATen/native/cpu/Loops.h

# Note [One block after another]
Each step of a loop would read and write main memory. Therefore one block, cast where it must be, goes through all steps
before the next one is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.iterator import Loop
from glasstorch.kernels.iterator import in_blocks as whole

READ: Final[tuple[Literal["readonly"]]] = ("readonly",)
WRITE: Final[tuple[Literal["writeonly"]]] = ("writeonly",)


@fast(whole, when="more elements than a block", benchmark="1e6: lerp by a tensor", exact="bits")
def in_blocks(loop: Loop, out: Array, inputs: Sequence[Array], dtypes: Sequence[np.dtype[Any]]) -> None:
    """See Note [One block after another]."""
    if out.size <= thresholds.BLOCK:
        whole.plain(loop, out, inputs, dtypes)
        return
    blocks = np.nditer(
        [out, *inputs],
        flags=("external_loop", "buffered"),
        op_flags=(WRITE, *(READ for _ in inputs)),
        op_dtypes=dtypes,
        casting="unsafe",
        buffersize=thresholds.BLOCK,
    )
    with blocks:
        for arrays in blocks:
            loop(*arrays)

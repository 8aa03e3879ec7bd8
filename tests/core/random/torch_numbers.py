"""Are our random numbers PyTorch's, bit for bit?"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from glasstorch.core.random.draws import Stream
from glasstorch.core.random.mersenne_stream import DEFAULT_SEED

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = ("float32", "float64", "float16", BFLOAT16)


def same_bits(ours: np.ndarray, theirs: Any) -> bool:
    """Whether an array equals PyTorch's tensor bit for bit."""
    flat = theirs.contiguous().reshape(-1).view(torch_module().uint8).numpy()
    return ours.shape == tuple(theirs.shape) and ours.tobytes() == flat.tobytes()


def torch_module() -> Any:
    torch = pytest.importorskip("torch")
    if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        pytest.skip("on this processor PyTorch rounds differently: it has no AVX2")
    return torch


def torch_dtype(dtype: Any) -> Any:
    return getattr(torch_module(), np.dtype(dtype).name)


def refusal(call: Callable[[], Any]) -> tuple[Any, RuntimeError | None]:
    """What a call gives, or why it refuses."""
    try:
        return call(), None
    except RuntimeError as error:
        return None, error


def stream(seed: int = DEFAULT_SEED) -> Stream:
    """The CPU's stream of a seed."""
    made = Stream()
    made.start(seed % (1 << 64))
    return made

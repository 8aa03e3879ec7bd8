"""Does a tensor say of itself what PyTorch's says?"""

from __future__ import annotations

from typing import Any

import pytest

from glasstorch.core.dtype import DTYPES

FACTS = (
    "is_cpu", "is_cuda", "is_ipu", "is_leaf", "is_maia", "is_meta", "is_mkldnn", "is_mps", "is_mtia", "is_nested",
    "is_quantized", "is_sparse", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu", "name",
)  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_facts_are_torch_s(device: str) -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    said = [[getattr(t.ones(2, device=device), fact) for fact in FACTS] for t in (ours, theirs)]
    assert said[0] == said[1]


def test_signed_dtypes_are_torch_s() -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    for dtype in DTYPES:
        said = [t.zeros(1, dtype=getattr(t, dtype.name)).is_signed() for t in (ours, theirs)]
        assert said[0] == said[1]


def test_sizes_can_be_compared(torch: Any) -> None:
    assert torch.ones(2, 3).is_same_size(torch.zeros(2, 3, dtype=torch.int8))
    assert not torch.ones(2, 3).is_same_size(torch.zeros(3, 2))
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.ones(1).is_same_size(1)


def test_one_element_is_or_is_not_0(torch: Any) -> None:
    assert [torch.tensor(x).is_nonzero() for x in (0.0, 2, 1j, False)] == [False, True, True, False]
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        torch.ones(2).is_nonzero()
    with pytest.raises(RuntimeError, match="no values is ambiguous"):
        torch.ones(0).is_nonzero()

"""Is a mask filled in place with a tensor's number, and with nothing else?"""

from __future__ import annotations

from typing import Any

import pytest


def test_a_mask_is_filled_in_place(torch: Any) -> None:
    x, mask = torch.zeros(2, 2), torch.tensor([True, False])
    assert x.masked_fill_(mask, torch.tensor(2)) is x
    assert x.tolist() == [[2, 0], [2, 0]]
    assert x._version == 1
    with pytest.raises(RuntimeError, match="a 0-dimensional value tensor, but got tensor with 1 dimension"):
        x.masked_fill_(mask, torch.ones(1))
    with pytest.raises(RuntimeError, match="only supports boolean masks, but got mask with dtype unsigned char"):
        x.masked_fill_(mask.byte(), torch.tensor(1.0))

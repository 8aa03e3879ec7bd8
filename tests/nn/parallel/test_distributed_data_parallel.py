"""Can programs import what several processes share, and are they told that there are no such processes?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


def test_the_class_can_be_asked_for_and_not_be_made(torch: Any) -> None:
    kind = import_module(f"{torch.__name__}.nn.parallel").DistributedDataParallel
    assert import_module(f"{torch.__name__}.nn.parallel.distributed").DistributedDataParallel is kind
    layer = torch.nn.Linear(2, 2)
    assert not isinstance(layer, kind)
    assert issubclass(kind, torch.nn.Module)
    for call in (lambda: kind(layer), lambda: kind(layer, device_ids=[0], find_unused_parameters=True)):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()

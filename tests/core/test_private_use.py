"""Are memory, the current device and devices named before asked of what the program registered?"""

from __future__ import annotations

import pytest

from tests.outside import DEVICE, evaluated

SETUP = (
    DEVICE
    + """
import gc
from glasstorch.core import private_use

def current():
    with torch.accelerator.device_index(1):
        inside = torch.empty(1, device=NAME).device.index, torch.accelerator.current_device_index()
    return inside, torch.empty(1, device=NAME).device.index

def freed():
    gc.collect()
    before = allocator.in_use
    x = torch.empty(100, device=NAME)
    y = x[10:20]
    del x
    kept = allocator.in_use - before
    del y
    gc.collect()
    return kept, allocator.in_use - before

def storages():
    s = torch.UntypedStorage([1, 2, 3, 4], device=NAME)
    t = s.clone()
    t[1:3] if False else t.fill_(9)
    return s.tolist(), t.tolist(), s.cpu().device, s.resize_(6).nbytes(), s.tolist()[:4], s.data_ptr() != t.data_ptr()

def own_strides():
    x = torch.arange(6.0).reshape(2, 3).t().attic()
    return x.stride(), x[1:, 1].tolist(), x.to("attic:1").stride(), x.data_ptr() - x[1:].data_ptr()
"""
)
EXPECTED = {
    "current()": "((1, 1), 0)",
    "torch.ones(1, device='attic:1').to(NAME).device.index": "0",
    "torch.accelerator.set_device_index(7)": "RuntimeError: attic has the devices 0 to 1; attic:7 is not one of them",
    "torch.empty(1, device='attic:7')": "RuntimeError: attic has the devices 0 to 1; attic:7 is not one of them",
    "freed()": "(400, 0)",
    "storages()": "([1, 2, 3, 4], [9, 9, 9, 9], device(type='cpu'), 6, [1, 2, 3, 4], True)",
    "own_strides()": "((1, 3), [4.0, 5.0], (1, 3), -4)",
    "private_use.name(), private_use.is_accelerator()": "('attic', True)",
    "torch.accelerator.memory.memory_allocated(0) >= 0": "True",
}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return evaluated({text: text for text in EXPECTED}, SETUP)


@pytest.mark.parametrize("text", EXPECTED)
def test_the_program_is_asked(text: str, found: dict[str, list[str]]) -> None:
    assert found[text][0] == EXPECTED[text]


def test_devices_that_were_named_before_take_the_new_name() -> None:
    setup = "import glasstorch as torch\nearly = torch.device('privateuseone:1')\n"
    found = evaluated(
        {
            "before": "early, torch._C._get_privateuse1_backend_name()",
            "rename": "torch.utils.rename_privateuse1_backend('foo')",
            "after": "early, early is torch.device('foo', 1), torch.device('gpu')",
            "same": "early, early is torch.device('foo', 1), early is torch.device('privateuseone:1')",
            "key": "torch._C._dispatch_key_for_device('foo')",
        },
        setup,
    )
    assert found["before"] == ["(device(type='privateuseone', index=1), 'privateuseone')"]
    assert found["rename"] == ["None"]
    assert found["after"][0].startswith("RuntimeError: Expected one of cpu, cuda")
    assert found["same"] == ["(device(type='foo', index=1), True, True)"]
    assert found["key"] == ["'PrivateUse1'"]

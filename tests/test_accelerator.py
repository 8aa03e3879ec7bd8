"""Does torch.accelerator answer for CUDA where it is there, and refuse where it is not?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch import accelerator

REFERENCE = Path(glasstorch.__file__).parents[1]
WITHOUT_ARGUMENTS = [
    "current_device_index",
    "current_stream",
    "empty_cache",
    "empty_host_cache",
    "get_device_capability",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "synchronize",
]


def test_its_names_are_pytorchs(require: Any) -> None:
    theirs = set(require("torch.accelerator").__all__)
    assert theirs - set(accelerator.__all__) == {"Graph"}
    assert set(accelerator.__all__) <= theirs


def test_without_an_accelerator_a_program_goes_on(torch: Any) -> None:
    assert torch.accelerator.is_available() is False
    assert torch.accelerator.device_count() == 0
    assert torch.accelerator.current_accelerator() is None
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    assert torch.ones(2, device=device).device.type == "cpu"
    with torch.accelerator.device_index(None):
        pass


@pytest.mark.parametrize("name", WITHOUT_ARGUMENTS)
def test_what_needs_an_accelerator_is_refused_without_one(name: str, torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        getattr(torch.accelerator, name)()


def test_older_names_warn(torch: Any) -> None:
    for name, given in (("current_device_idx", ()), ("set_device_idx", (0,))):
        with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="Cannot access accelerator device"):
            getattr(torch.accelerator, name)(*given)


SIMULATED = """
import json
import glasstorch as torch
torch.cuda.use_simulator(devices=2)
found = torch.accelerator
facts = [found.is_available(), found.device_count(), str(found.current_accelerator()), found.current_device_index()]
with found.device_index(1):
    facts.append(found.current_device_index())
facts += [found.current_device_index()]
found.set_device_index("cuda:1")
x = torch.ones(1000, device=found.current_accelerator())
facts += [str(x.device), found.memory_allocated(), found.max_memory_allocated(1) >= 4000, found.memory_allocated(0)]
facts += [found.current_stream() == torch.cuda.current_stream(), found.get_memory_info()[0] > 0]
facts += [torch.float32 in found.get_device_capability()["supported_dtypes"], found.synchronize()]
with torch.cuda.device(0):
    facts += [str(torch.get_device_module().__name__), torch.cuda.is_bf16_supported(), torch.cuda.get_sync_debug_mode()]
stream = torch.cuda.Stream(0)
found.set_stream(stream)
facts += [found.current_device_index(), found.current_stream() == stream]
try:
    found.set_device_index("cpu")
except ValueError as error:
    facts.append(str(error))
torch.set_default_device("cuda:1")
facts += [str(torch.ones(1).device), str(torch.get_default_device()), str(torch.nn.Linear(1, 1).weight.device)]
print(json.dumps(facts))
"""


def test_it_is_cuda_where_that_is_there(require: Any) -> None:
    require("g++")
    done = subprocess.run([sys.executable, "-c", SIMULATED], capture_output=True, text=True, check=False, cwd=REFERENCE)
    assert done.stderr == ""
    assert json.loads(done.stdout) == [
        *(True, 2, "cuda", 0, 1, 0),
        *("cuda:1", 4096, True, 0),
        *(True, True, True, None),
        *("glasstorch.cuda", True, 0),
        *(0, True),
        "cpu doesn't match the current accelerator cuda.",
        *("cuda:1", "cuda:1", "cuda:1"),
    ]

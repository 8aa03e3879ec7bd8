"""Does a device in another process train as the CPU does, report its errors, and end with the program?"""

import ast
import os

import pytest

from tests.outside import evaluated

SETUP = """
import os
from socket_device import NAME, remote, torch, trained
x = torch.arange(6.0).reshape(2, 3).to(NAME)

def dies():
    remote.process.kill()
    remote.process.wait()
    return x + x
"""


def test_it_trains_as_the_cpu_does() -> None:
    pytest.importorskip("sklearn")
    found = evaluated({device: f"trained({device!r}, 12, 0)" for device in ("cpu", "vault")}, SETUP)
    (cpu, reached), (vault, reached_there) = (ast.literal_eval(found[device][0]) for device in ("cpu", "vault"))
    assert len(cpu) == len(vault) == 12 * 23
    assert vault == pytest.approx(cpu, abs=1e-4)
    assert reached_there == pytest.approx(reached, abs=0.003)
    assert reached_there >= 0.95


def test_the_worker_says_what_went_wrong_and_ends_with_the_program() -> None:
    found = evaluated(
        {
            "pid": "remote.process.pid != os.getpid() and remote.process.pid",
            "product": "(x @ x.t()).tolist(), x.t().add(1).tolist(), x[:, 1:].mul_(2) is not None and x.tolist()",
            "to and fro": "x.half().dtype, x.to(torch.int64).tolist(), torch.zeros(3).copy_(x[0]).tolist()",
            "memory": "torch.empty(1 << 30, device=NAME)",
            "index": "x[torch.tensor([5])]",
            "mixed": "x + torch.ones(2, 3)",
            "afterwards": "x.sum().item()",
            "held": "remote('held')",
            "dead": "dies()",
        },
        SETUP,
    )
    assert found["product"][0] == (
        "([[5.0, 14.0], [14.0, 50.0]], [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], [[0.0, 2.0, 4.0], [3.0, 8.0, 10.0]])"
    )
    assert found["to and fro"][0] == "(torch.float16, [[0, 2, 4], [3, 8, 10]], [0.0, 2.0, 4.0])"
    assert found["memory"][0].startswith("RuntimeError: vault: MemoryError: 4294967296 bytes do not fit: ")
    assert found["index"][0].startswith(
        "RuntimeError: vault: IndexError: index 5 is out of bounds for axis 0 with size 2"
    )
    assert found["mixed"][0].startswith(
        "RuntimeError: Expected all tensors to be on the same device, but found at least"
    )
    assert found["afterwards"][0] == "27.0"
    assert found["held"][0] == "1", "what nothing refers to was dropped"
    assert found["dead"][0].startswith("RuntimeError: the worker of vault is gone: ")


def test_no_worker_outlives_the_program() -> None:
    found = evaluated({"pid": "remote.process.pid"}, SETUP)
    with pytest.raises(ProcessLookupError):
        os.kill(int(found["pid"][0]), 0)

"""Does the device that one file defines train as the CPU does, and does the file say what happens?"""

import os
import re
import subprocess
import sys

import pytest

from tests.outside import DEVICE, ONE_THREAD, ROOT, evaluated


def test_it_trains_as_the_cpu_does() -> None:
    pytest.importorskip("sklearn")
    setup = f"{DEVICE}from outside_device import trained\n"
    found = evaluated({device: f"trained({device!r}, 15, 0)" for device in ("cpu", "attic")}, setup)
    (cpu, reached), (attic, reached_there) = (eval(found[device][0]) for device in ("cpu", "attic"))
    assert len(cpu) == len(attic) == 15 * 23
    assert attic == pytest.approx(cpu, abs=1e-4)
    assert reached_there == pytest.approx(reached, abs=0.003)
    assert reached_there >= 0.95


def test_it_runs_as_a_program_and_says_what_the_cpu_did() -> None:
    pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "outside_device.py"), "--epochs", "1"],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    losses = re.findall(r"^(?:cpu|attic) +loss ([\d.]+) -> ([\d.]+), ", done.stdout, re.MULTILINE)
    assert len(losses) == 2
    assert losses[0] == losses[1]
    assert "its keys: DispatchKeySet(PrivateUse1, ADInplaceOrView, AutogradPrivateUse1, Autocast" in done.stdout
    assert "under autocast: torch.bfloat16" in done.stdout
    assert "aten::nll_loss_forward.output 23x" in done.stdout
    assert "memory in use there: 0 bytes" in done.stdout
    assert "The operator 'aten::nll_loss_forward.output' is not currently supported on the ATTIC backend" in done.stderr


def test_a_generator_of_the_device_continues_from_a_saved_state() -> None:
    setup = f"""{DEVICE}
generator = torch.Generator(NAME).manual_seed(7)
draw = lambda: torch.empty(5, device=NAME).normal_(generator=generator)
draw()
state = generator.get_state()
"""
    found = evaluated({"same": "torch.equal(draw(), (generator.set_state(state), draw())[1])"}, setup)
    assert found["same"][0] == "True"

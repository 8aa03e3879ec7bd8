"""Do the training programs run with both libraries, see the same losses, go on after a break, and learn?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
OURS, TORCHS = ("-m", "glasstorch"), ()
CAPSTONES = ("digits_cnn", "char_gpt", "word_lstm", "digits_vae", "digits_gan", "reinforce")
every_capstone = pytest.mark.parametrize("name", CAPSTONES)
STEPS = 46  # two epochs of digits_cnn
BREAKS = {"digits_cnn": 23}  # between two epochs: it does not keep an order that was half gone through
# What a whole run must reach: the name of a loss, and the most or least mean of its last 20 steps.
LEARNED: dict[str, tuple[str, Callable[[float], bool]]] = {
    "digits_cnn": ("loss", lambda mean: mean < 0.42),
    "char_gpt": ("loss", lambda mean: mean < 2.45),
    "word_lstm": ("loss", lambda mean: mean < 4.6),
    "digits_vae": ("loss", lambda mean: mean < 25),
    "digits_gan": ("judge", lambda mean: 0.9 < mean < 1.5),  # neither has won
    "reinforce": ("arrived", lambda mean: mean > 0.75),
}


def train(name: str, folder: Path, *options: str, runner: tuple[str, ...] = OURS) -> dict[str, Any]:
    """What a program wrote as JSON, and in `output` what it printed."""
    pytest.importorskip("sklearn")
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, *runner, str(ROOT / "examples" / f"{name}.py"), "--losses", "losses.json", *options],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    return {"output": done.stdout, **json.loads((folder / "losses.json").read_text(encoding="utf-8"))}


@pytest.mark.ci
@every_capstone
def test_torch_sees_the_same_losses(name: str, tmp_path: Path, require: Callable[[str], Any]) -> None:
    require("torch")
    ours = train(name, tmp_path / "ours", "--steps", str(STEPS))
    theirs = train(name, tmp_path / "theirs", "--steps", str(STEPS), runner=TORCHS)
    assert (ours["library"].split()[0], theirs["library"].split()[0]) == ("glasstorch", "torch")
    assert ours["losses"].keys() == theirs["losses"].keys()
    for kind, wanted in theirs["losses"].items():
        assert len(wanted) == STEPS
        assert ours["losses"][kind] == pytest.approx(wanted, rel=2e-3, abs=1e-4), kind


@pytest.mark.ci
@every_capstone
def test_a_run_goes_on_after_a_break_as_if_there_had_been_none(name: str, tmp_path: Path) -> None:
    pause = BREAKS.get(name, 9)
    end = 2 * pause
    whole = train(name, tmp_path / "whole", "--steps", str(end))
    saved = ("--steps", str(end), "--checkpoint", "saved.pt", "--every", str(pause))
    first = train(name, tmp_path / "halves", *saved, "--pause", str(pause))
    rest = train(name, tmp_path / "halves", *saved)
    assert all(len(values) == pause for values in first["losses"].values())
    assert f"goes on after step {pause} of saved.pt" in rest["output"]
    assert rest["losses"] == whole["losses"]


INTERRUPTED = """import runs
import torch

run = runs.Run("A line", steps=9)
model = torch.nn.Linear(1, 1)
again = run.options.plot
save = torch.save

def half(state, path):
    if run.options.seed == 4 == run.done and not again:
        path.write_bytes(b"half")
        raise KeyboardInterrupt
    save(state, path)

def step():
    if run.done == 5 and not again:
        raise KeyboardInterrupt
    return model(torch.ones(1)).sum()

torch.save = half

run.train(step, model)
"""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "stopped after step 5 of 9; a run with --checkpoint FILE can be continued"),
        (
            ("--checkpoint", "a.pt"),
            "stopped after step 5 of 9, before the first checkpoint; --every 2 keeps one sooner",
        ),
        (
            ("--checkpoint", "a.pt", "--every", "2"),
            "stopped after step 5 of 9; the same command goes on after step 4, from a.pt",
        ),
        (  # while a checkpoint is written
            ("--checkpoint", "a.pt", "--every", "2", "--seed", "4"),
            "stopped after step 4 of 9; the same command goes on after step 2, from a.pt",
        ),
    ],
)
def test_a_run_that_is_interrupted_says_where_it_goes_on(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    program = tmp_path / "line.py"
    program.write_text(INTERRUPTED, encoding="utf-8")
    command = [sys.executable, "-m", "glasstorch", str(program), *options]
    paths = os.pathsep.join(map(str, (ROOT / "reference", ROOT / "examples")))
    environment = {**os.environ, "PYTHONPATH": paths, **ONE_THREAD}
    first, again = (
        subprocess.run(
            [*command, *more], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        for more in ((), ("--plot", "a.svg"))
    )
    assert (first.returncode, first.stderr) == (130, f"{said}\n")
    assert again.returncode == 0, again.stderr
    for step in ("2", "4"):
        assert (f"goes on after step {step} of a.pt" in again.stdout) == (f"goes on after step {step}" in said)


@pytest.mark.ci
def test_a_run_writes_logs_curves_and_pictures(tmp_path: Path, require: Callable[[str], Any]) -> None:
    require("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    options = ("--steps", "12", "--logs", "logs", "--plot", "loss.svg", "--pictures", "new.png")
    losses = train("digits_vae", tmp_path / "vae", *options)["losses"]
    logs = EventAccumulator(str(tmp_path / "vae" / "logs"))
    logs.Reload()
    assert sorted(logs.Tags()["scalars"]) == ["code", "loss", "picture"]
    for kind, wanted in losses.items():
        assert [event.step for event in logs.Scalars(kind)] == list(range(1, 13))
        assert [event.value for event in logs.Scalars(kind)] == pytest.approx(wanted)
    assert logs.Histograms("decoder.2.bias")[0].histogram_value.num == 64
    assert (tmp_path / "vae" / "loss.svg").read_text().startswith("<svg")
    assert (tmp_path / "vae" / "new.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@every_capstone
def test_a_whole_run_learns(name: str, tmp_path: Path) -> None:
    losses = train(name, tmp_path / name)["losses"]
    kind, reached = LEARNED[name]
    mean = sum(losses[kind][-20:]) / 20
    assert reached(mean), f"{kind} {mean}"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--steps", "0"), "must be at least 1, got 0"),
        (("--pause", "3"), "--pause needs a --checkpoint to go on from"),
        (("--checkpoint", "none/a.pt"), "--checkpoint: there is no folder none"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=said):
        train("word_lstm", tmp_path / "refused", *options)

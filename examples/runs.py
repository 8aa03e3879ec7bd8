"""What does every training program here need besides its model?

Options, a seed, a progress bar, a curve of the loss, checkpoints to go on from, logs for TensorBoard, and a JSON file
with all losses, by which two libraries are compared number by number.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from line_plot import write_line_plot

try:
    import torch
    from torch import nn
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    program = Path(sys.argv[0]).name
    sys.exit(f"PyTorch is not installed here; run this program with: python -m glasstorch examples/{program}")

Step = Callable[[], "torch.Tensor | dict[str, torch.Tensor]"]


class Run:
    """One run of a program: its options, and what becomes of its losses."""

    def __init__(
        self,
        title: str,
        steps: int,
        add_options: Callable[[argparse.ArgumentParser], None] = lambda _: None,
        every: int = 100,
    ) -> None:
        parser = argparse.ArgumentParser(description=title)
        parser.add_argument("--steps", type=_at_least_one, default=steps, help="steps to train (default %(default)s)")
        parser.add_argument("--seed", type=int, default=0, help="decides data, weights and noise (default 0)")
        parser.add_argument("--device", type=torch.device, default="cpu", help="cpu or cuda (default cpu)")
        parser.add_argument("--losses", type=Path, help="a JSON file to write all losses to")
        parser.add_argument("--plot", type=Path, help="an SVG file to draw the loss in")
        parser.add_argument("--logs", type=Path, help="a folder for TensorBoard's logs")
        parser.add_argument(
            "--checkpoint", type=Path, help="a file to save everything in, and to go on from if it exists"
        )
        parser.add_argument(
            "--every", type=_at_least_one, default=every, help="steps between checkpoints (default %(default)s)"
        )
        parser.add_argument(
            "--pause", type=_at_least_one, help="stop after this step; the next run goes on from the checkpoint"
        )
        add_options(parser)
        self.title, self.options = title, parser.parse_args()
        self.device: torch.device = self.options.device
        self.library = f"{torch.__name__} {torch.__version__}"
        self.losses: dict[str, list[float]] = {}
        if self.options.pause is not None and self.options.checkpoint is None:
            parser.error("--pause needs a --checkpoint to go on from")
        if self.options.checkpoint is not None and not self.options.checkpoint.resolve().parent.is_dir():
            parser.error(f"--checkpoint: there is no folder {self.options.checkpoint.parent}")
        self.last = min(self.options.pause or self.options.steps, self.options.steps)
        self.done = self.saved = 0  # steps: taken, and those that the checkpoint holds
        random.seed(self.options.seed)
        torch.manual_seed(self.options.seed)
        print(f"{title}, with {self.library} on {self.device}")

    def train(self, step: Step, model: nn.Module, *kept: Any) -> None:
        """Take the steps that are left, each giving its loss or losses by name.

        The states of the model and of all that is `kept` (optimizers, schedules) go into the checkpoint, with those of
        the random streams: a run that was interrupted goes on as if it had not been.
        """
        parts = [model, *kept]
        if self.options.checkpoint is not None and self.options.checkpoint.exists():
            self._load(parts)
        writer = self._writer()
        start = time.perf_counter()
        try:
            for number in self._progress():
                losses = step()
                for name, loss in (losses if isinstance(losses, dict) else {"loss": losses}).items():
                    self.losses.setdefault(name, []).append(loss.item())
                    if writer is not None:
                        writer.add_scalar(name, self.losses[name][-1], number)
                self.done = number
                if self.options.checkpoint is not None and (number % self.options.every == 0 or number == self.last):
                    self._save(parts)
        except KeyboardInterrupt:
            print(self._interrupted(), file=sys.stderr)
            sys.exit(130)  # as a shell says that Ctrl-C ended a program
        print(f"{self.done} steps in {time.perf_counter() - start:.1f} s")
        if writer is not None:
            for name, parameter in model.named_parameters():
                writer.add_histogram(name, parameter.detach().cpu(), self.done)
            writer.close()

    def close(self, **facts: Any) -> None:
        """Write what was asked for: all losses and facts as JSON, the first kind of loss as a curve."""
        first = next(iter(self.losses), "loss")
        if self.options.plot is not None:
            write_line_plot(
                self.options.plot, self.losses.get(first, []), f"{self.title} ({self.library})", "step", first
            )
            print(f"the loss is drawn in {self.options.plot}")
        if self.options.losses is not None:
            known = {"library": self.library, "seed": self.options.seed, "losses": self.losses, **facts}
            self.options.losses.write_text(json.dumps(known) + "\n", encoding="utf-8")

    def _progress(self) -> Iterator[int]:
        """The numbers of the steps that are left: with a moving bar on a terminal, else with ten lines."""
        numbers = range(self.done + 1, self.last + 1)
        if sys.stdout.isatty():
            from rich.progress import Progress

            with Progress() as bar:
                task = bar.add_task("training", total=self.options.steps, completed=self.done)
                for number in numbers:
                    yield number
                    bar.update(task, completed=number, description=f"step {number}, {self._latest()}")
            return
        for number in numbers:
            yield number
            if number % max(1, self.options.steps // 10) == 0 or number == self.last:
                print(f"step {number:5d}   {self._latest()}", flush=True)

    def _latest(self) -> str:
        return "   ".join(f"{name} {_recent_mean(values):.4f}" for name, values in self.losses.items())

    def _writer(self) -> Any:
        if self.options.logs is None:
            return None
        from torch.utils.tensorboard import SummaryWriter

        return SummaryWriter(self.options.logs, purge_step=self.done + 1 if self.done else None)

    def _save(self, parts: list[Any]) -> None:
        state = {
            "done": self.done,
            "losses": self.losses,
            "parts": [part.state_dict() for part in parts],
            "random": torch.get_rng_state(),
            "python_random": random.getstate(),
        }
        # First beside it: PyTorch writes in place,
        # and an interruption would leave half a file.
        checkpoint = self.options.checkpoint.resolve()
        part = checkpoint.with_name(f"{checkpoint.name}.part")
        torch.save(state, part)
        part.replace(checkpoint)
        self.saved = self.done

    def _interrupted(self) -> str:
        """Where a run that was interrupted goes on."""
        told = f"stopped after step {self.done} of {self.last}"
        if self.options.checkpoint is None:
            return f"{told}; a run with --checkpoint FILE can be continued"
        if not self.saved:
            sooner = f"; --every {max(1, self.done // 2)} keeps one sooner" if self.options.every > 1 else ""
            return f"{told}, before the first checkpoint{sooner}"
        return f"{told}; the same command goes on after step {self.saved}, from {self.options.checkpoint}"

    def _load(self, parts: list[Any]) -> None:
        state = torch.load(self.options.checkpoint, map_location=self.device)
        for part, part_state in zip(parts, state["parts"], strict=True):
            part.load_state_dict(part_state)
        torch.set_rng_state(state["random"].cpu())
        random.setstate(state["python_random"])
        self.done = self.saved = state["done"]
        self.losses = state["losses"]
        print(f"goes on after step {self.done} of {self.options.checkpoint}")


def _recent_mean(values: list[float], count: int = 20) -> float:
    recent = values[-count:]
    return sum(recent) / len(recent)


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number

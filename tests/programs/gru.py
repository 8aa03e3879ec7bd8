"""Does a GRU foretell noisy waves?

The hidden state is carried from one piece of the signal to the next and detached between them; layer norm,
Huber's loss; NAdam, and a rate that falls in steps.
"""

from __future__ import annotations

import math
from typing import Any

from tests.programs.training import Training

SIGNALS, PIECE = 8, 10


def gru(torch: Any) -> Training:
    nn = torch.nn

    class Forecaster(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.gru = nn.GRU(input_size=1, hidden_size=24, num_layers=2, dropout=0.05)
            self.norm = nn.LayerNorm(24)
            self.next = nn.Linear(24, 1)

        def forward(self, signal: Any, hidden: Any = None) -> tuple[Any, Any]:
            states, hidden = self.gru(signal, hidden)
            return signal + self.next(self.norm(states)), hidden

    torch.manual_seed(3)
    model = Forecaster()
    optimizer = torch.optim.NAdam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=40, gamma=0.5)
    phases, speeds = 2 * math.pi * torch.rand(SIGNALS), torch.empty(SIGNALS).uniform_(0.1, 0.5)
    times = torch.arange(2001.0)[:, None]
    waves = torch.sin(phases + speeds * times).unsqueeze(-1)  # (times, signals, 1)
    waves = waves + 0.05 * torch.randn_like(waves)
    place, hidden = 0, None

    def step() -> Any:
        nonlocal place, hidden
        model.train()
        piece = waves[place : place + PIECE + 1]
        guessed, hidden = model(piece[:-1], hidden)
        hidden = hidden.detach()
        loss = nn.functional.huber_loss(guessed, piece[1:], delta=0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        place += PIECE
        return loss

    def answer() -> Any:
        model.eval()
        with torch.no_grad():
            return model(waves[:50])[0]

    return Training(model, step, answer)

"""Does a transformer learn to write a sequence backwards?

`nn.Transformer` with the masks of padding and of the future, positions as waves, Xavier's initialization; Adam with a
rate that warms up, after Vaswani and others.
"""

from __future__ import annotations

import math
from typing import Any

from tests.programs.training import Training

PADDING, START, FIRST, VOCABULARY = 0, 1, 2, 14
WIDTH, LONGEST = 16, 7


def transformer(torch: Any) -> Training:
    nn = torch.nn

    class Positions(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            at = torch.arange(LONGEST).unsqueeze(1)
            speed = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
            waves = torch.zeros(LONGEST, WIDTH)
            waves[:, 0::2] = torch.sin(at * speed)
            waves[:, 1::2] = torch.cos(at * speed)
            self.dropout = nn.Dropout(0.1)
            self.register_buffer("waves", waves)

        def forward(self, x: Any) -> Any:
            return self.dropout(x + self.waves[: x.size(1)])

    class Reverser(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH, padding_idx=PADDING)
            self.positions = Positions()
            self.transformer = nn.Transformer(
                WIDTH,
                nhead=4,
                num_encoder_layers=2,
                num_decoder_layers=1,
                dim_feedforward=32,
                batch_first=True,
            )
            self.scores = nn.Linear(WIDTH, VOCABULARY)
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.xavier_uniform_(parameter)

        def forward(self, source: Any, target: Any) -> Any:
            missing = source == PADDING
            states = self.transformer(
                self.positions(self.tokens(source) * math.sqrt(WIDTH)),
                self.positions(self.tokens(target) * math.sqrt(WIDTH)),
                tgt_mask=torch.triu(torch.ones(target.size(1), target.size(1), dtype=torch.bool), diagonal=1),
                src_key_padding_mask=missing,
                tgt_key_padding_mask=target == PADDING,
                memory_key_padding_mask=missing,
            )
            return self.scores(states)

    def examples(count: int) -> tuple[Any, Any]:
        """Sequences of different lengths, and each backwards after a start."""
        lengths = torch.randint(3, LONGEST, (count,)).tolist()
        sources = [torch.randint(FIRST, VOCABULARY, (length,)) for length in lengths]
        targets = [torch.cat([torch.tensor([START]), source.flip(0)]) for source in sources]
        pad = nn.utils.rnn.pad_sequence
        return pad(sources, batch_first=True), pad(targets, batch_first=True, padding_value=PADDING)

    torch.manual_seed(4)
    model = Reverser()
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    warm = 40
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 0.03 * WIDTH**-0.5 * min((step + 1) ** -0.5, (step + 1) * warm**-1.5)
    )
    loss_of = nn.CrossEntropyLoss(ignore_index=PADDING, label_smoothing=0.1)
    held_out = examples(6)

    def step() -> Any:
        model.train()
        source, target = examples(16)
        scores = model(source, target[:, :-1])
        loss = loss_of(scores.reshape(-1, VOCABULARY), target[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss

    def answer() -> Any:
        model.eval()
        source, target = held_out
        with torch.no_grad():
            return model(source, target[:, :-1])

    return Training(model, step, answer)

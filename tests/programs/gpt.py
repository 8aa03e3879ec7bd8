"""Does a small GPT learn to add?

Causal attention, tied embeddings, weights drawn by `apply` and scaled by depth, gradients summed over two batches and
clipped; AdamW that decays matrices alone, and a rate that warms up and falls along a cosine.
"""

from __future__ import annotations

import math
from typing import Any

from tests.programs.training import Training

VOCABULARY, WIDTH, HEADS, LAYERS = 12, 24, 3, 2
PLUS, EQUALS = 10, 11
LENGTH = 8  # of "12+34=046" without its last


def gpt(torch: Any) -> Training:
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
            self.out = nn.Linear(WIDTH, WIDTH)
            self.dropout = nn.Dropout(0.05)

        def forward(self, x: Any) -> Any:
            n, length, _ = x.shape
            q, k, v = (
                part.view(n, length, HEADS, WIDTH // HEADS).transpose(1, 2) for part in self.qkv(x).split(WIDTH, dim=2)
            )
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.dropout(self.out(y.transpose(1, 2).contiguous().view(n, length, WIDTH)))

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm_1 = nn.LayerNorm(WIDTH)
            self.attention = Attention()
            self.norm_2 = nn.LayerNorm(WIDTH)
            self.mlp = nn.Sequential(
                nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.05)
            )

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.norm_1(x))
            return x + self.mlp(self.norm_2(x))

    class GPT(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.ModuleDict(
                {
                    "tokens": nn.Embedding(VOCABULARY, WIDTH),
                    "positions": nn.Embedding(LENGTH, WIDTH),
                    "drop": nn.Dropout(0.05),
                    "blocks": nn.ModuleList([Block() for _ in range(LAYERS)]),
                    "norm": nn.LayerNorm(WIDTH),
                }
            )
            self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
            self.head.weight = self.body.tokens.weight
            self.apply(self.draw)
            for name, parameter in self.named_parameters():
                if name.endswith(("out.weight", "mlp.2.weight")):
                    nn.init.normal_(parameter, mean=0.0, std=0.02 / math.sqrt(2 * LAYERS))

        @staticmethod
        def draw(module: Any) -> None:
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

        def forward(self, tokens: Any) -> Any:
            x = self.body.tokens(tokens) + self.body.positions(torch.arange(tokens.size(1)))
            x = self.body.drop(x)
            for block in self.body.blocks:
                x = block(x)
            return self.head(self.body.norm(x))

    def sums(count: int) -> Any:
        """Rows of tokens: two numbers of two digits, and their sum of three digits."""
        a, b = torch.randint(0, 100, (2, count)).unbind()
        total = a + b
        parts = [a // 10, a % 10, PLUS, b // 10, b % 10, EQUALS, total // 100, total // 10 % 10, total % 10]
        return torch.stack([torch.full_like(a, part) if isinstance(part, int) else part for part in parts], dim=1)

    torch.manual_seed(5)
    model = GPT()
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.95)
    )
    rates = torch.optim.lr_scheduler
    scheduler = rates.SequentialLR(
        optimizer,
        [rates.LinearLR(optimizer, 0.1, total_iters=20), rates.CosineAnnealingLR(optimizer, T_max=200)],
        milestones=[20],
    )
    held_out = sums(8)

    def step() -> Any:
        model.train()
        optimizer.zero_grad(set_to_none=True)
        losses = []
        for _ in range(2):
            tokens = sums(8)
            scores = model(tokens[:, :-1])
            wanted = tokens[:, 1:].clone()
            wanted[:, : LENGTH - 3] = -1
            loss = functional.cross_entropy(scores.view(-1, VOCABULARY), wanted.reshape(-1), ignore_index=-1) / 2
            loss.backward()
            losses.append(loss.detach())
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        return sum(losses)

    def answer() -> Any:
        model.eval()
        with torch.no_grad():
            return model(held_out[:, :-1])

    return Training(model, step, answer)

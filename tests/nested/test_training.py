"""Does a transformer learn from a batch of sequences of several lengths as it does in PyTorch?"""

from __future__ import annotations

from typing import Any

import pytest


def block(torch: Any, width: int, heads: int) -> Any:
    """One layer of a transformer, whose inputs are nested."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
            self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
            self.wide = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(inplace=True), nn.Linear(2 * width, width))

        def forward(self, x: Any) -> Any:
            normal = self.before(x)
            parts = [of(normal).unflatten(-1, [heads, -1]).transpose(1, 2) for of in (self.query, self.key, self.value)]
            x = x + self.out(F.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(-2))
            return x + self.wide(self.after(x))

    return Block()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_transformer_over_sequences_of_four_lengths_learns_as_in_pytorch(torch: Any) -> None:
    nn, F = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    words, blocks = nn.Embedding(20, 16), nn.ModuleList([block(torch, 16, 4) for _ in range(2)])
    out = nn.Linear(16, 3)
    parameters = [p for part in (words, blocks, out) for p in part.parameters()]
    optimizer = torch.optim.Adam(parameters, 1e-2)
    sequences = [torch.arange(n) % 20 for n in (5, 3, 9, 1)]
    tokens = torch.nested.nested_tensor(sequences, layout=torch.jagged)
    target, lengths = torch.tensor([0, 1, 2, 1]), tokens.offsets().diff().unsqueeze(1)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        x = words(tokens)
        for one in blocks:
            x = one(x)
        loss = F.cross_entropy(out(x.to_padded_tensor(0.0).sum(1) / lengths), target)
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 3))
    assert losses == [0.971, 0.778, 0.648, 0.502, 0.35, 0.223, 0.124, 0.052]

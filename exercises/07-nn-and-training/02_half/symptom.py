"""If a network is converted to half precision, are its results in half precision as well?"""

import glasstorch as torch
from glasstorch import nn


class Positions(nn.Module):
    """Adds to each token a vector that depends on its position. The table can be recomputed, so it is not saved."""

    def __init__(self, places, width):
        super().__init__()
        rates = torch.arange(width) + 1.0
        table = torch.sin(torch.arange(places).view(-1, 1) / rates)
        self.register_buffer("table", table, persistent=False)

    def forward(self, tokens):
        return tokens + self.table[: tokens.shape[-2]]


net = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), Positions(16, 4), nn.Tanh())
for kind in (torch.float16, torch.float64):
    hidden = torch.ones(3, 4).to(kind)
    net.to(kind)
    print(f"the network is {next(net.parameters()).dtype}")
    for layer in net:
        hidden = layer(hidden)
        print(f"  {type(layer).__name__:10} gives {hidden.dtype}")
    if hidden.dtype is not kind:
        raise SystemExit(f"the result is not {kind}")

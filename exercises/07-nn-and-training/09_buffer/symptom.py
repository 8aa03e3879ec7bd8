"""Do all forms of a step give the same result if gradients are cleared by filling them with zeros?"""

import glasstorch as torch
from glasstorch import nn


def trained(set_to_none, **form):
    """The first weights of a small network after each of some steps."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    x, y = torch.randn(32, 4), torch.randn(32, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, **form)
    seen = []
    for _ in range(5):
        optimizer.zero_grad(set_to_none=set_to_none)
        (net(x) - y).square().mean().backward()
        optimizer.step()
        seen.append(net[0].weight.detach().clone())
    return seen


for set_to_none in (True, False):
    wanted = trained(set_to_none)
    for form in ({"fused": True}, {"foreach": True}):
        found = trained(set_to_none, **form)
        same = [torch.allclose(a, b) for a, b in zip(wanted, found, strict=True)]
        print(f"set_to_none={set_to_none}, {form}: as the loop in {sum(same)} of {len(same)} steps")
        if not all(same):
            raise SystemExit(f"the weights differ from step {same.index(False) + 1} on")

"""Does the loss of a network decrease if it is trained under autocast and the loss is computed in float32?"""

import glasstorch as torch
from glasstorch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
sgd = torch.optim.SGD(net.parameters(), lr=0.2)
batch, wanted = torch.randn(8, 4), torch.randn(8, 2)

losses = []
for step in range(4):
    with torch.autocast("cpu"):
        answers = net(batch)
        with torch.autocast("cpu", enabled=False):
            loss = nn.functional.mse_loss(answers.float(), wanted)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    losses.append(loss.item())
    print(f"step {step}: loss {loss.item():.3f}, a weight {net.weight[0, 0].item():.3f}")

if len(set(losses)) == 1:
    raise SystemExit("the weights change, but the loss does not")

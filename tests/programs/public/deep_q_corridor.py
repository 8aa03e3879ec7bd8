"""Learning the values of actions in a corridor: a memory of steps, a slow copy of the network, a robust loss."""

import collections
import math
import random

import torch
from torch import nn

if torch.cuda.is_available():
    device = torch.device("cuda")
elif torch.backends.mps.is_available():
    device = torch.device("mps")
else:
    device = torch.device("cpu")
print(f"{device=}")
LENGTH, DISCOUNT, BATCH = 6, 0.95, 32
Step = collections.namedtuple("Step", "seen action reward then ended")


def view(place):
    return torch.tensor([place / LENGTH, math.sin(place), 1.0], device=device)


def move(place, action):
    place = max(0, place + (1 if action else -1))
    ended = place == LENGTH
    return place, 1.0 if ended else -0.05, ended


class Values(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, seen):
        return self.net(seen)


random.seed(3)
torch.manual_seed(3)
learner, slow = Values().to(device), Values().to(device)
slow.load_state_dict(learner.state_dict())
for parameter in slow.parameters():
    parameter.requires_grad_(False)
optimizer = torch.optim.AdamW(learner.parameters(), lr=3e-3, amsgrad=True)
memory = collections.deque(maxlen=400)
criterion = nn.SmoothL1Loss(beta=0.5)


def learn():
    steps = Step(*zip(*random.sample(memory, BATCH)))
    seen, then = torch.stack(steps.seen), torch.stack(steps.then)
    action = torch.tensor(steps.action, device=device).unsqueeze(1)
    goes_on = torch.tensor([not ended for ended in steps.ended], device=device)
    wanted = torch.tensor(steps.reward, device=device)
    following = torch.zeros(BATCH, device=device)
    following[goes_on] = slow(then[goes_on]).max(dim=1).values
    loss = criterion(learner(seen).gather(1, action).squeeze(1), wanted + DISCOUNT * following)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(learner.parameters(), 1.0)
    optimizer.step()
    with torch.no_grad():
        for mine, theirs in zip(slow.parameters(), learner.parameters()):
            mine.lerp_(theirs, 0.05)
    return loss.item()


lengths, loss, taken = [], float("nan"), 0
for episode in range(12):
    place, ended, steps = 0, False, 0
    while not ended and steps < 60:
        curiosity = 0.05 + 0.85 * math.exp(-taken / 150)
        if random.random() < curiosity:
            action = random.randrange(2)
        else:
            with torch.inference_mode():
                action = learner(view(place)).argmax().item()
        after, reward, ended = move(place, action)
        memory.append(Step(view(place), action, reward, view(after), ended))
        place, steps, taken = after, steps + 1, taken + 1
        if len(memory) >= BATCH:
            loss = learn()
    lengths.append(steps)
    if episode % 2:
        print(f"episode {episode}: {steps} steps, loss {loss:.4f}, curiosity {curiosity:.3f}")
lengths = torch.tensor(lengths, dtype=torch.float)
print(lengths.unfold(0, 4, 2).mean(dim=-1))
print(learner(torch.stack([view(place) for place in range(LENGTH)])).argmax(dim=1))

"""Learns to cross a small lake of ice by trying, with the gradients of REINFORCE.

    python -m glasstorch examples/reinforce.py       with glasstorch
    python examples/reinforce.py                     with PyTorch, where it is installed

A step in a direction slips to a neighbouring one now and then. A hole ends the walk with nothing, the far shore with 1.
"""

from __future__ import annotations

import random

import runs
import torch
from torch import nn
from torch.distributions import Categorical

LAKE = ("S...", ".O.O", "...O", "O..G")  # start, ice, holes, goal
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
MOST, SLIP, DISCOUNT, WALKS = 20, 0.1, 0.95, 16


class Walk:
    """One walk over the ice."""

    def __init__(self) -> None:
        self.row, self.column = 0, 0

    def seen(self) -> torch.Tensor:
        """Where it is, of size (16,): a one and zeros."""
        place = torch.zeros(16)
        place[4 * self.row + self.column] = 1
        return place

    def move(self, direction: int) -> tuple[float, bool]:
        """The reward of a step in a direction, and whether the walk has ended."""
        slips = random.choice((-1, 1)) if random.random() < SLIP else 0
        down, right = MOVES[(direction + slips) % 4]
        self.row, self.column = min(max(self.row + down, 0), 3), min(max(self.column + right, 0), 3)
        ground = LAKE[self.row][self.column]
        return float(ground == "G"), ground in "GO"


def walk(policy: nn.Module) -> tuple[torch.Tensor, list[float]]:
    """The log probabilities of the steps that were taken, of size (steps,), and the reward of each."""
    way, chosen, rewards = Walk(), [], []
    for _ in range(MOST):
        directions = Categorical(logits=policy(way.seen()))
        direction = directions.sample()
        reward, ended = way.move(int(direction))
        chosen.append(directions.log_prob(direction))
        rewards.append(reward)
        if ended:
            break
    return torch.stack(chosen), rewards


def main() -> None:
    """Learn, then tell how often the far shore is reached."""
    run = runs.Run("REINFORCE on a lake of ice", steps=150)
    policy = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)

    def step() -> dict[str, torch.Tensor]:
        walks = [walk(policy) for _ in range(WALKS)]
        reached = [sum(rewards) for _, rewards in walks]
        values = [DISCOUNT ** len(rewards) * total for (_, rewards), total in zip(walks, reached, strict=True)]
        usual = sum(values) / WALKS
        losses = [-(chosen.sum() * (value - usual)) for (chosen, _), value in zip(walks, values, strict=True)]
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return {"loss": loss, "arrived": torch.tensor(sum(reached) / WALKS)}

    run.train(step, policy, optimizer)
    lately = run.losses["arrived"][-10:]
    print(f"{sum(lately) / len(lately):.0%} of the last {len(lately) * WALKS} walks reached the far shore")
    run.close()


if __name__ == "__main__":
    main()

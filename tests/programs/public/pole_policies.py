"""Balancing a pole on a cart: policy gradients, then an actor with a critic, on equations of motion written here."""

import collections
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.distributions import Categorical

DISCOUNT = 0.99


class Pole:
    """A cart of 1 kg with a pole of 1 m and 0.1 kg, pushed with 10 N, in steps of 20 ms."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, size=4)
        return torch.as_tensor(self.state, dtype=torch.float32)

    def push(self, right):
        place, speed, angle, spin = self.state
        force = (10.0 if right else -10.0) + 0.05 * spin**2 * math.sin(angle)
        turn = (9.8 * math.sin(angle) - math.cos(angle) * force / 1.1) / (
            0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1)
        )
        self.state = self.state + 0.02 * np.array([speed, (force - 0.05 * turn * math.cos(angle)) / 1.1, spin, turn])
        fallen = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21)
        return torch.as_tensor(self.state, dtype=torch.float32), fallen


def discounted(steps):
    returns = collections.deque()
    for _ in range(steps):
        returns.appendleft(1.0 + DISCOUNT * (returns[0] if returns else 0.0))
    values = torch.tensor(list(returns))
    return (values - values.mean()) / (values.std() + np.finfo(np.float32).eps.item())


class Policy(nn.Module):
    def __init__(self, critic=False):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(4, 32), nn.Dropout(p=0.0 if critic else 0.3), nn.ReLU())
        self.actor = nn.Linear(32, 2)
        self.critic = nn.Linear(32, 1) if critic else None

    def forward(self, state):
        features = self.features(state)
        return Categorical(logits=self.actor(features)), self.critic(features) if self.critic else None


def play(policy, pole, most=150):
    state, fallen, log_probabilities, values, entropies = pole.reset(), False, [], [], []
    while not fallen and len(log_probabilities) < most:
        choice, value = policy(state)
        action = choice.sample()
        log_probabilities.append(choice.log_prob(action))
        entropies.append(choice.entropy())
        values.append(value)
        state, fallen = pole.push(bool(action))
    return torch.stack(log_probabilities), values, torch.stack(entropies)


for with_critic in (False, True):
    torch.manual_seed(5)
    pole, policy, lately = Pole(5), Policy(with_critic), 10.0
    optimizer = optim.Adam(policy.parameters(), lr=3e-2 if with_critic else 1e-2)
    for episode in range(1, 16):
        log_probabilities, values, entropies = play(policy, pole)
        returns = discounted(len(log_probabilities))
        if with_critic:
            values = torch.cat(values)
            advantage = returns - values.detach()
            loss = -(log_probabilities * advantage).sum() + F.smooth_l1_loss(values, returns, reduction="sum")
        else:
            loss = -(log_probabilities * returns).sum()
        optimizer.zero_grad()
        (loss - 0.01 * entropies.sum()).backward()
        optimizer.step()
        lately = 0.9 * lately + 0.1 * len(returns)
        if episode % 5 == 0:
            print(
                f"critic={with_critic} episode {episode}: {len(returns)} steps, lately {lately:.2f}, loss {loss.item():.2f}"
            )
    print(f"entropy {entropies.mean().item():.3f}", policy(torch.zeros(4))[0])

"""A small GPT that learns to sort digits: a configuration object, groups of weight decay, callbacks, generation."""

import dataclasses
import math

import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import Dataset, RandomSampler
from torch.utils.data.dataloader import DataLoader


@dataclasses.dataclass
class Config:
    kinds: int = 3
    length: int = 5
    width: int = 24
    heads: int = 2
    layers: int = 2
    dropout: float = 0.1

    @property
    def context(self):
        return 2 * self.length - 1


class TanhGELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x.pow(3))))


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.to_qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)
        self.drop_weights, self.drop = nn.Dropout(config.dropout), nn.Dropout(config.dropout)
        past = torch.ones(config.context, config.context).tril().bool()
        self.register_buffer("past", past, persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.to_qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)  # each (batch, heads, length, width / heads)
        scores = (q @ k.mT) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~self.past[:length, :length], -torch.inf)
        mixed = self.drop_weights(scores.softmax(dim=-1)) @ v
        return self.drop(self.out(mixed.transpose(1, 2).reshape(batch, length, width)))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(config.width) for _ in range(2))
        self.attention = SelfAttention(config)
        self.feed = nn.ModuleDict(
            {
                "up": nn.Linear(config.width, 4 * config.width),
                "bend": TanhGELU(),
                "down": nn.Linear(4 * config.width, config.width),
                "drop": nn.Dropout(config.dropout),
            }
        )

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        y = self.norms[1](x)
        for step in self.feed.values():
            y = step(y)
        return x + y


class Sorter(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.kinds, config.width)
        self.places = nn.Embedding(config.context, config.width)
        self.drop = nn.Dropout(config.dropout)
        self.layers = nn.Sequential(*[Layer(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.kinds, bias=False)
        self.apply(self.start)
        for name, parameter in self.named_parameters():
            if name.endswith(("out.weight", "down.weight")):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * config.layers))

    @staticmethod
    def start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            module.bias.data.zero_()

    def optimizer(self, rate, decay):
        matrices = [p for p in self.parameters() if p.dim() >= 2]
        others = [p for p in self.parameters() if p.dim() < 2]
        groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))

    def forward(self, tokens, targets=None):
        places = torch.arange(tokens.size(1), device=tokens.device)
        x = self.drop(self.tokens(tokens) + self.places(places))
        scores = self.head(self.norm(self.layers(x)))
        if targets is None:
            return scores, None
        return scores, F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=-100)

    @torch.no_grad()
    def generate(self, tokens, count, temperature=1.0, best=None, sample=False):
        for _ in range(count):
            scores = self(tokens[:, -self.config.context :])[0][:, -1] / temperature
            if best is not None:
                least = scores.topk(best, dim=-1).values[:, -1:]
                scores = scores.masked_fill(scores < least, float("-inf"))
            chances = F.softmax(scores, dim=-1)
            following = torch.multinomial(chances, 1) if sample else chances.argmax(dim=-1, keepdim=True)
            tokens = torch.cat([tokens, following], dim=1)
        return tokens


class Sequences(Dataset):
    def __init__(self, config):
        self.config = config

    def __len__(self):
        return 10_000

    def __getitem__(self, index):
        digits = torch.randint(self.config.kinds, (self.config.length,))
        whole = torch.cat([digits, digits.sort().values])
        targets = whole[1:].clone()
        targets[: self.config.length - 1] = -100
        return whole[:-1].clone(), targets


class Trainer:
    def __init__(self, model, data, steps):
        self.model, self.data, self.steps = model, data, steps
        self.listeners = []

    def run(self):
        optimizer = self.model.optimizer(rate=3e-3, decay=0.1)
        sampler = RandomSampler(self.data, replacement=True, num_samples=int(1e10))
        self.model.train()
        for self.step, (tokens, targets) in enumerate(DataLoader(self.data, sampler=sampler, batch_size=32)):
            if self.step == self.steps:
                break
            _, self.loss = self.model(tokens, targets)
            self.model.zero_grad(set_to_none=True)
            self.loss.backward()
            self.norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimizer.step()
            for listener in self.listeners:
                listener(self)


torch.manual_seed(5)
config = Config()
model = Sorter(config)
print(f"{sum(p.numel() for p in model.parameters()):,} numbers to learn", config)
trainer = Trainer(model, Sequences(config), steps=41)


def report(trainer):
    if trainer.step % 10 == 0:
        print(f"step {trainer.step}: loss {trainer.loss.item():.3f}, norm {trainer.norm.item():.2f}")


trainer.listeners.append(report)
trainer.run()
model.eval()
start = torch.tensor([[0, 0, 2, 1, 0], [2, 1, 2, 0, 1]])
print(model.generate(start, config.length)[:, config.length :].tolist())
print(model.generate(start, config.length, temperature=0.5, best=2, sample=True)[:, config.length :].tolist())

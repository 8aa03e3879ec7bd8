"""Reversing sequences of symbols with an encoder and a decoder that attends: forcing, averaging, a search by beams."""

import heapq
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

BEGIN, END, EMPTY, SYMBOLS = range(4)
KINDS, WIDTH = SYMBOLS + 6, 24


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbols = nn.Embedding(KINDS, WIDTH, padding_idx=EMPTY)
        self.cells = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.drop = nn.Dropout(0.1)

    def forward(self, sources):
        return self.cells(self.drop(self.symbols(sources)))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbols = nn.Embedding(KINDS, WIDTH)
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH, bias=False)
        self.energy = nn.Linear(WIDTH, 1)
        self.cell = nn.GRUCell(2 * WIDTH, WIDTH)
        self.scores = nn.Bilinear(WIDTH, WIDTH, KINDS)

    def step(self, symbol, memory, notes, empty):
        energy = self.energy(torch.tanh(self.query(memory)[:, None] + self.key(notes))).squeeze(-1)
        weights = energy.masked_fill(empty, -1e4).softmax(dim=-1)
        context = torch.bmm(weights[:, None], notes).squeeze(1)
        memory = self.cell(torch.cat([self.symbols(symbol), context], dim=-1), memory)
        return F.log_softmax(self.scores(memory, context), dim=-1), memory, weights

    def forward(self, notes, memory, empty, steps, forced=None):
        symbol = torch.full((len(notes),), BEGIN)
        said, looked = [], []
        for number in range(steps):
            scores, memory, weights = self.step(symbol, memory, notes, empty)
            said.append(scores)
            looked.append(weights)
            symbol = forced[:, number] if forced is not None else scores.detach().argmax(dim=-1)
        return torch.stack(said, dim=1), torch.stack(looked, dim=1)


def examples(count):
    rows = [[random.randrange(SYMBOLS, KINDS) for _ in range(random.randint(3, 6))] for _ in range(count)]
    sources = pad_sequence([torch.tensor([*row, END]) for row in rows], batch_first=True, padding_value=EMPTY)
    targets = pad_sequence([torch.tensor([*row[::-1], END]) for row in rows], batch_first=True, padding_value=EMPTY)
    return sources, targets


random.seed(1)
torch.manual_seed(1)
encoder, decoder = Encoder(), Decoder()
optimizers = [torch.optim.Adam(encoder.parameters(), lr=0.01), torch.optim.AdamW(decoder.parameters(), lr=0.01)]
criterion, snapshots = nn.NLLLoss(ignore_index=EMPTY), []
for round_ in range(1, 41):
    sources, targets = examples(16)
    for optimizer in optimizers:
        optimizer.zero_grad()
    notes, memory = encoder(sources)
    forced = targets if random.random() < 0.7 else None
    said, _ = decoder(notes, memory[0], sources == EMPTY, targets.size(1), forced)
    loss = criterion(said.transpose(1, 2), targets)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    if round_ % 10 == 0:
        print(f"round {round_}: {loss.item():.3f}")
        snapshots.append({name: value.clone() for name, value in decoder.state_dict().items()})
decoder.load_state_dict({name: (snapshots[-1][name] + snapshots[-2][name]) / 2 for name in snapshots[0]})
encoder.eval()
decoder.eval()
with torch.no_grad():
    sources, targets = examples(3)
    notes, memory = encoder(sources)
    said, looked = decoder(notes, memory[0], sources == EMPTY, 8)
    print(said.shape, looked.shape, torch.allclose(looked.sum(-1), torch.ones(3, 8)))
    empty = sources[:1] == EMPTY
    beams = [(0.0, [BEGIN], memory[0, :1])]
    for _ in range(6):
        longer = []
        for total, symbols, state in beams:
            scores, state, _ = decoder.step(torch.tensor(symbols[-1:]), state, notes[:1], empty)
            best = scores[0].topk(3)
            pairs = zip(best.values.tolist(), best.indices.tolist())
            longer += [(total + value, [*symbols, symbol], state) for value, symbol in pairs]
        beams = heapq.nlargest(3, longer, key=lambda beam: beam[0])
for total, symbols, _ in beams:
    print(f"{total:.2f}", len(symbols))

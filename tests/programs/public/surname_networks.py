"""Telling from letters where a surname comes from: a cell written by hand, and packed batches of nn.RNN, GRU, LSTM."""

import math
import random
import string
import unicodedata

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

NAMES = {
    "it": "Abandonato Barsetti Ferrari Romano Colombo Ricci Marino Greco Bruno Gallo",
    "de": "Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann",
    "jp": "Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato",
}
letters = string.ascii_lowercase
languages = sorted(NAMES)


def plain(name):
    decomposed = unicodedata.normalize("NFD", name.lower())
    return "".join(character for character in decomposed if character in letters)


examples = [(plain(name), languages.index(code)) for code in languages for name in NAMES[code].split()]
print(languages, examples[0], examples[-1], plain("Ślusàrski"))


def encoded(name):
    return torch.tensor([letters.index(character) for character in name])


print(F.one_hot(encoded("ito"), len(letters)).shape, encoded("ito"))


class HandMade(nn.Module):
    """One step of a recurrent network from three linear maps."""

    def __init__(self, hidden):
        super(HandMade, self).__init__()
        self.hidden = hidden
        self.from_letter = nn.Linear(len(letters), hidden)
        self.from_memory = nn.Linear(hidden, hidden)
        self.to_scores = nn.Linear(hidden, len(languages))

    def forward(self, letter, memory):
        memory = torch.tanh(self.from_letter(letter) + self.from_memory(memory))
        return F.log_softmax(self.to_scores(memory), dim=1), memory

    def read(self, name):
        memory = torch.zeros(1, self.hidden)
        for letter in F.one_hot(encoded(name), len(letters)).float():
            scores, memory = self(letter[None], memory)
        return scores


torch.manual_seed(3)
random.seed(3)
network = HandMade(32)
print(network)
criterion = nn.NLLLoss()
running = 0.0
for count in range(1, 601):
    name, language = random.choice(examples)
    network.zero_grad()
    loss = criterion(network.read(name), torch.tensor([language], dtype=torch.long))
    loss.backward()
    for parameter in network.parameters():
        parameter.data.add_(parameter.grad.data, alpha=-0.02)
    running += loss.item()
    if count % 150 == 0:
        print("%4d %3d%% %.4f" % (count, 100 * count // 600, running / 150))
        running = 0.0
table = torch.zeros(3, 3)
with torch.no_grad():
    for name, language in examples:
        table[language, network.read(name).topk(1).indices.item()] += 1
print(table / table.sum(dim=1, keepdim=True))


class Packed(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.letters = nn.Embedding(len(letters) + 1, 8, padding_idx=len(letters))
        self.cells = getattr(nn, kind)(8, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.scores = nn.Linear(32, len(languages))

    def forward(self, names):
        rows = [encoded(name) for name in names]
        lengths = torch.tensor([len(row) for row in rows])
        padded = pad_sequence(rows, batch_first=True, padding_value=len(letters))
        packed = pack_padded_sequence(self.letters(padded), lengths, batch_first=True, enforce_sorted=False)
        outputs, memory = self.cells(packed)
        unpacked, same = pad_packed_sequence(outputs, batch_first=True)
        assert torch.equal(same, lengths)
        assert unpacked.shape[:2] == padded.shape
        last = memory[0] if isinstance(memory, tuple) else memory
        return self.scores(torch.cat([last[-2], last[-1]], dim=-1))


names, truth = [name for name, _ in examples], torch.tensor([language for _, language in examples])
for kind in ("GRU", "LSTM", "RNN"):
    torch.manual_seed(0)
    model = Packed(kind)
    optimizer = torch.optim.RAdam(model.parameters(), lr=0.02)
    for epoch in range(15):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(names), truth)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    size = sum(parameter.numel() for parameter in model.parameters())
    print(kind, size, f"{loss.item():.3f} {norm.item():.3f} {math.exp(loss.item()):.3f}")

"""Word models of a short text, recurrent and attending, with tied weights, truncated backpropagation and sampling."""

import codecs
import contextlib
import io
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

with contextlib.redirect_stdout(io.StringIO()):
    import this

lines = codecs.decode(this.s, "rot13").lower().splitlines()
stream = [word for line in lines for word in (*line.split(), "<end>")]
vocabulary = sorted(set(stream))
numbers = {word: number for number, word in enumerate(vocabulary)}
text = torch.tensor([numbers[word] for word in stream])
COLUMNS, SPAN, WIDTH = 4, 7, 16
columns = text[: len(text) // COLUMNS * COLUMNS].view(COLUMNS, -1).t().contiguous()
print(columns.shape, columns.stride(), len(vocabulary))


class Recurrent(nn.Module):
    def __init__(self, kind, layers=2):
        super().__init__()
        self.dropped = nn.Dropout(0.2)
        self.words = nn.Embedding(len(vocabulary), WIDTH)
        cell = {"lstm": nn.LSTM, "gru": nn.GRU}.get(kind)
        if cell is None:
            self.cells = nn.RNN(WIDTH, WIDTH, layers, nonlinearity=kind, dropout=0.2)
        else:
            self.cells = cell(WIDTH, WIDTH, layers, dropout=0.2)
        self.scores = nn.Linear(WIDTH, len(vocabulary))
        self.scores.weight = self.words.weight
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
        nn.init.zeros_(self.scores.bias)

    def forward(self, words, memory=None):
        outputs, memory = self.cells(self.dropped(self.words(words)), memory)
        return self.scores(self.dropped(outputs)), memory


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(vocabulary), WIDTH)
        angles = torch.arange(64.0)[:, None] / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
        self.register_buffer("places", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, None])
        layer = nn.TransformerEncoderLayer(WIDTH, nhead=2, dim_feedforward=32, dropout=0.2, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.scores = nn.Linear(WIDTH, len(vocabulary))

    def forward(self, words, memory=None):
        mask = nn.Transformer.generate_square_subsequent_mask(len(words))
        hidden = self.words(words) * math.sqrt(WIDTH) + self.places[: len(words)]
        return self.scores(self.layers(hidden, mask=mask, is_causal=True)), None


def cut(memory):
    """The same state without its history."""
    if isinstance(memory, tuple):
        return tuple(part.detach() for part in memory)
    return memory if memory is None else memory.detach()


for kind in ("lstm", "gru", "tanh", "relu", "attention"):
    torch.manual_seed(1)
    model = Attending() if kind == "attention" else Recurrent(kind)
    rate, best = 1.0 if kind == "attention" else 4.0, math.inf
    for epoch in range(3):
        model.train()
        losses, memory = [], None
        for words, following in zip(columns[:-1].split(SPAN), columns[1:].split(SPAN)):
            model.zero_grad()
            scores, memory = model(words, cut(memory))
            loss = F.cross_entropy(scores.flatten(0, 1), following.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.25)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.sub_(parameter.grad, alpha=rate)
            losses.append(loss.item())
        mean = sum(losses) / len(losses)
        print(f"{kind:>9} {epoch} rate {rate:.2f} loss {mean:5.3f} perplexity {math.exp(mean):7.2f}")
        if mean < best:
            best = mean
            with open("best.pt", "wb") as file:
                torch.save(model, file)
        else:
            rate /= 4
    with open("best.pt", "rb") as file:
        model = torch.load(file, weights_only=False)
    if kind != "attention":
        model.cells.flatten_parameters()
    model.eval()
    said = [numbers["<end>"]]
    with torch.no_grad():
        for _ in range(8):
            scores, _ = model(torch.tensor(said)[:, None])
            weights = scores[-1, 0].div(0.8).softmax(dim=0)
            said.append(int(torch.multinomial(weights, num_samples=1)))
    print(type(model).__name__, "says:", " ".join(vocabulary[number] for number in said[1:]))

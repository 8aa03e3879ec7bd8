"""Translating small sentences with nn.Transformer: batches of padded columns, masks, a warm-up, greedy answers."""

import math

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, BEGIN, END, UNKNOWN = range(4)
SENTENCES = [
    ("ein mann geht", "a man walks"),
    ("eine frau geht", "a woman walks"),
    ("ein mann singt laut", "a man sings loudly"),
    ("eine frau singt", "a woman sings"),
    ("der hund schläft", "the dog sleeps"),
    ("die katze schläft laut", "the cat sleeps loudly"),
]


class Words:
    def __init__(self, sentences):
        self.known = ["", "<", ">", "?", *sorted({word for sentence in sentences for word in sentence.split()})]

    def __call__(self, sentence):
        numbers = [self.known.index(word) if word in self.known else UNKNOWN for word in sentence.split()]
        return torch.tensor([BEGIN, *numbers, END])


german, english = (Words(side) for side in zip(*SENTENCES))


class Translator(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.transformer = nn.Transformer(width, nhead=4, num_encoder_layers=2, num_decoder_layers=2,
                                          dim_feedforward=32, dropout=0.1)  # fmt: skip
        self.sources = nn.Embedding(len(german.known), width, padding_idx=PAD)
        self.targets = nn.Embedding(len(english.known), width, padding_idx=PAD)
        self.scores = nn.Linear(width, len(english.known))
        rates = torch.exp(-math.log(1e4) * torch.arange(0, width, 2) / width)
        places = torch.zeros(32, 1, width)
        places[..., 0::2] = torch.sin(torch.arange(32)[:, None, None] * rates)
        places[..., 1::2] = torch.cos(torch.arange(32)[:, None, None] * rates)
        self.register_buffer("places", places)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def placed(self, table, words):
        return table(words) * math.sqrt(table.embedding_dim) + self.places[: len(words)]

    def encode(self, source, empty=None):
        return self.transformer.encoder(self.placed(self.sources, source), src_key_padding_mask=empty)

    def decode(self, target, notes, mask):
        return self.scores(self.transformer.decoder(self.placed(self.targets, target), notes, tgt_mask=mask))

    def forward(self, source, target):
        empty = (source == PAD).t()
        hidden = self.transformer(
            self.placed(self.sources, source),
            self.placed(self.targets, target),
            tgt_mask=not_yet(len(target)),
            src_key_padding_mask=empty,
            tgt_key_padding_mask=(target == PAD).t(),
            memory_key_padding_mask=empty,
        )
        return self.scores(hidden)


def not_yet(length):
    return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)


def columns(pairs):
    sources, targets = zip(*[(german(source), english(target)) for source, target in pairs])
    return pad_sequence(sources, padding_value=PAD), pad_sequence(targets, padding_value=PAD)


torch.manual_seed(0)
model = Translator()
criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.05)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / 10, math.sqrt(10 / (step + 1))))
for epoch in range(8):
    model.train()
    losses = []
    for source, target in DataLoader(SENTENCES * 4, batch_size=8, collate_fn=columns, shuffle=True):
        scores = model(source, target[:-1])
        loss = criterion(scores.flatten(0, 1), target[1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warm_up.step()
        losses.append(loss.item())
    if epoch % 2:
        print(f"epoch {epoch}: {sum(losses) / len(losses):.2f}, rate {warm_up.get_last_lr()[0]:.5f}")

model.eval()
for sentence in ("ein mann singt", "die frau schläft"):
    with torch.no_grad():
        notes = model.encode(german(sentence)[:, None])
        said = torch.tensor([[BEGIN]])
        while len(said) < 7 and said[-1, 0] != END:
            scores = model.decode(said, notes, not_yet(len(said)))
            said = torch.cat([said, scores[-1:].argmax(dim=-1)])
    print(sentence, "->", " ".join(english.known[number] for number in said.flatten()))
print(notes.shape, scores.shape, german("der wolf geht"))

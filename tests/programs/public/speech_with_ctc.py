"""Speech without recordings: spectra and a mel filter bank, packed recurrent networks, CTC, decoding, edit distances."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)
SAMPLE_RATE = 1600
NOTES = {1: 120.0, 2: 200.0, 3: 310.0, 4: 440.0}


def spoken(labels, samples=400):
    time = torch.arange(samples) / SAMPLE_RATE
    tones = [torch.sin(2 * math.pi * NOTES[label] * time) * torch.hann_window(samples) for label in labels]
    sound = torch.cat(tones)
    return sound + 0.01 * torch.randn_like(sound)


def mel_filters(filters, bins, high):
    to_mel, to_hz = lambda f: 2595 * math.log10(1 + f / 700), lambda m: 700 * (10 ** (m / 2595) - 1)
    points = to_hz(torch.linspace(to_mel(0), to_mel(high), filters + 2))
    slopes = points.unsqueeze(0) - torch.linspace(0, high, bins).unsqueeze(1)
    widths = points[1:] - points[:-1]
    return torch.clamp(torch.min(-slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]), min=0)


class LogMel(nn.Module):
    def __init__(self, n_fft=128, hop=64, filters=20):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("filters", mel_filters(filters, n_fft // 2 + 1, SAMPLE_RATE / 2))

    def forward(self, sound):
        spectrum = torch.stft(sound, self.n_fft, self.hop, window=self.window, return_complex=True)
        decibels = 10 * torch.log10(torch.clamp(spectrum.abs().pow(2).mT @ self.filters, min=1e-10))
        return torch.maximum(decibels, decibels.amax() - 60) / 20


texts = [[1, 2, 3, 3], [4, 1], [2, 4, 1]]
sounds = [spoken(text) for text in texts]
spectrum = torch.stft(sounds[0], 128, 32, 96, torch.hann_window(96), pad_mode="reflect", return_complex=True)
again = torch.istft(spectrum, 128, 32, 96, torch.hann_window(96), length=len(sounds[0]))
print(spectrum.shape, spectrum.dtype, spectrum.abs().mean(1).topk(3), (again - sounds[0]).abs().max() < 1e-5)
front = LogMel()
features = [front(sound) for sound in sounds]
print([tuple(f.shape) for f in features], features[0][3, :6], list(front.state_dict()))
cosines = torch.cos(math.pi / 20 * (torch.arange(20.0) + 0.5) * torch.arange(13.0)[:, None])
print((features[0] @ cosines.T)[4, :5], torch.hamming_window(5), torch.kaiser_window(4, True, beta=8.0))
print(torch.fft.rfftfreq(8, 1 / SAMPLE_RATE), torch.fft.fftshift(torch.arange(5)), sounds[1].unfold(0, 200, 100).shape)


class Recognizer(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.conv = nn.Conv1d(inputs, hidden, 3, padding=1)
        self.rnn = nn.LSTM(hidden, hidden, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.out = nn.Linear(2 * hidden, outputs)

    def forward(self, x, lengths):
        x = F.gelu(self.conv(x.mT)).mT
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        packed, (hidden, _) = self.rnn(packed)
        x, lengths = pad_packed_sequence(packed, batch_first=True)
        return self.out(x).log_softmax(-1), lengths, hidden


def decoded(logp, length):
    return [label for label in torch.unique_consecutive(logp[:length].argmax(-1)).tolist() if label]


def edit_distance(a, b):
    table = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.int)
    table[:, 0], table[0] = torch.arange(len(a) + 1), torch.arange(len(b) + 1)
    for i, left in enumerate(a, 1):
        for j, right in enumerate(b, 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (left != right))
    return table[-1, -1].item()


inputs = pad_sequence(features, batch_first=True)
lengths = torch.tensor([len(f) for f in features])
targets = [torch.tensor(text) for text in texts]
target_lengths = torch.tensor([len(text) for text in texts])
model = Recognizer(20, 16, 5)
print(model)
criterion = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(25):
    logp, out_lengths, _ = model(inputs, lengths)
    loss = criterion(logp.transpose(0, 1), torch.cat(targets), out_lengths, target_lengths)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if step % 6 == 0:
        print(f"{step} loss {loss.item():.4f} norm {norm:.3f}", out_lengths.tolist())
model.eval()
with torch.no_grad():
    logp, out_lengths, hidden = model(inputs, lengths)
padded = pad_sequence(targets, batch_first=True)
for reduction in ("none", "sum", "mean"):
    print(reduction, F.ctc_loss(logp.transpose(0, 1), padded, out_lengths, target_lengths, reduction=reduction))
for row, text in enumerate(texts):
    said = decoded(logp[row], out_lengths[row])
    print(text, said, edit_distance(text, said))
print(hidden.shape, edit_distance("kitten", "sitting"), padded)

packed = pack_sequence([torch.arange(4.0), torch.arange(2.0), torch.arange(1.0)])
print(packed, isinstance(packed, PackedSequence), packed.to(torch.float64).data.dtype)
print(pad_packed_sequence(packed, total_length=5, padding_value=-1))
for kind in (nn.RNN, nn.GRU, nn.LSTM):
    torch.manual_seed(1)
    rnn, x = kind(3, 4, num_layers=2, bidirectional=True, batch_first=True), torch.randn(2, 5, 3, requires_grad=True)
    out, _ = rnn(x)
    out.sum().backward()
    print(
        kind.__name__,
        out[0, -1],
        x.grad.norm(dim=-1),
        rnn.weight_ih_l1_reverse.grad.norm(),
        rnn(torch.randn(5, 3))[0].shape,
    )
cell, h, c = nn.LSTMCell(3, 4), torch.zeros(2, 4), torch.zeros(2, 4)
for step in torch.randn(3, 2, 3):
    h, c = cell(step, (h, c))
print(h, nn.LSTM(3, 4, proj_size=2)(torch.ones(5, 2, 3))[1][0].shape, nn.GRUCell(3, 4)(torch.ones(3)).shape)
frames = sounds[1].unfold(0, 400, 200)
added = F.fold(frames.T[None], (1, len(sounds[1])), (1, 400), stride=(1, 200))
print(added.shape, frames.std(1), F.conv1d(sounds[1][None, None, :8], torch.ones(1, 1, 3) / 3, padding="same"))

"""Does an LSTM of two layers tag each token of sentences of different lengths?

Packed sequences, an embedding with a token for padding, dropout between the layers; Adam with clipped gradients.
"""

from __future__ import annotations

from typing import Any

from tests.programs.training import Training

VOCABULARY, LONGEST, PADDING, NO_TAG = 20, 9, 0, -100


def lstm(torch: Any) -> Training:
    nn = torch.nn
    pack, pad = nn.utils.rnn.pack_padded_sequence, nn.utils.rnn.pad_packed_sequence

    class Tagger(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, 12, padding_idx=PADDING)
            self.lstm = nn.LSTM(12, 16, num_layers=2, batch_first=True, dropout=0.1, bidirectional=True)
            self.tags = nn.Linear(32, 3)

        def forward(self, tokens: Any, lengths: Any) -> Any:
            packed = pack(self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False)
            states, _ = self.lstm(packed)
            states, _ = pad(states, batch_first=True, total_length=tokens.size(1))
            return self.tags(states)  # (n, longest, 3)

    def sentences(count: int) -> tuple[Any, Any, Any]:
        """Tokens with their lengths and tags: whether the one before was smaller, the same or larger."""
        lengths = torch.randint(2, LONGEST + 1, (count,))
        tokens = torch.randint(1, VOCABULARY, (count, LONGEST))
        tags = torch.diff(tokens, dim=1, prepend=tokens[:, :1]).sign() + 1
        outside = torch.arange(LONGEST) >= lengths[:, None]
        return tokens.masked_fill(outside, PADDING), lengths, tags.masked_fill(outside, NO_TAG)

    torch.manual_seed(2)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_of = nn.CrossEntropyLoss(ignore_index=NO_TAG)
    held_out = sentences(8)

    def step() -> Any:
        model.train()
        tokens, lengths, tags = sentences(16)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(tokens, lengths).transpose(1, 2), tags)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
        optimizer.step()
        return loss

    def answer() -> Any:
        model.eval()
        with torch.inference_mode():
            return model(*held_out[:2])

    return Training(model, step, answer)

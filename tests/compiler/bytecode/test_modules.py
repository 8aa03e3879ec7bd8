"""Are the layers of torch.nn captured whole, and do they compute what they compute uncaptured?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch import nn
from glasstorch._dynamo import Unsupported, optimize

X = glasstorch.randn
IMAGE, ROWS, WORDS = X(2, 4, 6, 6), X(3, 4), X(2, 3, 4)
LAYERS: dict[str, tuple[nn.Module, tuple[Any, ...]]] = {
    "Conv2d": (nn.Conv2d(4, 2, 3, padding="same"), (IMAGE,)),
    "Conv2d, reflected": (nn.Conv2d(4, 2, 3, padding=1, padding_mode="reflect"), (IMAGE,)),
    "ConvTranspose2d": (nn.ConvTranspose2d(4, 2, 3), (IMAGE,)),
    "BatchNorm2d": (nn.BatchNorm2d(4), (IMAGE,)),
    "BatchNorm1d, evaluated": (nn.BatchNorm1d(4).eval(), (ROWS,)),
    "GroupNorm": (nn.GroupNorm(2, 4), (IMAGE,)),
    "RMSNorm": (nn.RMSNorm(4), (ROWS,)),
    "Embedding": (nn.Embedding(9, 4), (glasstorch.tensor([1, 2]),)),
    "MultiheadAttention": (nn.MultiheadAttention(4, 2, batch_first=True), (WORDS, WORDS, WORDS)),
    "TransformerEncoder": (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2),
        (WORDS,),
    ),
    "TransformerEncoderLayer, evaluated": (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), (WORDS,)),
    "TransformerDecoderLayer": (nn.TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True), (WORDS, WORDS)),
    "CrossEntropyLoss": (nn.CrossEntropyLoss(label_smoothing=0.1), (ROWS, glasstorch.tensor([1, 2, 0]))),
    "TripletMarginLoss": (nn.TripletMarginLoss(), (ROWS, ROWS + 1, ROWS * 2)),
    "MaxPool2d": (nn.MaxPool2d(2, return_indices=True), (IMAGE,)),
    "AdaptiveAvgPool2d": (nn.AdaptiveAvgPool2d((1, None)), (IMAGE,)),
    "Upsample": (nn.Upsample(scale_factor=2, mode="bilinear"), (IMAGE,)),
    "PixelShuffle": (nn.PixelShuffle(2), (IMAGE,)),
    "Unfold": (nn.Unfold(2), (IMAGE,)),
    "PReLU": (nn.PReLU(), (ROWS,)),
    "Bilinear": (nn.Bilinear(4, 4, 2), (ROWS, ROWS)),
    "LSTMCell": (nn.LSTMCell(4, 5), (ROWS,)),
    "weight_norm": (nn.utils.parametrizations.weight_norm(nn.Linear(4, 2)), (ROWS,)),
    "Sequential": (nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Sequential(nn.GELU(), nn.Flatten())), (ROWS,)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_captured_whole(name: str) -> None:
    layer, args = LAYERS[name]
    run = optimize(lambda module, inputs: module.forward, nopython=True)(layer)
    found = []
    for one in (layer, run):
        glasstorch.manual_seed(2)
        layer.zero_grad()
        results = [r for r in glasstorch.utils._pytree.tree_leaves(one(*args)) if r is not None]
        if results[0].requires_grad:
            results[0].sum().backward()
        found.append([*results, *(p.grad for p in layer.parameters() if p.grad is not None)])
    for expected, result in zip(*found, strict=True):
        glasstorch.testing.assert_close(result, expected)


def test_recurrent_layers_are_refused_by_name() -> None:
    run = optimize(lambda module, inputs: module.forward, nopython=True)(nn.GRU(4, 5))
    with pytest.raises(Unsupported, match="Attempted to wrap RNN, GRU, or LSTM"):
        run(WORDS)

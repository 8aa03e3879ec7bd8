"""Are programs the same in PyTorch and here, whoever saved them?"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import jit

Case = tuple[Any, tuple[Any, ...]]


def mlp(t: Any) -> Case:
    return t.nn.Sequential(t.nn.Linear(4, 8), t.nn.ReLU(), t.nn.Linear(8, 3)), (t.rand(2, 4),)


def convolution(t: Any) -> Case:
    nn = t.nn
    layers = (nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    return nn.Sequential(*layers, nn.Linear(16, 3)).eval(), (t.rand(2, 1, 4, 4),)


def attention_block(t: Any) -> Case:
    nn = t.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(8)
            self.qkv = nn.Linear(8, 24)
            self.out = nn.Linear(8, 8)
            self.mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
            self.register_buffer("mask", t.ones(5, 5).tril().bool())

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            parts = self.qkv(self.norm(x)).chunk(3, -1)
            q, k, v = (part.view(batch, length, 2, width // 2).transpose(1, 2) for part in parts)
            scores = (q @ k.transpose(-2, -1)) * (width // 2) ** -0.5
            weights = scores.masked_fill(~self.mask[:length, :length], float("-inf")).softmax(-1)
            x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
            return x + self.mlp(x), (weights, x.mean())

    return Block(), (t.rand(2, 5, 8),)


def encoder_layer(t: Any) -> Case:
    return t.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), (t.rand(2, 3, 8),)


def multihead_attention(t: Any) -> Case:
    return t.nn.MultiheadAttention(4, 2).eval(), (t.rand(3, 1, 4),) * 3


def lstm(t: Any) -> Case:
    return t.nn.LSTM(2, 3, 2), (t.rand(4, 1, 2),)


def gru(t: Any) -> Case:
    return t.nn.GRU(2, 3, bidirectional=True), (t.rand(4, 1, 2),)


def shared_weights(t: Any) -> Case:
    nn = t.nn

    class Tied(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 3, bias=False)
            self.second = nn.Linear(3, 3, bias=False)
            self.second.weight = self.first.weight
            self.register_buffer("row", self.first.weight.detach()[1])

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x)) + self.row

    return Tied(), (t.rand(2, 3),)


def shared_module(t: Any) -> Case:
    layer = t.nn.Linear(3, 3)
    return t.nn.Sequential(layer, t.nn.ReLU(), layer), (t.rand(2, 3),)


def embedding(t: Any) -> Case:
    return t.nn.Embedding(5, 3), (t.tensor([1, 2]),)


def in_float64(t: Any) -> Case:
    return t.nn.Linear(3, 2).double(), (t.rand(2, 3, dtype=t.float64),)


def in_bfloat16(t: Any) -> Case:
    return t.nn.Linear(3, 2).bfloat16(), (t.rand(2, 3).bfloat16(),)


def function(t: Any) -> Case:
    shift = t.tensor([1.0, 2.0, 3.0])

    def shifted(x: Any, y: Any) -> Any:
        z = (x + shift * 2.5).relu()
        if x.size(0) < 5:
            z[0] = y.sum(0)
        return z.view(x.size(0), -1).to(t.float64), x[None, :, 1:], t.zeros(2, 3) + x.max(1)[0].sum()

    return shifted, (t.rand(2, 3), t.rand(4, 3))


CASES = [
    *(mlp, convolution, attention_block, encoder_layer, multihead_attention, lstm, gru, shared_weights, embedding),
    *(shared_module, in_float64, in_bfloat16, function),
]


@pytest.fixture
def torch(require: Callable[[str], Any]) -> Any:
    return require("torch")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("theirs_first", [True, False], ids=["theirs here", "ours there"])
def test_what_one_saves_the_other_runs_and_trains(case: Callable[[Any], Case], theirs_first: bool, torch: Any) -> None:
    here, there = (torch, glasstorch) if theirs_first else (glasstorch, torch)
    here.manual_seed(0)
    model, inputs = case(here)
    traced = here.jit.trace(model, inputs, check_trace=False)
    file = io.BytesIO()
    here.jit.save(traced, file)
    file.seek(0)
    loaded = there.jit.load(file)
    moved = tuple(_moved(there, tensor) for tensor in inputs)
    wanted, found = list(_flat(traced(*inputs))), list(_flat(loaded(*moved)))
    for ours, theirs in zip(wanted, found, strict=True):
        _assert_close(ours, theirs)
    if case is function:
        return
    assert list(loaded.state_dict()) == list(traced.state_dict())
    assert loaded.training == traced.training
    for outputs in (wanted, found):
        sum(output.double().sum() for output in outputs if output.requires_grad).backward()
    expected, parameters = dict(traced.named_parameters()), dict(loaded.named_parameters())
    assert list(parameters) == list(expected)
    for name, parameter in expected.items():
        assert (parameters[name].grad is None) == (parameter.grad is None)
        if parameter.grad is not None:
            _assert_close(parameter.grad, parameters[name].grad)


def _flat(outputs: Any) -> Iterator[Any]:
    if isinstance(outputs, tuple | list):
        for output in outputs:
            yield from _flat(output)
    else:
        yield outputs


def _moved(library: Any, tensor: Any) -> Any:
    dtype = getattr(library, str(tensor.dtype).rpartition(".")[2])
    return library.tensor(tensor.tolist()).to(dtype)


def _assert_close(one: Any, other: Any) -> None:
    assert str(one.dtype).rpartition(".")[2] == str(other.dtype).rpartition(".")[2]
    assert tuple(one.shape) == tuple(other.shape)
    np.testing.assert_allclose(np.array(one.double().tolist()), np.array(other.double().tolist()), rtol=2e-5, atol=2e-6)


@pytest.mark.filterwarnings("ignore")
def test_the_sizes_that_pytorch_traces_follow_the_inputs(torch: Any) -> None:
    traced = torch.jit.trace(lambda x: x.view(x.size(0), -1) + x.shape[1] * 2, torch.ones(2, 3, 4))
    loaded = _from(torch, traced)
    x = np.arange(40.0, dtype=np.float32).reshape(5, 2, 4)
    assert loaded(glasstorch.tensor(x.tolist())).tolist() == traced(torch.tensor(x)).tolist()
    assert [node.kind for node in loaded.graph.find_all_nodes("aten::size")] == ["aten::size"] * 2
    again = jit.load(io.BytesIO(loaded.save_to_buffer()))
    assert again.code == loaded.code
    back = torch.jit.load(io.BytesIO(loaded.save_to_buffer()))
    assert back(torch.tensor(x)).tolist() == traced(torch.tensor(x)).tolist()


def chosen(x, flags):  # type: ignore[no-untyped-def]
    y = x * 2
    if bool(flags.any()):
        y = y + x
        z = y.relu()
    else:
        z = x.neg()
    for _i in range(x.size(0)):
        z = z + y
    while bool(z.sum() < 100):
        z = z + y.abs()
    return z


@pytest.mark.filterwarnings("ignore")
def test_control_flow_of_pytorch_is_read(torch: Any) -> None:
    scripted = torch.jit.script(chosen)
    loaded = _from(torch, torch.jit.trace(lambda x, flags: scripted(x, flags) + 1, (torch.ones(3), torch.ones(1))))
    for flag in (True, False):
        x = torch.tensor([1.0, -2.0, 3.0])
        wanted = (scripted(x, torch.tensor([flag])) + 1).tolist()
        assert loaded(glasstorch.tensor(x.tolist()), glasstorch.tensor([flag])).tolist() == wanted


def _from(torch: Any, program: Any) -> Any:
    """A program of PyTorch's, loaded here."""
    file = io.BytesIO()
    torch.jit.save(program, file)
    file.seek(0)
    return jit.load(file)


@pytest.mark.filterwarnings("ignore")
def test_a_program_with_what_is_not_here_is_refused_with_the_line(torch: Any) -> None:
    traced = torch.jit.trace(lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize(), torch.ones(2))
    with pytest.raises(jit.ArchiveError, match=r"code/__torch__\.py, line 7: .*no operator aten::quantize_per_tensor"):
        _from(torch, traced)


def test_extra_files_and_names_are_read_by_pytorch(torch: Any) -> None:
    model, inputs = mlp(glasstorch)
    traced = jit.trace(model, inputs)
    wanted = {"notes.txt": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = torch.jit.load(io.BytesIO(traced.save_to_buffer({"notes.txt": "digits"})), _extra_files=wanted)
    assert wanted == {"notes.txt": b"digits"}
    assert loaded.original_name == "Sequential"
    assert [child.original_name for child in loaded.children()] == ["Linear", "ReLU", "Linear"]


def test_a_function_keeps_its_name_and_is_a_module_in_pytorch(torch: Any) -> None:
    def doubled(x: Any) -> Any:
        return x * 2

    data = jit.trace(doubled, glasstorch.ones(2)).save_to_buffer()
    assert jit.load(io.BytesIO(data)).name == "doubled"
    assert "archive/code/__torch__/doubled.py" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.jit.load(io.BytesIO(data))(torch.ones(2)).tolist() == [2.0, 2.0]

"""Does every module do what PyTorch's does, on the inputs of PyTorch's own database of modules?

The database is ModuleInfo (torch/testing/_internal/common_modules.py). For each of its inputs, in training and in
evaluation, the module is built in both libraries from the same seed. Compared are the parameters and buffers to the
bit, what is printed, results, the gradients of inputs and parameters, and the buffers afterwards; the same with inputs
that are not contiguous. Copies made by pickle, deepcopy and state_dict compute the same bits as the module. Moved to
other dtypes and to the meta device, its tensors are what PyTorch's are. Where the database has calls that PyTorch
refuses, ours are refused with an exception of the same class and the same words.
"""

from __future__ import annotations

import copy
import functools
import itertools
import pickle
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.nn.utils import stateless
from tests.agreement.opinfo import SEED, Call, compare, in_torch, leaves
from tests.agreement.test_opinfo import cotangent
from tests.refusals import builtin

Require = Callable[[str], Any]

NAMES = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "CELU",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "ELU",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "L1Loss",
    "SmoothL1Loss",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "Linear",
    "Bilinear",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "KLDivLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "MultiLabelSoftMarginLoss",
    "NLLLoss",
    "GaussianNLLLoss",
    "PoissonNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "LinearCrossEntropyLoss",
    "CTCLoss",
    "GELU",
    "GLU",
    "GroupNorm",
    "Hardshrink",
    "Hardswish",
    "Hardtanh",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LocalResponseNorm",
    "LayerNorm",
    "RMSNorm",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "Transformer",
    "MultiheadAttention",
    "Embedding",
    "ReLU",
    "LeakyReLU",
    "ReLU6",
    "PReLU",
    "RNNCell",
    "GRUCell",
    "LSTMCell",
    "Sigmoid",
    "LogSigmoid",
    "SiLU",
    "Softmax",
    "Softmax2d",
    "LogSoftmax",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Mish",
    "RNN",
    "GRU",
    "LSTM",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "SELU",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
]


@functools.cache
def database(torch: Any) -> dict[str, Any]:
    """Entries by their names, such as `Linear`."""
    from torch.testing._internal.common_modules import module_db

    torch.set_num_threads(1)
    return {entry.name.removeprefix("nn."): entry for entry in module_db}


def left_out(name: str, test: str, torch: Any) -> bool:
    """Whether PyTorch leaves a module out of one of its own tests, on all devices or on the CPU."""
    decorators = [d for d in database(torch)[name].decorators if getattr(d, "test_name", None) == test]
    return any(d.device_type in (None, "cpu") and not d.dtypes for d in decorators)


def inputs_of(entry: Any, dtype: Any, training: bool, torch: Any) -> Iterator[Any]:
    """An entry's inputs, drawn from the same seed at every call."""
    torch.default_generator.manual_seed(SEED)
    yield from entry.module_inputs_func(entry, "cpu", dtype, True, training)


class Side:
    """A module of one library, built from a seed, and called on its own copies of the inputs."""

    def __init__(self, library: Any, name: str, given: Any, dtype: Any | None, training: bool, torch: Any) -> None:
        self.torch, self.called = torch, given.forward_input
        given_to = given.constructor_input
        layers = [arg for arg in given_to.args if isinstance(arg, torch.nn.TransformerEncoderLayer)]
        others = SimpleNamespace(args=given_to.args[len(layers) :], kwargs=given_to.kwargs)
        built = arguments(library, others, torch)
        library.default_generator.manual_seed(SEED)
        copies = [layer_of(library, layer) for layer in layers]
        made = getattr(library.nn, name)(*copies, *built.args[1:], **built.kwargs)
        self.library, self.module = library, made.train(training)
        if dtype is not None:
            self.module.to(getattr(library, str(dtype).removeprefix("torch.")))

    def call(self, module: Any = None) -> Call:
        """Call the module, or another one, on new copies of the inputs."""
        return arguments(self.library, self.called, self.torch).run(functools.partial(called, module or self.module))


def layer_of(library: Any, layer: Any) -> Any:
    """A library's own copy of a layer that a module is built from: of a transformer's encoder."""
    attention = layer.self_attn
    made = library.nn.TransformerEncoderLayer(
        attention.embed_dim,
        attention.num_heads,
        layer.linear1.out_features,
        layer.dropout.p,
        getattr(library.nn.functional, layer.activation.__name__),
        layer.norm1.eps,
        attention.batch_first,
        layer.norm_first,
        attention.in_proj_bias is not None,
        dtype=getattr(library, str(layer.linear1.weight.dtype).removeprefix("torch.")),
    )
    made.load_state_dict({key: library.tensor(value.numpy()) for key, value in layer.state_dict().items()})
    return made


def called(module: Any, nothing: None, *args: Any, **kwargs: Any) -> Any:
    """A module's result, without the input that a sample of operators has and one of modules has not."""
    return module(*args, **kwargs)


def arguments(library: Any, given: Any, torch: Any) -> Call:
    """A library's own copies of the arguments of a constructor or of a call."""
    return Call(library, SimpleNamespace(input=None, args=given.args, kwargs=given.kwargs), torch, grad=True)


def sides(name: str, given: Any, dtype: Any, training: bool, torch: Any) -> tuple[Side, Side]:
    """The module in both libraries."""
    mine, theirs = (Side(library, name, given, dtype, training, torch) for library in (glasstorch, torch))
    return mine, theirs


# Results, gradients and state ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_modules_compute_what_pytorchs_do(require: Require, name: str) -> None:
    torch = require("torch")
    entry = database(torch)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in (torch.float32, torch.float64):
            for training in (True, False) if entry.train_and_eval_differ else (True,):
                for given in inputs_of(entry, dtype, training, torch):
                    check(name, given, dtype, training, torch)


def check(name: str, given: Any, dtype: Any, training: bool, torch: Any) -> None:
    """One input of the database, as it is and not contiguous."""
    what = f"{name} {given.desc}, {dtype}, {'training' if training else 'evaluation'}, {given.constructor_input.args}"
    what += f" {given.constructor_input.kwargs}"
    mine, theirs = sides(name, given, dtype, training, torch)
    assert repr(mine.module) == repr(theirs.module), what
    if not entry_is_lazy(theirs):
        same_bits(mine.module.state_dict(), theirs.module.state_dict(), torch, what)
    found, wanted = mine.call(), theirs.call()
    compare(found.out, wanted.out, torch, what)
    compare_gradients(found, wanted, mine.module, theirs.module, torch, what)
    compare(list(mine.module.buffers()), list(theirs.module.buffers()), torch, f"buffers, {what}")
    assert repr(mine.module) == repr(theirs.module), what

    if left_out(name, "test_non_contiguous_tensors", torch):
        return
    mine, theirs = sides(name, apart(given, torch), dtype, training, torch)
    found, wanted = mine.call(), theirs.call()
    compare(found.out, wanted.out, torch, f"not contiguous, {what}")
    compare_gradients(found, wanted, mine.module, theirs.module, torch, f"not contiguous, {what}")


def entry_is_lazy(side: Side) -> bool:
    """Whether parameters have no sizes yet."""
    return any(side.torch.nn.parameter.is_lazy(p) for p in side.module.parameters())


def same_bits(found: Any, wanted: Any, torch: Any, what: str) -> None:
    """Two state dicts have the same names and values."""
    assert list(found) == list(wanted), what
    for key, value in wanted.items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(in_torch(found[key], torch), value), f"{key}, {what}"


def compare_gradients(found: Call, wanted: Call, mine: Any, theirs: Any, torch: Any, what: str) -> None:
    """The gradients of the inputs and parameters, for fixed gradients of the results."""
    results = [
        (a, b) for a, b in zip(leaves(found.out), leaves(wanted.out), strict=True) if is_differentiable(b, torch)
    ]
    if not results:
        return
    seeds = [cotangent(b) for _, b in results]
    torch.autograd.backward(
        [b for _, b in results], [torch.from_numpy(s).to(b.dtype) for s, (_, b) in zip(seeds, results, strict=True)]
    )
    glasstorch.autograd.backward(
        [a for a, _ in results],
        [glasstorch.from_numpy(s).to(a.dtype) for s, (a, _) in zip(seeds, results, strict=True)],
    )
    pairs = [(a.grad, b.grad) for a, b in zip(found.inputs, wanted.inputs, strict=True) if b.is_leaf]
    pairs += [(a.grad, b.grad) for a, b in zip(mine.parameters(), theirs.parameters(), strict=True)]
    assert [a is None for a, _ in pairs] == [b is None for _, b in pairs], f"gradients, {what}"
    given = [(a, b) for a, b in pairs if b is not None]
    compare([a for a, _ in given], [b for _, b in given], torch, f"gradients, {what}")


def is_differentiable(value: Any, torch: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def apart(given: Any, torch: Any) -> Any:
    """The same inputs with their elements apart in memory."""
    from torch.testing._internal.common_utils import noncontiguous_like

    def moved(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return noncontiguous_like(value)
        return type(value)(map(moved, value)) if type(value) in (list, tuple) else value

    made = copy.copy(given)
    call = given.forward_input
    made.forward_input = SimpleNamespace(args=moved(call.args), kwargs={k: moved(v) for k, v in call.kwargs.items()})
    return made


# Copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_copies_of_a_module_compute_the_same(require: Require, name: str) -> None:
    torch = require("torch")
    entry = database(torch)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in inputs_of(entry, torch.float32, False, torch):
            mine = Side(glasstorch, name, given, torch.float32, False, torch)
            mine.call()  # gives sizes to the parameters of lazy modules
            loaded = Side(glasstorch, name, given, torch.float32, False, torch)
            loaded.call()
            for parameter in loaded.module.parameters():
                parameter.detach().zero_()
            assert str(loaded.module.load_state_dict(mine.module.state_dict())) == "<All keys matched successfully>"
            wanted = mine.call().out
            pickled = pickle.loads(pickle.dumps(mine.module))
            for other in (loaded.module, pickled, copy.deepcopy(mine.module)):
                assert repr(other) == repr(mine.module)
                assert [list(m._modules) for m in other.modules()] == [list(m._modules) for m in mine.module.modules()]
                for one, two in zip(leaves(mine.call(other).out), leaves(wanted), strict=True):
                    np.testing.assert_array_equal(values(one), values(two))


def values(value: Any) -> Any:
    return value.detach().numpy() if isinstance(value, glasstorch.Tensor) else value


# Moves -----------------------------------------------------------------------------------------------------------

MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "to float64": lambda library, module: module.to(library.float64),
    "to cpu and float16": lambda library, module: module.to("cpu", library.float16),
    "to bfloat16 by name": lambda library, module: module.to(dtype=library.bfloat16),
    "to what a tensor has": lambda library, module: module.to(library.ones(1)),
    "to where it is": lambda library, module: module.to("cpu"),
    "double": lambda library, module: module.double(),
    "half": lambda library, module: module.half(),
    "type": lambda library, module: module.type(library.float32),
    "to meta": lambda library, module: module.to("meta"),
    "to integers": lambda library, module: module.to(library.int64),
    "from meta": lambda library, module: module.to("cpu"),
    "to_empty": lambda library, module: module.to_empty(device="cpu"),
}


@pytest.mark.parametrize("name", NAMES)
def test_modules_move_as_pytorchs_do(require: Require, name: str) -> None:
    torch = require("torch")
    entry = database(torch)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = next(inputs_of(entry, torch.float32, False, torch))
        pair = sides(name, given, torch.float32, False, torch)
        for side in pair:
            make_gradients(side)
        for move, function in MOVES.items():
            found, wanted = (moved(side, function) for side in pair)
            assert found == wanted, f"{name}, {move}"
        # Back among numbers, a module that went through other dtypes computes what it did, but for what they rounded.
        mine, theirs = sides(name, given, torch.float32, False, torch)
        for side in (mine, theirs):
            side.module.double().float()
        compare(mine.call().out, theirs.call().out, torch, f"{name} after a way through float64")


def make_gradients(side: Side) -> None:
    """Call the module, which gives sizes to lazy parameters, and give every second parameter a gradient."""
    side.call()
    for parameter in list(side.module.parameters())[::2]:
        parameter.grad = side.library.ones_like(parameter)


def moved(side: Side, function: Callable[[Any, Any], Any]) -> Any:
    """What can be seen of the tensors of a module that was moved, or how that was refused."""
    before = list(side.module.parameters())
    try:
        result = function(side.library, side.module)
    except (TypeError, NotImplementedError) as error:
        return type(error).__name__, str(error).replace("glasstorch", "torch")
    after = dict(side.module.named_parameters())
    tensors = {**side.module.state_dict(keep_vars=True), **{f"{n}.grad": p.grad for n, p in after.items()}}
    seen = {
        key: (str(t.dtype).rpartition(".")[2], str(t.device), tuple(t.shape), t.requires_grad, type(t).__name__)
        for key, t in tensors.items()
        if hasattr(t, "dtype")
    }
    return result is side.module, [a is b for a, b in zip(before, after.values(), strict=True)], seen


# Refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_modules_refuse_what_pytorchs_do(require: Require, name: str) -> None:
    torch = require("torch")
    entry = database(torch)[name]
    if entry.module_error_inputs_func is None:
        return
    for bad in entry.module_error_inputs_func(entry, "cpu", torch.float32, False, True):
        errors = []
        for library in (torch, glasstorch):
            with pytest.raises(Exception) as raised:
                Side(library, name, bad.module_error_input, None, True, torch).call()
            errors.append(raised.value)
        assert isinstance(errors[1], builtin(errors[0])), bad.error_regex
        assert str(errors[1]).startswith(str(errors[0]))


# Second derivatives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_modules_have_gradients(require: Require, name: str) -> None:
    check_seconds(name, require("torch"), most=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_modules_have_gradients_for_all_inputs(require: Require, name: str) -> None:
    check_seconds(name, require("torch"))


def check_seconds(name: str, torch: Any, most: int | None = None) -> None:
    """The second derivatives of a module on the first of its inputs, or on all, where PyTorch's own test has them."""
    entry = database(torch)[name]
    if not entry.supports_gradgrad or left_out(name, "test_gradgrad", torch):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in itertools.islice(inputs_of(entry, torch.float64, True, torch), most):
            check_second(Side(glasstorch, name, given, torch.float64, True, torch))


def check_second(mine: Side) -> None:
    """gradcheck and gradgradcheck of a module, as a function of its inputs and parameters."""
    call = mine.call()
    places = {name: p for name, p in mine.module.named_parameters() if p.requires_grad}
    variable = [t for t in call.inputs if t.requires_grad] + list(places.values())

    def function(*now: Any) -> Any:
        new = dict(zip(map(id, variable), now, strict=True))
        glasstorch.default_generator.manual_seed(0)
        args, kwargs = replaced((call.args[1:], call.kwargs), new)
        weights = {name: new[id(p)] for name, p in places.items()}
        out = leaves(stateless._functional_call(mine.module, weights, tuple(args), kwargs))
        return tuple(t for t in out if isinstance(t, glasstorch.Tensor) and t.requires_grad)

    if variable and function(*variable):
        assert glasstorch.autograd.gradcheck(function, variable, fast_mode=True)
        assert glasstorch.autograd.gradgradcheck(function, variable, fast_mode=True)


def replaced(value: Any, new: dict[int, Any]) -> Any:
    """Arguments with other tensors in the places of some."""
    if type(value) in (list, tuple):
        return type(value)(replaced(v, new) for v in value)
    if isinstance(value, dict):
        return {name: replaced(v, new) for name, v in value.items()}
    return new.get(id(value), value)

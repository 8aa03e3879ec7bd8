"""Which layers carry a state from step to step?

Mirrors: torch/nn/modules/rnn.py
Differs: the three layers share what they do with inputs and states; `flatten_parameters` has nothing to do, as only
    cuDNN asks for weights that lie in one piece.
"""

from __future__ import annotations

import math
import numbers
import warnings
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import init
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.rnn_cells import GRUCell as GRUCell
from glasstorch.nn.modules.rnn_cells import LSTMCell as LSTMCell
from glasstorch.nn.modules.rnn_cells import RNNCell as RNNCell
from glasstorch.nn.modules.rnn_cells import RNNCellBase as RNNCellBase
from glasstorch.nn.packing import PackedSequence
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.generated import functions as operators

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}  # the gates of a cell, each hidden_size wide


def _apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    return tensor.index_select(dim, permutation)


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The tensor in another order; deprecated."""
    warnings.warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead",
        FutureWarning,
        stacklevel=2,
    )
    return _apply_permutation(tensor, permutation, dim)


class _Given(NamedTuple):
    """An input as the operators take it, and what tells how to give the result back."""

    data: Tensor  # (T, N, width), (N, T, width) with batch_first, or packed
    batch_sizes: Tensor | None
    order: Tensor | None
    back: Tensor | None
    batched: bool

    @property
    def is_packed(self) -> bool:
        return self.batch_sizes is not None


class RNNBase(Module):
    """Layers of recurrent cells: RNN, LSTM and GRU are made of it."""

    __constants__: ClassVar = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip
    __jit_unused_properties__: ClassVar = ["all_weights"]
    _flat_weights: list[Any]
    _flat_weights_names: list[str]
    _all_weights: list[list[Any]]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._flat_weight_refs: list[weakref.ref[Any] | None] = []
        _check_settings(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                sizes = self._sizes_of_cell(layer)
                names = [f"{name}_l{layer}{suffix}" for name in sizes]
                for name, shape in zip(names, sizes.values(), strict=True):
                    setattr(self, name, Parameter(operators.empty(shape, device=device, dtype=dtype)))
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)
        self._init_flat_weights()
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _output_size(self) -> int:
        return self.proj_size if self.proj_size > 0 else self.hidden_size

    def _sizes_of_cell(self, layer: int) -> dict[str, tuple[int, ...]]:
        """The parameters of a layer in one direction, and their sizes."""
        gates = GATES[self.mode] * self.hidden_size
        width = self.input_size if layer == 0 else self._output_size * self._directions
        sizes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, width), "weight_hh": (gates, self._output_size)}
        if self.bias:
            sizes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size > 0:
            sizes["weight_hr"] = (self.proj_size, self.hidden_size)
        return sizes

    # Weights ----------------------------------------------------------------------------------------------------

    def _init_flat_weights(self) -> None:
        """Gather the parameters in the list that the operators take."""
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if w is None else weakref.ref(w) for w in self._flat_weights]
        self.flatten_parameters()

    def __setattr__(self, attr: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names", ())
        if attr in names and "_flat_weights" in self.__dict__:
            self._flat_weights[names.index(attr)] = value
        super().__setattr__(attr, value)

    def flatten_parameters(self) -> None:
        """Nothing: it would put the weights into one piece of memory for cuDNN."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        self._flat_weight_refs = []
        result = super()._apply(fn, recurse)
        self._init_flat_weights()
        return result

    def reset_parameters(self) -> None:
        """Draw all parameters again: uniform in +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _weights_have_changed(self) -> bool:
        """Whether an attribute is another parameter than the list's, as under stateless.functional_call."""
        for ref, name in zip(self._flat_weight_refs, self._flat_weights_names, strict=True):
            weight = getattr(self, name, None)
            if weight is not None and ref is not None and ref() is not weight:
                return True
        return False

    def _update_flat_weights(self) -> None:
        if self._weights_have_changed():
            self._init_flat_weights()

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def __getstate__(self) -> dict[str, Any]:
        self._update_flat_weights()
        state = self.__dict__.copy()
        del state["_flat_weight_refs"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "all_weights" in state:
            self._all_weights = state["all_weights"]
        self.__dict__.setdefault("proj_size", 0)  # what was saved before there were projections
        if not isinstance(self._all_weights[0][0], str):
            self._all_weights = [
                [f"{name}_l{layer}{suffix}" for name in self._sizes_of_cell(layer)]
                for layer in range(self.num_layers)
                for suffix in (("", "_reverse") if self.bidirectional else ("",))
            ]
            self._flat_weights_names = [name for names in self._all_weights for name in names]
            self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if w is None else weakref.ref(w) for w in self._flat_weights]

    # Inputs and states ------------------------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse an input of another dtype, number of dimensions or width."""
        weight = self._flat_weights[0]
        if input.dtype is not weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        dims = 2 if batch_sizes is not None else 3
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return int(input.size(self._batch_dim))

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The sizes of a hidden state for an input."""
        return self.num_layers * self._directions, self._batch(input, batch_sizes), self._output_size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Refuse a state of other sizes."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input or a state that does not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """A state in another order of the batch."""
        return hx if permutation is None else _apply_permutation(hx, permutation)

    def _given(self, input: Tensor | PackedSequence, kind: str) -> _Given:
        """An input as the operators take it; one without a batch becomes a batch of one."""
        if isinstance(input, PackedSequence):
            return _Given(*input, batched=True)
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D{kind} instead")
        batched = input.dim() == 3
        return _Given(input if batched else input.unsqueeze(self._batch_dim), None, None, None, batched)

    @property
    def _batch_dim(self) -> int:
        return 0 if self.batch_first else 1

    def _zeros(self, given: _Given, width: int) -> Tensor:
        """The state before the first step, unless the caller gives one."""
        sizes = (self.num_layers * self._directions, self._batch(given.data, given.batch_sizes), width)
        return operators.zeros(sizes, dtype=given.data.dtype, device=given.data.device)

    def _run(self, operator: Any, given: _Given, hx: Any) -> tuple[Any, ...]:
        """The operator's results: the outputs, as packed as the input, and the states."""
        settings = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if given.is_packed:
            output, *states = operator(given.data, given.batch_sizes, hx, *settings)
            return (PackedSequence(output, given.batch_sizes, given.order, given.back), *states)
        output, *states = operator(given.data, hx, *settings, self.batch_first)
        if given.batched:
            return (output, *states)
        return (output.squeeze(self._batch_dim), *(state.squeeze(1) for state in states))

    def _forward_with_one_state(self, operator: Any, input: Any, hx: Tensor | None, kind: str) -> Any:
        """The forward of RNN and GRU."""
        self._update_flat_weights()
        given = self._given(input, kind)
        if hx is None:
            hx = self._zeros(given, self.hidden_size)
        else:
            if not given.is_packed:
                hx = _as_batch(hx, given.batched)
            hx = self.permute_hidden(hx, given.order)
        self.check_forward_args(given.data, hx, given.batch_sizes)
        output, hidden = self._run(operator, given, hx)
        return output, self.permute_hidden(hidden, given.back)

    def extra_repr(self) -> str:
        shown = {
            "proj_size": self.proj_size != 0,
            "num_layers": self.num_layers != 1,
            "bias": self.bias is not True,
            "batch_first": self.batch_first is not False,
            "dropout": self.dropout != 0,
            "bidirectional": self.bidirectional is not False,
        }
        text = [f"{name}={getattr(self, name)}" for name, is_shown in shown.items() if is_shown]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *text])


def _as_batch(hx: Tensor, batched: bool) -> Tensor:
    """A state (layers, N, H); one without a batch becomes a batch of one."""
    dims = 3 if batched else 2
    if hx.dim() != dims:
        kind = "batched 3-D" if batched else "unbatched 2-D"
        raise RuntimeError(f"For {kind} input, hx should also be {dims}-D but got {hx.dim()}-D tensor")
    return hx if batched else hx.unsqueeze(1)


def _check_settings(
    mode: str,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    bias: bool,
    batch_first: bool,
    dropout: Any,
    proj_size: int,
) -> None:
    """Refuse what no layer can be built from."""
    is_number: bool = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not is_number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=3,
        )
    for name, flag in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if mode not in GATES:
        raise ValueError("Unrecognized RNN mode: " + mode)


class RNN(RNNBase):
    """Layers of simple cells: h' = tanh(W x + b + U h + c), or relu in the place of tanh.

    Takes (T, N, input_size), with `batch_first` (N, T, input_size), without a batch (T, input_size), or a
    PackedSequence; gives the outputs of the last layer in the same form, and the last states of all layers.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)

    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        """The outputs, and the last states (layers * directions, N, hidden_size); `hx` is 0 unless given."""
        operator = operators.rnn_tanh if self.mode == "RNN_TANH" else operators.rnn_relu
        return self._forward_with_one_state(operator, input, hx, " tensor")


def _refuse_projection(kwargs: dict[str, Any]) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class LSTM(RNNBase):
    """Layers of cells with long short-term memory, as RNN; with `proj_size` each output is projected to that width."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The sizes of a cell state for an input."""
        return self.num_layers * self._directions, self._batch(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input or a pair of states that does not fit the layer."""
        self.check_input(input, batch_sizes)
        sizes = (self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes))
        for number, expected in enumerate(sizes):
            self.check_hidden_size(hidden[number], expected, f"Expected hidden[{number}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Both states in another order of the batch."""
        if permutation is None:
            return hx
        return _apply_permutation(hx[0], permutation), _apply_permutation(hx[1], permutation)

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        """The outputs, and the pair of last hidden states and last cells; `hx` is a pair of 0 unless given."""
        self._update_flat_weights()
        given = self._given(input, "")
        if hx is None:
            hx = (self._zeros(given, self._output_size), self._zeros(given, self.hidden_size))
        elif not given.is_packed:
            hx = _as_batches(hx, given.batched)
        if not given.is_packed:
            self.check_forward_args(given.data, hx, None)
        hx = self.permute_hidden(hx, given.order)
        output, *hidden = self._run(operators.lstm, given, hx)
        return output, self.permute_hidden(tuple(hidden), given.back)


def _as_batches(hx: tuple[Tensor, Tensor], batched: bool) -> tuple[Tensor, Tensor]:
    dims = 3 if batched else 2
    if hx[0].dim() != dims or hx[1].dim() != dims:
        kind = "batched 3-D" if batched else "unbatched 2-D"
        raise RuntimeError(
            f"For {kind} input, hx and cx should also be {dims}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
        )
    return hx if batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))


class GRU(RNNBase):
    """Layers of gated recurrent units, as RNN."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        """The outputs, and the last states (layers * directions, N, hidden_size); `hx` is 0 unless given."""
        return self._forward_with_one_state(operators.gru, input, hx, "")

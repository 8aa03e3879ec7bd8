"""Which cells are there for a loop over steps of the caller's own?

Mirrors: torch/nn/modules/rnn.py (RNNCellBase, RNNCell, LSTMCell, GRUCell)
Differs: a file of their own.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import init
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.generated import functions as operators

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """One recurrent cell, which a loop of the caller's carries over the steps."""

    __constants__: ClassVar = ["input_size", "hidden_size", "bias"]
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias

        def parameter(*sizes: int) -> Parameter:
            return Parameter(operators.empty(sizes, device=device, dtype=dtype))

        self.weight_ih = parameter(num_chunks * hidden_size, input_size)
        self.weight_hh = parameter(num_chunks * hidden_size, hidden_size)
        if bias:
            self.bias_ih = parameter(num_chunks * hidden_size)
            self.bias_hh = parameter(num_chunks * hidden_size)
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again: uniform in +-1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check_dims(self, name: str, tensor: Tensor) -> None:
        if tensor.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected {name} to be 1D or 2D, got {tensor.dim()}D instead")

    def _step(self, operator: Any, input: Tensor, hx: Tensor | None) -> Tensor:
        """A step of a cell with one state; without a batch it is a batch of one."""
        self._check_dims("input", input)
        if hx is not None:
            self._check_dims("hidden", hx)
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        if hx is None:
            hx = self._zeros(input)
        elif not batched:
            hx = hx.unsqueeze(0)
        result: Tensor = operator(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if batched else result.squeeze(0)

    def _zeros(self, input: Tensor) -> Tensor:
        return operators.zeros((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.__dict__.get("bias", True) is not True:
            text += f", bias={self.bias}"
        if self.__dict__.get("nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.__dict__['nonlinearity']}"
        return text


class RNNCell(RNNCellBase):
    """A simple cell: (N, input_size) and a state (N, hidden_size) give the next state."""

    __constants__: ClassVar = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state; `hx` is 0 unless given."""
        return self._step(self._operator, input, hx)

    def _operator(self, *arguments: Any) -> Tensor:
        if self.nonlinearity == "tanh":
            return operators.rnn_tanh_cell(*arguments)
        if self.nonlinearity == "relu":
            return operators.rnn_relu_cell(*arguments)
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class LSTMCell(RNNCellBase):
    """A cell with long short-term memory: an input and a pair of states give the next pair."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next hidden state and cell; `hx` is a pair of 0 unless given."""
        self._check_dims("input", input)
        for number, value in enumerate(() if hx is None else hx):
            self._check_dims(f"hx[{number}]", value)
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        if hx is None:
            hx = (self._zeros(input),) * 2
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        hidden, cell = operators.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (hidden, cell) if batched else (hidden.squeeze(0), cell.squeeze(0))


class GRUCell(RNNCellBase):
    """A gated recurrent unit: an input and a state give the next state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state; `hx` is 0 unless given."""
        return self._step(operators.gru_cell, input, hx)

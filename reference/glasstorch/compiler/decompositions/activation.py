"""Of what are the activations made that are not one formula?

Mirrors: torch/_decomp/decompositions.py (glu_backward, log_sigmoid_forward, native_dropout_backward,
    _softmax, _log_softmax and their gradients), torch/_refs/nn/functional/__init__.py (celu, prelu)
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, in_float32, wide
from glasstorch.compiler.decompositions.table import by_kernel, decomposes
from glasstorch.core.dtype import HALF_PRECISION, Number, bool_, dtype, get_default_dtype
from glasstorch.operators.generated import functions as f

# Softmax --------------------------------------------------------------------------------------------------------


@decomposes("_softmax", core=False)
def softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """exp(x - max) over its sum."""
    gives, x = self.dtype, wide(self).contiguous()
    if not x.numel():
        return cast(f.exp(x), x.dtype if half_to_float else gives)
    numerators = f.exp(x - f.amax(x, [dim], True))
    return cast(numerators / f.sum(numerators, [dim], True), x.dtype if half_to_float else gives)


@decomposes("_log_softmax", core=False)
def log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """x - max - log(sum(exp(x - max)))."""
    gives, x = self.dtype, wide(self).contiguous()
    shifted = x - f.amax(x, [dim], True) if x.numel() else x
    found = shifted - f.log(f.sum(f.exp(shifted), [dim], True))
    return cast(found, x.dtype if half_to_float else gives)


by_kernel("_safe_softmax")


@decomposes("_softmax_backward_data")
def softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """The gradient times the result, less the part along the result."""
    product = wide(grad_output) * wide(output)
    gives = input_dtype if grad_output.dtype in HALF_PRECISION else grad_output.dtype
    return cast(product - wide(output) * f.sum(product, [dim], True), gives).contiguous()


@decomposes("_log_softmax_backward_data")
def log_softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """The gradient less its sum times softmax."""
    grad = wide(grad_output)
    return cast(grad - f.exp(wide(output)) * f.sum(grad, [dim], True), input_dtype)


# Gates, and functions with a bend -------------------------------------------------------------------------------


@decomposes("glu")
@in_float32
def glu(self: Tensor, dim: int = -1) -> Tensor:
    """One half times the sigmoid of the other."""
    values, gates = f.chunk(self, 2, dim)
    return values * f.sigmoid(gates)


@decomposes("glu_backward")
@in_float32
def glu_backward(grad_output: Tensor, self: Tensor, dim: int) -> Tensor:
    """Of the values: the gates. Of the gates: the values times the slope of the sigmoid."""
    values, gates = f.chunk(self, 2, dim)
    opened = f.sigmoid(gates)
    of_values = opened * grad_output
    return f.cat([of_values, (1 - opened) * opened * values * grad_output], dim)


@decomposes("log_sigmoid_forward")
@in_float32
def log_sigmoid_forward(self: Tensor) -> tuple[Tensor, Tensor]:
    """min(0, x) - log(1 + exp(-|x|)); and that exponential, which the CPU's gradient needs."""
    small = f.exp(-f.abs(self))
    found = f.clamp(self, max=0) - f.log1p(small)
    found, small = found.contiguous(), small.contiguous()
    return found, small if self.device.type == "cpu" else self.new_zeros((0,))


@decomposes("celu")
def celu(self: Tensor, alpha: Number = 1.0) -> Tensor:
    """elu with a smooth bend."""
    return f.elu(self, alpha, 1.0, 1.0 / float(alpha.real))


@decomposes("prelu", core=False)
def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """leaky_relu whose slope is learned, one for each channel."""
    if weight.dim() or self.dim():
        sizes = [1] * self.dim()
        if self.dim() > 1:
            sizes[1] = weight.numel()
        weight = weight.view(sizes) if self.dim() > 1 else weight.view([1] * self.dim())
    return f.where(self > 0, self, weight * self)


@decomposes("_prelu_kernel_backward")
def prelu_kernel_backward(grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Of the input: by its slope. Of the slope: the input below 0."""
    above = self > 0
    nothing = f.full((), 0, dtype=self.dtype, device=self.device)
    return f.where(above, grad_output, weight * grad_output), f.where(above, nothing, self * grad_output)


@decomposes("logit")
@in_float32
def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), of x at least eps away from 0 and 1."""
    x = self if self.dtype.is_floating_point else self.to(get_default_dtype())
    x = x if eps is None else f.clamp(x, eps, 1 - eps)
    return f.log(x / (1 - x))


@decomposes("native_dropout_backward")
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """What was kept, scaled; in the layout of the gradient."""
    return grad_output * (mask.to(grad_output.dtype) * scale)


# Attention ------------------------------------------------------------------------------------------------------


@decomposes("_scaled_dot_product_flash_attention_for_cpu", fuses=False)
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(q @ k.T * scale) @ v, in the kernel's layout; and the logarithms of the sums of exponentials."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = f.matmul(wide(query) * factor, wide(key).transpose(-2, -1))
    if is_causal:
        seen = f.tril(f.full(scores.shape[-2:], 1, dtype=bool_, device=query.device))
        scores = f.where(seen, scores, -math.inf)
    if attn_mask is not None:
        scores = scores + attn_mask
    sums = f.logsumexp(scores, [-1])
    out = cast(f.matmul(f.softmax(scores, -1), wide(value)), query.dtype)
    order = [0, 2, 1, 3] if query.stride(1) < query.stride(2) else [0, 1, 2, 3]
    out = f.permute(f.permute(out, order).contiguous(), order)
    return out, sums.transpose(1, 2).contiguous().transpose(1, 2)

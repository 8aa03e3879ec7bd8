"""Do functions, methods and attributes that have no rule of their own answer as in PyTorch, or refuse in its words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

SEVERAL = """
torch.nn.Linear(3, 2)(a).shape
a.__torch_function__ is None
torch.ops.aten._nested_get_values(a)
torch.ops.aten._nested_get_offsets(a)
torch.ops.aten._nested_get_lengths(h)
torch.ops.aten._nested_get_ragged_idx(r)
torch.ops.aten._nested_get_min_seqlen(c).shape
torch.ops.aten._nested_get_max_seqlen(c).shape
torch.ops.aten._nested_get_jagged_dummy(a).shape
torch._nested_get_values(a)
torch._nested_get_offsets(a)
torch._nested_view_from_jagged(numbers, offsets, a)
torch.ops.aten.sin(a)
torch.ops.aten.add.Tensor(a, a2)
torch.ops.aten.linear(a, torch.ones(2, 3))
torch.ops.aten.softmax.int(a, -1)
str(torch.ops.aten._nested_view_from_jagged.default._schema)
str(torch.ops.aten._nested_get_values.default._schema)
str(torch.ops.aten._jagged_to_padded_dense_forward.default._schema)
str(torch.ops.aten._padded_dense_to_jagged_forward.default._schema)
str(torch.ops.aten.to_padded_tensor.default._schema)
str(torch.ops.aten._nested_get_jagged_dummy.default._schema)
torch._C._dispatch_has_kernel_for_dispatch_key('aten::_nested_view_from_jagged', 'Autograd')
torch.autograd.grad((a.detach().requires_grad_() * 2).sum(), [])
a.detach().requires_grad_().backward()
(lambda x: (x * x).backward(torch.ones_like(x)))(a.detach().requires_grad_())
(lambda x: ((x * x).backward(torch.ones_like(x)), x.grad)[1])(a.detach().requires_grad_())
(lambda x: ((x * x).backward(torch.ones_like(c)), x.grad)[1])(a.detach().requires_grad_())
(lambda x: torch.autograd.grad((x ** 2).sum(), x)[0])(a.detach().requires_grad_())
(lambda x: (x * 2).is_leaf)(a.detach().requires_grad_())
(lambda x: (x * 2).requires_grad)(a.detach().requires_grad_())
(lambda x: x.detach().requires_grad)(a.detach().requires_grad_())
(lambda x: x.register_hook(lambda g: g * 2) and ((x * 1).sum().backward(), x.grad)[1])(a.detach().requires_grad_())
N([torch.ones(2, 3), torch.ones(1, 3)], requires_grad=True).grad
a.grad_fn
a._version
(a.add_(1), a._version)[1]
a.is_cuda
a.is_cpu
a.is_sparse
a.is_floating_point()
a.is_complex()
a.element_size()
a.itemsize
a.names
a.storage_offset()
a.data.shape == a.shape
a.is_inference()
a.is_quantized
a.get_device()
a.is_shared()
a.cpu() is a
a.numpy()
a.data_ptr()
a.untyped_storage().size()
a.nbytes
a.stride(1)
a.stride(0)
r.stride()
q.stride()
a.ndimension()
a.size(0)
a.size(dim=1)
a.to(torch.float32) is a
a.to('cpu') is a
a.to(dtype=torch.float16).dtype
a.to(c.dtype) is a
a.type()
a.new_tensor([1, 2])
a.new_full((2,), 1)
a.is_nonzero()
torch.is_tensor(a)
torch.numel(a)
torch.is_nonzero(a)
torch.isfinite(a)
torch.sum(a, 1)
torch.mean(a, dim=-1)
torch.softmax(a, dim=-1)
torch.relu(a)
torch.dropout(a, 0.5, False)
torch.nn.functional.embedding_bag(i, torch.ones(5, 2))
torch.split(a, 2, dim=-1)
torch.unbind(a)
torch.chunk(a, 3, dim=-1)
torch.flatten(q, 2)
torch.squeeze(a.unsqueeze(-1), -1)
torch.permute(q, (0, 1, 3, 2))
torch.clone(a)
torch.zeros_like(a, device='meta').shape == a.shape
torch.ones_like(a, dtype=torch.float64, requires_grad=True)
torch.equal(a.values(), a.values())
torch.as_tensor(a)
torch.add(a, 1, alpha=3)
torch.sub(a, a2, alpha=2)
torch.div(a, 2, rounding_mode='floor')
torch.clamp(a, max=0.5)
torch.hypot(a, a2)
torch.heaviside(a, T(0.5))
torch.xlogy(a.abs(), a2.abs())
torch.cumsum(a, -1)
torch.diff(a)
torch.tril(a)
torch.roll(a, 1, -1)
torch.flip(a, (-1,))
torch.gather(a, -1, i)
torch.sort(a, -1)
torch.topk(a, 2, -1)
torch.argsort(a)
torch.norm(a.values())
torch.linalg.norm(a)
torch.logsumexp(a, -1)
torch.var(a)
torch.count_nonzero(a)
torch.nonzero(a)
torch.unique(a)
torch.tile(a, (1, 1, 2))
a.repeat(1, 1, 2)
a.scatter(-1, i, a)
a.index_select(-1, T([0, 1]))
a.take(T([0]))
a.diagonal()
a.uniform_()
seeded(lambda: a.normal_())
a.bernoulli_()
a.t_()
a.resize_(2, 3)
a.set_()
a.as_strided((2,), (1,))
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), torch.cat([q, q], -1).transpose(1, 2))
F.scaled_dot_product_attention(a.unsqueeze(1), a.unsqueeze(1), a.unsqueeze(1))
torch.nn.functional.gelu(a, approximate='tanh')
torch.nn.functional.softplus(a)
torch.nn.functional.hardtanh(a)
torch.nn.functional.mish(a)
torch.nn.functional.glu(q)
torch.nn.functional.prelu(a, T([0.1]))
torch.nn.functional.logsigmoid(a)
torch.nn.functional.batch_norm(a, None, None)
torch.nn.functional.cosine_similarity(a, a2, -1)
torch.nn.functional.l1_loss(a, a2)
torch.nn.functional.max_pool1d(a, 1)
torch.nn.functional.pad(a, (0, 1), value=1.0)
J(numbers, offsets).values().data_ptr() == J(numbers, offsets).values().data_ptr()
(lambda x: J(x, offsets).values().data_ptr() == x.data_ptr())(numbers)
(lambda x: (J(x, offsets).mul_(0), x)[1])(numbers.clone())
(lambda n: (n.values().fill_(1), n)[1])(a)
(lambda n: (n[0].fill_(9), n)[1])(a)
(lambda n: (n.unbind()[1].zero_(), n)[1])(a)
(lambda n: (n.transpose(1, 2).mul_(2), n)[1])(a)
(lambda n: (n[..., 0].fill_(0), n)[1])(a)
a.is_pinned()
a.share_memory_()
(lambda: (torch.inference_mode()(lambda: (a * 2).sum(1))()))()
torch.no_grad()(lambda: (a.detach().requires_grad_() * 2).requires_grad)()
torch.inference_mode()(lambda: F.linear(a, torch.ones(2, 3)))()
torch.inference_mode()(lambda: F.layer_norm(a, (3,)))()
torch.inference_mode()(lambda: F.softmax(a, -1))()
torch.inference_mode()(lambda: N([torch.ones(2), torch.ones(3)]) * 2)()
torch.inference_mode()(lambda: q.transpose(1, 2).flatten(-2) if False else q.flatten(-2))()
torch.inference_mode()(lambda: a.unbind())()
torch.inference_mode()(lambda: a.values())()
torch.inference_mode()(lambda: torch.cat([a, a2], -1))()
torch.inference_mode()(lambda: a.to_padded_tensor(0.0))()
(lambda m: m(a).shape[2])(torch.nn.Linear(3, 4))
(lambda m: m(a.double()).dtype)(torch.nn.Linear(3, 4).double())
(lambda m: m(q).shape[-1])(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(inplace=True)))
(lambda m: m(i).shape[-1])(torch.nn.Embedding(5, 6))
torch.nn.MultiheadAttention(4, 2, batch_first=True)(q.flatten(-2), q.flatten(-2), q.flatten(-2))
torch.nn.TransformerEncoderLayer(8, 2, batch_first=True)(q.flatten(-2))
torch.nn.GELU()(h)
torch.nn.Softmax(dim=-1)(a)
torch.nn.Flatten(2)(q)
torch.nn.Unflatten(2, (3, 1))(a)
torch.nn.Identity()(a) is a
torch.nn.RMSNorm(3)(a)
torch.nn.BatchNorm1d(3)(a)
torch.nn.MSELoss()(a, a2)
torch.nn.L1Loss(reduction='none')(a, a2)
torch.nn.BCEWithLogitsLoss()(a, torch.sigmoid(a2))
torch.nn.CosineSimilarity(-1)(a, a2)
(lambda x: torch.autocast('cpu', dtype=torch.bfloat16)(lambda: F.linear(x, torch.ones(2, 3)))().dtype)(a)
(lambda x: torch.autocast('cpu', dtype=torch.bfloat16)(lambda: x @ torch.ones(3, 2))().dtype)(a)
torch.utils.checkpoint.checkpoint(lambda x: x.sin(), a.detach().requires_grad_(), use_reentrant=False).requires_grad
torch.func.functional_call(torch.nn.Linear(3, 2), {'weight': torch.ones(2, 3), 'bias': torch.zeros(2)}, (a,))
a.__deepcopy__({})
copy.deepcopy(a.detach().requires_grad_()).requires_grad
again(a.detach().requires_grad_()).requires_grad
saved({'x': a, 'y': offsets})['x']
saved(h).lengths()
J(numbers.to(torch.int8), offsets).sum(1)
J(torch.ones(7, 2, dtype=torch.complex64), offsets) * 2
J(torch.ones(0, 2), T([0, 0, 0])).sum(1)
J(torch.ones(0, 2), T([0, 0, 0])).unbind()
J(numbers, T([0, 2, 2, 7])).sum(1)
J(numbers, T([0, 2, 2, 7])).mean(1)
J(numbers, T([0, 2, 2, 7])).amax(1)
F.softmax(J(numbers, T([0, 2, 2, 7])), 1)
F.scaled_dot_product_attention(*[J(torch.arange(56.).view(7, 2, 4) / 9, T([0, 2, 2, 7])).transpose(1, 2)] * 3)
J(numbers, offsets.int()).sum(1)
J(numbers, offsets.int()).unbind()
J(numbers, [0, 7])
J(3, offsets)
N(torch.ones(2, 3))
N(3)
nested.nested_tensor_from_jagged(values=numbers, lengths=T([7]))
nested.nested_tensor_from_jagged(numbers, offsets, jagged_dim=3)
nested.nested_tensor([torch.ones(2)], torch.float64)
nested.as_nested_tensor([torch.ones(2), torch.ones(2, 2)], layout=jagged)
nested.to_padded_tensor(a, 0)
nested.to_padded_tensor(a, padding=0.5)
a.to_padded_tensor(0.0, (3, 9, 3))
a.to_padded_tensor(0.0, output_size=(3, 9, 3))
""".strip().splitlines()


@pytest.mark.parametrize("expression", SEVERAL)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_gradients_of_a_leaf_add_up() -> None:
    leaf = glasstorch.nested.nested_tensor([glasstorch.ones(2), glasstorch.ones(3)], layout=glasstorch.jagged)
    leaf.requires_grad_()
    leaf.sum().backward()
    leaf.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.values().tolist() == [2.0] * 5

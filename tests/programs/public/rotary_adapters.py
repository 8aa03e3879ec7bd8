"""A language model of the llama kind: rotary positions, a cache of keys, sampling, then adapters of low rank and experts."""

import math
from dataclasses import dataclass
from typing import List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    dim: int = 32
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: int = 2
    vocab_size: int = 12
    max_seq_len: int = 24
    norm_eps: float = 1e-5


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return (x.float() * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)).type_as(x) * self.weight


def precompute_freqs_cis(dim: int, end: int, theta: float = 10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    freqs = torch.outer(torch.arange(end, dtype=torch.float32), freqs)
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary_emb(xq, xk, freqs_cis: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    pairs = [torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) for x in (xq, xk)]
    freqs_cis = freqs_cis.view(1, pairs[0].shape[1], 1, pairs[0].shape[-1])
    return tuple(torch.view_as_real(x * freqs_cis).flatten(3).type_as(xq) for x in pairs)


class Attention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = args.n_heads, args.n_kv_heads, args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, self.heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, self.kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, self.kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(self.heads * self.head_dim, args.dim, bias=False)
        size = (4, args.max_seq_len, self.kv_heads, self.head_dim)
        self.register_buffer("cache_k", torch.zeros(size), persistent=False)
        self.register_buffer("cache_v", torch.zeros(size), persistent=False)

    def forward(self, x, start: int, freqs_cis, mask: Optional[torch.Tensor]):
        batch, length, _ = x.shape
        xq, xk, xv = (w(x).view(batch, length, -1, self.head_dim) for w in (self.wq, self.wk, self.wv))
        xq, xk = apply_rotary_emb(xq, xk, freqs_cis)
        if not self.training:
            self.cache_k[:batch, start : start + length] = xk
            self.cache_v[:batch, start : start + length] = xv
            xk, xv = self.cache_k[:batch, : start + length], self.cache_v[:batch, : start + length]
        groups = self.heads // self.kv_heads
        xk, xv = (t[:, :, :, None, :].expand(*t.shape[:3], groups, -1).flatten(2, 3).transpose(1, 2) for t in (xk, xv))
        scores = torch.matmul(xq.transpose(1, 2), xk.transpose(2, 3)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask
        out = F.softmax(scores.float(), dim=-1).type_as(xq) @ xv
        return self.wo(out.transpose(1, 2).contiguous().view(batch, length, -1))


class Block(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        hidden = 16 * ((int(8 * args.dim / 3) + 15) // 16)
        self.attention = Attention(args)
        self.w1, self.w3 = (nn.Linear(args.dim, hidden, bias=False) for _ in range(2))
        self.w2 = nn.Linear(hidden, args.dim, bias=False)
        self.attention_norm, self.ffn_norm = RMSNorm(args.dim, args.norm_eps), nn.RMSNorm(args.dim, args.norm_eps)

    def forward(self, x, *where):
        h = x + self.attention(self.attention_norm(x), *where)
        y = self.ffn_norm(h)
        return h + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.tok_embeddings = nn.Embedding(args.vocab_size, args.dim)
        self.layers = nn.ModuleList(Block(args) for _ in range(args.n_layers))
        self.norm = RMSNorm(args.dim, args.norm_eps)
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)
        self.freqs_cis = precompute_freqs_cis(args.dim // args.n_heads, args.max_seq_len * 2)

    def forward(self, tokens, start: int = 0):
        length = tokens.shape[1]
        h, mask = self.tok_embeddings(tokens), None
        if length > 1:
            mask = torch.triu(torch.full((length, length), float("-inf"), device=tokens.device), diagonal=1)
            mask = torch.hstack([torch.zeros((length, start)), mask]).type_as(h)
        for layer in self.layers:
            h = layer(h, start, self.freqs_cis[start : start + length], mask)
        return self.output(self.norm(h)).float()


def sample_top_p(probs, p):
    sorted_probs, order = torch.sort(probs, dim=-1, descending=True)
    sorted_probs[torch.cumsum(sorted_probs, dim=-1) - sorted_probs > p] = 0.0
    sorted_probs.div_(sorted_probs.sum(dim=-1, keepdim=True))
    return torch.gather(order, -1, torch.multinomial(sorted_probs, num_samples=1))


@torch.inference_mode()
def generate(model, prompts: List[List[int]], length: int, temperature: float):
    tokens = torch.zeros((len(prompts), length), dtype=torch.long)
    given = torch.zeros_like(tokens, dtype=torch.bool)
    for row, prompt in enumerate(prompts):
        tokens[row, : len(prompt)] = torch.tensor(prompt)
        given[row, : len(prompt)] = True
    previous = 0
    for current in range(min(map(len, prompts)), length):
        logits = model(tokens[:, previous:current], previous)[:, -1]
        if temperature > 0:
            chosen = sample_top_p(torch.softmax(logits / temperature, dim=-1), 0.9).reshape(-1)
        else:
            chosen = logits.argmax(dim=-1)
        tokens[:, current] = torch.where(given[:, current], tokens[:, current], chosen)
        previous = current
    return tokens


torch.manual_seed(1)
model = Llama(ModelArgs())
print(model)
print(f"{sum(p.numel() for p in model.parameters()):,} parameters", model.freqs_cis[1], list(model.state_dict())[:3])
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), fused=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=25, pct_start=0.2)
stairs = (torch.arange(21)[None] + torch.arange(4)[:, None] * 3) % 11
for step in range(25):
    loss = F.cross_entropy(model(stairs[:, :-1]).flatten(0, 1), stairs[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if step % 6 == 0:
        print(f"{step} loss {loss.item():.4f} norm {norm:.4f} lr {schedule.get_last_lr()[0]:.6f}")
model.eval()
print(generate(model, [[1, 2, 3], [4, 5, 6, 7]], 14, temperature=0.0))
print(generate(model, [[1, 2, 3], [4, 5, 6, 7]], 14, temperature=0.6))
whole, cached = model(stairs[:, :8]), [model(stairs[:, i : i + 1], i) for i in range(8)]
print(torch.allclose(whole, torch.cat(cached, dim=1), atol=1e-4))


class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base, self.scaling = base.requires_grad_(False), alpha / rank
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + (x @ self.A.t() @ self.B.transpose(0, 1)) * self.scaling

    @torch.no_grad()
    def merged(self):
        self.base.weight += self.scaling * (self.B @ self.A)
        return self.base


def replace(module, kind, change):
    for name, child in list(module.named_children()):
        if isinstance(child, kind) and name in ("wq", "wv"):
            setattr(module, name, change(child))
        else:
            replace(child, kind, change)


model.train().requires_grad_(False)
replace(model, nn.Linear, LoRA)
trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
print(len(trained), trained[0][0], sum(p.numel() for _, p in trained))
tune = torch.optim.AdamW([p for _, p in trained], lr=2e-2)
backwards = stairs.flip(1)
for step in range(6):
    loss = F.cross_entropy(model(backwards[:, :-1]).flatten(0, 1), backwards[:, 1:].flatten())
    tune.zero_grad()
    loss.backward()
    tune.step()
    print(f"adapter {step} {loss.item():.4f}")
before = model(stairs)
replace(model, LoRA, LoRA.merged)
print(torch.allclose(before, model(stairs), atol=1e-4), type(model.layers[0].attention.wq).__name__)


class MixtureOfExperts(nn.Module):
    def __init__(self, dim, experts=4, chosen=2):
        super().__init__()
        self.gate, self.chosen = nn.Linear(dim, experts, bias=False), chosen
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(approximate="tanh"), nn.Linear(2 * dim, dim))
            for _ in range(experts)
        )

    def forward(self, x):
        flat = x.view(-1, x.shape[-1])
        logits = self.gate(flat)
        weights, selected = torch.topk(logits.softmax(-1, dtype=torch.float), self.chosen, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        out, mask = torch.zeros_like(flat), F.one_hot(selected, len(self.experts)).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            place, rows = torch.where(mask[number])
            out.index_add_(0, rows, expert(flat[rows]) * weights[rows, place, None])
        load = F.one_hot(selected[:, 0], len(self.experts)).float().mean(0)
        return out.view_as(x), len(self.experts) * (logits.softmax(-1).mean(0) * load).sum(), load


moe, x = MixtureOfExperts(8), torch.randn(3, 5, 8)
sgd = torch.optim.SGD(moe.parameters(), lr=0.5, momentum=0.5)
for step in range(4):
    out, balance, load = moe(x)
    loss = F.mse_loss(out, x) + 0.01 * balance
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    print(f"experts {step} {loss.item():.5f} {balance.item():.4f}", load)

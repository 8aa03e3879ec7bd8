"""Modules of one's own: registration, traversal, hooks, state, casting, sharing, copying, lazy layers, vectors."""

import copy
import pickle

import torch
from torch import nn
from torch.nn.parameter import Parameter
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters


class Scale(nn.Module):
    __constants__ = ["init"]

    def __init__(self, init=1.0):
        super().__init__()
        self.init = init
        self.scale = Parameter(torch.tensor(init))
        self.register_buffer("calls", torch.tensor(0))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)
        self.register_parameter("bias", None)

    def forward(self, x):
        self.calls += 1
        return x * self.scale

    def extra_repr(self):
        return f"init={self.init}"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4), Scale(0.5), nn.Linear(4, 4, bias=False)])
        self.table = nn.ParameterDict({"left": nn.Parameter(torch.ones(2)), "right": nn.Parameter(torch.zeros(3))})
        self.extra = nn.ParameterList([nn.Parameter(torch.full((i + 1,), float(i))) for i in range(2)])
        self.head = nn.Linear(4, 11, bias=False)
        self.head.weight = self.embed.weight
        self.blocks = nn.ModuleDict({"norm": nn.LayerNorm(4), "act": nn.PReLU()})

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(self.blocks["act"](self.blocks["norm"](x)))


torch.manual_seed(0)
net = Net()
print(net)
for name, p in net.named_parameters():
    print(name, tuple(p.shape), p.requires_grad)
print([name for name, _ in net.named_buffers()], list(net.state_dict()))
print(sum(p.numel() for p in net.parameters()), len(list(net.modules())), [n for n, _ in net.named_children()])
out = net(torch.tensor([[1, 2, 3]]))
print(out.shape, out[0, 0, :4])

seen = []
handles = [
    net.layers[0].register_forward_pre_hook(lambda m, args: seen.append(("pre", tuple(args[0].shape)))),
    net.layers[0].register_forward_hook(lambda m, args, output: output * 2),
    net.layers[0].register_full_backward_hook(lambda m, gi, go: seen.append(("back", tuple(go[0].shape)))),
    net.head.weight.register_hook(lambda g: g.clamp(-0.1, 0.1)),
]
net(torch.tensor([[4, 5]])).sum().backward()
print(seen, f"{net.embed.weight.grad.abs().max().item():.4f}")
for handle in handles:
    handle.remove()
print(f"{clip_grad_norm_(net.parameters(), 0.1).item():.4f}", net.layers[1].calls, net.layers[1].scale.grad.shape)

net.eval()
print(net.training, net.blocks["act"].training, net.requires_grad_(False).head.weight.requires_grad)
net.requires_grad_(True)
half = copy.deepcopy(net).to(torch.float64)
print(half.layers[0].weight.dtype, half.layers[1].calls.dtype, net.layers[0].weight.dtype)
print(half.head.weight is half.embed.weight, half.embed.weight is net.embed.weight)
vector = parameters_to_vector(net.parameters())
vector_to_parameters(vector * 0 + 1, net.parameters())
print(vector.shape, net.table["right"], net.extra[1])

again = Net()
print(again.load_state_dict(half.state_dict()), again.layers[0].weight.dtype)
thawed = pickle.loads(pickle.dumps(net))
print(torch.equal(thawed.layers[2].weight, net.layers[2].weight), type(thawed).__name__)
try:
    again.load_state_dict({"layers.0.weight": torch.zeros(4, 4), "nothing": torch.zeros(1)})
except RuntimeError as error:
    print(error)
for bad in (lambda: net.missing, lambda: net.register_buffer("layers", torch.zeros(1)), lambda: net(torch.zeros(2))):
    try:
        bad()
    except (AttributeError, KeyError, RuntimeError) as error:
        print(type(error).__name__, str(error).split("\n")[0])


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_normal_(m.weight, gain=nn.init.calculate_gain("relu"))
        if m.bias is not None:
            nn.init.constant_(m.bias, 0.1)


print(net.apply(init).layers[0].bias)
lazy = nn.Sequential(nn.LazyConv1d(4, 3), nn.LazyBatchNorm1d(), nn.Flatten(), nn.LazyLinear(2))
print(lazy[0])
print(lazy(torch.randn(2, 3, 8)).shape, lazy[0], lazy[3].in_features)
seq = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Identity())
seq.append(nn.Softmax(dim=-1)).insert(1, nn.Hardtanh(-2, 2))
del seq[2]
print(seq, len(seq), seq[1:3])
rnn = nn.LSTM(3, 4, num_layers=2, proj_size=2)
print(rnn, [name for name, _ in rnn.named_parameters()][:5], rnn(torch.randn(5, 1, 3))[0].shape)
mha = nn.MultiheadAttention(8, 2, batch_first=True)
y, w = mha(torch.ones(1, 3, 8), torch.ones(1, 3, 8), torch.ones(1, 3, 8), average_attn_weights=False)
print(y.shape, w.shape, w[0, 0, 0])
print(nn.CrossEntropyLoss(reduction="none")(torch.tensor([[2.0, 1.0]]), torch.tensor([1])))

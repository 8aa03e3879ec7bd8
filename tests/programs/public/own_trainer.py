"""A small training library of one's own: a registry, callbacks, optimizers and schedules as subclasses, annotations."""

import abc
import collections
import copy
import dataclasses
import functools
import gc
import inspect
import pickle
import weakref
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Type, Union, get_type_hints

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn.modules.loss import _WeightedLoss
from torch.nn.modules.utils import _pair
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.optimizer import Optimizer
from torch.types import Number
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader, Dataset, Sampler

REGISTRY: Dict[str, Type[nn.Module]] = {}


def register(name: str):
    return lambda kind: REGISTRY.setdefault(name, kind)


@dataclasses.dataclass
class Config:
    width: int = 4
    act: str = "relu"
    dtype: torch.dtype = torch.float32
    device: Union[str, torch.device] = "cpu"
    shape: Optional[torch.Size] = None


@register("mlp")
class MLP(nn.Module):
    scale: nn.Parameter
    seen: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        make = functools.partial(nn.Linear, config.width, config.width, dtype=config.dtype, device=config.device)
        self.layers = nn.ModuleList(make() for _ in range(2))
        self.act: Callable[[Tensor], Tensor] = getattr(nn.functional, config.act)
        self.scale = nn.Parameter(torch.ones(config.width))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x: Tensor, *, times: Number = 1) -> Tensor:
        self.seen += len(x)
        return functools.reduce(lambda h, layer: self.act(layer(h)), self.layers, x) * self.scale * times

    def extra_repr(self) -> str:
        return f"{len(self.layers)} layers"


class FocalLoss(_WeightedLoss):
    def __init__(self, gamma: float = 2.0, weight: Optional[Tensor] = None, reduction: str = "mean"):
        super().__init__(weight, reduction=reduction)
        self.gamma = gamma

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        logp = nn.functional.log_softmax(scores, 1)
        return nn.functional.nll_loss(
            (1 - logp.exp()) ** self.gamma * logp, target, self.weight, reduction=self.reduction
        )


class Lion(Optimizer):
    def __init__(self, params, lr: float = 1e-4, betas: Tuple[float, float] = (0.9, 0.99), weight_decay: float = 0.0):
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure: Optional[Callable[[], float]] = None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            first, second = group["betas"]
            for p in filter(lambda p: p.grad is not None, group["params"]):
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                update = state["exp_avg"].clone().mul_(first).add(p.grad, alpha=1 - first).sign_()
                p.add_(update, alpha=-group["lr"])
                state["exp_avg"].mul_(second).add_(p.grad, alpha=1 - second)
        return loss


class OldSGD(Optimizer):
    def __init__(self, params, lr=0.1, momentum=0.0):
        defaults = dict(lr=lr, momentum=momentum)
        super(OldSGD, self).__init__(params, defaults)

    def __setstate__(self, state):
        super(OldSGD, self).__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            for p in group["params"]:
                buf = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p.data))
                buf.mul_(group["momentum"]).add_(p.grad.data)
                p.data.add_(buf, alpha=-group["lr"])
        return loss


class Lookahead(Optimizer):
    def __init__(self, base: Optimizer, k: int = 2, alpha: float = 0.5):
        self.base, self.k, self.alpha, self.count = base, k, alpha, 0
        super().__init__(base.param_groups, base.defaults)
        self.param_groups = base.param_groups

    @torch.no_grad()
    def step(self, closure=None):
        self.base.step()
        self.count += 1
        for p in (p for group in self.param_groups for p in group["params"]):
            slow = self.state[p].setdefault("slow", p.detach().clone())
            if self.count % self.k == 0:
                slow.lerp_(p, self.alpha)
                p.copy_(slow)


class Warm(LRScheduler):
    def __init__(self, optimizer: Optimizer, steps: int, last_epoch: int = -1):
        self.steps = steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[float]:
        return [base * min(1.0, (self.last_epoch + 1) / self.steps) for base in self.base_lrs]


class Callback(abc.ABC):
    def on_step(self, trainer: "Trainer", loss: float) -> None: ...


class History(Callback, collections.UserList):
    def on_step(self, trainer, loss):
        self.append(round(loss, 4))


class EMA(Callback):
    def __init__(self, model: nn.Module, decay: float = 0.9):
        self.decay, self.shadow = decay, {k: v.detach().clone() for k, v in model.state_dict().items()}

    def on_step(self, trainer, loss):
        for name, value in trainer.model.state_dict().items():
            if value.dtype.is_floating_point:
                self.shadow[name].mul_(self.decay).add_(value, alpha=1 - self.decay)
            else:
                self.shadow[name].copy_(value)


class Steps(Dataset[Tuple[Tensor, int]]):
    def __getitem__(self, index):
        return torch.full((4,), float(index)), index % 4

    def __len__(self):
        return 12


class ByLength(Sampler[int]):
    def __init__(self, lengths: Sequence[int]):
        self.lengths = lengths

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(range(len(self.lengths)), key=self.lengths.__getitem__))

    def __len__(self) -> int:
        return len(self.lengths)


class Trainer:
    def __init__(self, model: nn.Module, optimizer: Optimizer, callbacks: Sequence[Callback] = ()):
        self.model, self.optimizer, self.callbacks = model, optimizer, list(callbacks)

    def fit(self, loader: DataLoader, epochs: int):
        for x, y in (batch for _ in range(epochs) for batch in loader):
            loss = FocalLoss()(self.model(x, times=0.1), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for callback in self.callbacks:
                callback.on_step(self, loss.item())
        return self


print(Config(), inspect.signature(MLP.forward), get_type_hints(MLP.forward), MLP.__annotations__)
print(Optional[Tensor], Tuple[torch.Size, torch.dtype], Union[Tensor, nn.Parameter], List[torch.device])
print(FocalLoss(weight=torch.ones(4)), FocalLoss(weight=torch.ones(4))(torch.eye(4), torch.arange(4)), _pair(3))
for make in (lambda p: Lion(p, 1e-2, weight_decay=0.1), lambda p: Lookahead(OldSGD(p, 0.1, momentum=0.5))):
    torch.manual_seed(1)
    model = REGISTRY["mlp"](Config())
    history, ema = History(), EMA(model)
    loader = DataLoader(Steps(), 4, sampler=ByLength([i % 5 for i in range(12)]))
    trainer = Trainer(model, make(model.parameters()), [history, ema]).fit(loader, 3)
    print(list(history), ema.shadow["layers.0.bias"], ema.shadow["seen"], trainer.optimizer, sep="\n")

torch.manual_seed(2)
weight = nn.Parameter(torch.randn(3))
lion = Lion([{"params": [weight], "name": "all"}], lr=0.1)
warm = Warm(lion, 4)
for step in range(4):
    weight.grad = torch.tensor([1.0, -2.0, 0.0])
    lion.step()
    warm.step()
    print(step, warm.get_last_lr(), weight.data)
saved = pickle.loads(pickle.dumps((lion.state_dict(), warm.state_dict())))
other = Lion([{"params": [nn.Parameter(torch.zeros(3))], "name": "all"}], lr=0.5)
other.load_state_dict(saved[0])
print(other, list(other.state.values())[0]["exp_avg"], saved[1])
twin = copy.deepcopy(lion)
print(twin.param_groups[0]["params"][0] is weight, pickle.loads(pickle.dumps(OldSGD([weight]))))
for refused in (
    lambda: Lion([weight], lr=-1),
    lambda: Lion([]),
    lambda: Lion(weight),
    lambda: other.load_state_dict(OldSGD([{"params": [weight]}, {"params": [nn.Parameter(weight)]}]).state_dict()),
):
    try:
        refused()
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, by: float = 2.0) -> Tensor:
        ctx.by = by
        return x * by

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> Tuple[Optional[Tensor], None]:
        return grad * ctx.by, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
(first,) = torch.autograd.grad(Scaled.apply(x, by=3.0).pow(2).sum(), x, create_graph=True)
print(first.tolist(), first.requires_grad)
try:
    first.sum().backward()
except RuntimeError as error:
    print(error)
kept = weakref.ref(model)
model.itself = [model]
del model, trainer, history, ema
gc.collect()
print(kept() is None, dist.is_available() and dist.is_initialized(), x.shape + (1,), (1,) + x.shape, x.shape * 2)
print(isinstance(x, torch.FloatTensor), isinstance(x, (torch.cuda.FloatTensor, torch.LongTensor)), torch.is_tensor([1]))
print(tree_map(lambda t: t * 2, {"a": [torch.ones(1), (2,)], "b": torch.Size([3])}), torch.cuda.HalfTensor, type(lion))

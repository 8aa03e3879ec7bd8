"""Irregular data: graph networks by scatter and attention, boxes with anchors and suppression, losses of segmentation."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter

np.random.seed(42)
torch.manual_seed(42)


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super(GraphConvolution, self).__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        for parameter in self.parameters():
            parameter.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        output = torch.mm(adj, torch.mm(input, self.weight))
        return output if self.bias is None else output + self.bias

    def __repr__(self):
        return self.__class__.__name__ + " (" + str(self.in_features) + " -> " + str(self.out_features) + ")"


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1, self.gc2 = GraphConvolution(nfeat, nhid), GraphConvolution(nhid, nclass, bias=False)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.dropout(F.relu(self.gc1(x, adj)), self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


class GraphAttention(nn.Module):
    def __init__(self, in_features, out_features, heads, concat=True):
        super().__init__()
        self.W = nn.Parameter(torch.empty(size=(in_features, heads * out_features)))
        self.a = nn.Parameter(torch.empty(size=(heads, 2 * out_features, 1)))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        nn.init.xavier_uniform_(self.a.data, gain=1.414)
        self.leakyrelu, self.heads, self.concat = nn.LeakyReLU(0.2), heads, concat

    def forward(self, h, adj):
        wh = torch.mm(h, self.W).view(len(h), self.heads, -1).permute(1, 0, 2)
        left, right = self.a.chunk(2, dim=1)
        e = self.leakyrelu(torch.matmul(wh, left) + torch.matmul(wh, right).mT)
        attention = F.softmax(torch.where(adj > 0, e, -9e15 * torch.ones_like(e)), dim=-1)
        h = torch.matmul(F.dropout(attention, 0.1, training=self.training), wh)
        return F.elu(h.permute(1, 0, 2).flatten(1)) if self.concat else h.mean(0)


def accuracy(output, labels):
    return output.max(1)[1].type_as(labels).eq(labels).double().sum() / len(labels)


nodes = 30
edges = torch.randint(0, nodes, (2, 80))
adj = torch.zeros(nodes, nodes)
adj[edges[0], edges[1]] = 1.0
adj = torch.maximum(adj, adj.T).fill_diagonal_(1.0)
degree = adj.sum(1).pow(-0.5)
normalized = torch.diag(degree) @ adj @ torch.diag(degree)
x = F.normalize(torch.randn(nodes, 6), dim=1)
labels = (x[:, 0] > x[:, 1]).long() + (x[:, 2] > 0.3).long()
train, valid = torch.randperm(nodes).split([20, 10])
model = GCN(6, 8, 3, dropout=0.5)
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for epoch in range(20):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(model(x, normalized)[train], labels[train])
    loss.backward()
    optimizer.step()
    if epoch % 5 == 0:
        model.eval()
        found = accuracy(model(x, normalized)[valid], labels[valid])
        print("Epoch: {:04d} loss_train: {:.4f} acc_val: {:.4f}".format(epoch + 1, loss.item(), found), found.dtype)
layers = nn.ModuleList([GraphAttention(6, 4, heads=2), GraphAttention(8, 3, heads=2, concat=False)])
optimizer = torch.optim.Adam(layers.parameters(), lr=0.02)
for epoch in range(5):
    optimizer.zero_grad()
    loss = F.cross_entropy(layers[1](layers[0](x, adj), adj)[train], labels[train])
    loss.backward()
    optimizer.step()
    print(f"attention {epoch} {loss.item():.5f}")


def scatter(src, index, size, reduce="sum"):
    index = index.view(-1, *[1] * (src.dim() - 1)).expand_as(src)
    out = src.new_zeros(size, *src.shape[1:])
    if reduce == "sum":
        return out.scatter_add_(0, index, src)
    return out.scatter_reduce_(0, index, src, reduce=reduce, include_self=False)


for reduce in ("sum", "mean", "amax", "amin", "prod"):
    src = torch.randn(5, 2, requires_grad=True)
    out = scatter(src, torch.tensor([0, 0, 2, 2, 2]), 4, reduce)
    (out * torch.arange(8.0).view(4, 2)).sum().backward()
    print(reduce, out, src.grad)
count = torch.zeros(nodes).index_add_(0, edges[1], torch.ones(edges.size(1))).clamp_(min=1)
means = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]) / count.unsqueeze(-1)
print(
    means[:2], torch.bincount(edges[0], minlength=nodes)[:8], edges.unique(dim=1).shape, torch.isin(edges, train).sum()
)
spectrum = torch.linalg.eigvalsh(torch.diag(adj.sum(1)) - adj)
print(spectrum[1:4], adj.triu(1).nonzero()[:3], adj.nonzero(as_tuple=True)[0].shape)


def box_iou(a, b):
    lt, rb = torch.max(a[:, None, :2], b[:, :2]), torch.min(a[:, None, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(-1)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(-1) for boxes in (a, b)]
    return inter / (areas[0][:, None] + areas[1] - inter)


def nms(boxes, scores, threshold):
    keep, order = [], scores.sort(descending=True, stable=True)[1]
    while order.numel() > 0:
        keep.append(order[0].item())
        order = order[1:][box_iou(boxes[order[:1]], boxes[order[1:]])[0] <= threshold]
    return torch.as_tensor(keep, dtype=torch.int64)


def grid_anchors(size, stride, scales=(2, 4), ratios=(0.5, 1.0, 2.0)):
    r = torch.sqrt(torch.as_tensor(ratios))
    s = torch.as_tensor(scales, dtype=torch.float32)
    w, h = ((1 / r)[:, None] * s[None]).view(-1), (r[:, None] * s[None]).view(-1)
    base = torch.stack([-w, -h, w, h], dim=1).div(2).round()
    y, x = torch.meshgrid(*[torch.arange(0, size, dtype=torch.int32) * stride] * 2, indexing="ij")
    shifts = torch.stack([x.reshape(-1), y.reshape(-1)] * 2, dim=1)
    return (shifts.view(-1, 1, 4) + base.view(1, -1, 4)).reshape(-1, 4)


center, half = torch.rand(12, 2) * 10, torch.rand(12, 2) * 2 + 0.5
boxes = torch.cat([center - half, center + half], dim=-1)
print(nms(boxes, torch.rand(12), 0.1), box_iou(boxes[:3], boxes[3:6]))
anchors = grid_anchors(4, 4)
ious = box_iou(boxes[:4], anchors)
values, matches = ious.max(dim=0)
matches[values < 0.1] = -1
best = torch.where(ious == ious.max(dim=1, keepdim=True).values)
matches[best[1]] = best[0]
positive = matches >= 0
print(anchors.shape, anchors.dtype, anchors[0], (matches + 1).bincount(), best)
wanted, prior = boxes[:4][matches[positive]], anchors[positive]
sizes = prior[:, 2:] - prior[:, :2]
offsets = torch.cat([(wanted[:, :2] - prior[:, :2]) / sizes, ((wanted[:, 2:] - wanted[:, :2]) / sizes).log()], dim=1)


class Head(nn.Module):
    def __init__(self, classes, per_cell=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1),
            nn.BatchNorm2d(8),
            nn.ReLU6(inplace=True),
            nn.Conv2d(8, 8, 3, 2, 1, groups=8),
            nn.Hardswish(),
        )
        self.classes, self.cls, self.reg = classes, nn.Conv2d(8, per_cell * classes, 1), nn.Conv2d(8, per_cell * 4, 1)
        nn.init.constant_(self.cls.bias, -math.log((1 - 0.01) / 0.01))

    def forward(self, image):
        maps = self.features(image)
        return [
            head(maps)
            .view(len(image), -1, width, *maps.shape[2:])
            .permute(0, 3, 4, 1, 2)
            .reshape(len(image), -1, width)
            for head, width in ((self.cls, self.classes), (self.reg, 4))
        ]


def focal(scores, targets, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(scores)
    ce = F.binary_cross_entropy_with_logits(scores, targets, reduction="none")
    right = p * targets + (1 - p) * (1 - targets)
    weight = alpha * targets + (1 - alpha) * (1 - targets)
    return (weight * ce * (1 - right) ** gamma).sum() / targets.sum().clamp(min=1)


head, image = Head(3), torch.rand(1, 3, 16, 16)
classes = torch.zeros(len(anchors), 3)
classes[positive, torch.tensor([0, 2, 1, 1])[matches[positive]]] = 1.0
optimizer = torch.optim.SGD(head.parameters(), lr=0.01, momentum=0.9)
for step in range(5):
    scores, moves = head(image)
    named = focal(scores[0], classes)
    placed = F.smooth_l1_loss(moves[0][positive], offsets, beta=1 / 9, reduction="sum") / positive.sum()
    optimizer.zero_grad()
    (named + placed).backward()
    optimizer.step()
    print(f"boxes {step} {named.item():.5f} {placed.item():.5f}")


def dice(p, t, eps=1e-6):
    p, t = p.flatten(1), t.flatten(1)
    return 1 - ((2 * (p * t).sum(1) + eps) / (p.sum(1) + t.sum(1) + eps)).mean()


def lovasz(logits, labels):
    errors, order = torch.sort(1.0 - logits * (2.0 * labels - 1.0), descending=True)
    sorted_labels = labels[order]
    total = sorted_labels.sum()
    jaccard = 1.0 - (total - sorted_labels.cumsum(0)) / (total + (1 - sorted_labels).cumsum(0))
    jaccard[1:] = jaccard[1:] - jaccard[:-1].clone()
    return torch.dot(F.relu(errors), jaccard)


logits = torch.randn(2, 1, 6, 6, requires_grad=True)
mask = (torch.rand(2, 1, 6, 6) > 0.6).float()
loss = dice(logits.sigmoid(), mask) + lovasz(logits.flatten(), mask.flatten())
loss.backward()
print(loss, logits.grad[0, 0, 0])
scores, target = torch.randn(2, 4, 5, 5, requires_grad=True), torch.randint(0, 4, (2, 5, 5))
target[0, 0, 0] = 255
loss = F.cross_entropy(scores, target, weight=torch.tensor([0.1, 1, 2, 1]), ignore_index=255, label_smoothing=0.05)
loss.backward()
known = target != 255
confusion = torch.bincount(4 * target[known] + scores.argmax(1)[known], minlength=16).reshape(4, 4)
print(loss, scores.grad[0, :, 0, :2], confusion)
print(confusion.diag() / (confusion.sum(1) + confusion.sum(0) - confusion.diag()), confusion.diag().sum() / known.sum())
heat = torch.exp(-((torch.arange(8.0)[:, None] - 5) ** 2 + (torch.arange(8.0)[None] - 3) ** 2) / 4)
peaks = (F.max_pool2d(heat[None, None], 3, 1, 1)[0, 0] == heat) & (heat > 0.5)
print(peaks.nonzero(), torch.unravel_index(heat.argmax(), heat.shape), divmod(heat.argmax().item(), 8))
pyramid = [torch.arange(s * s * 2.0).view(1, 2, s, s) for s in (8, 4, 2)]
top = pyramid[-1]
for lateral in pyramid[-2::-1]:
    top = F.interpolate(top, size=lateral.shape[-2:], mode="nearest") + lateral
print(
    top.mean(),
    F.interpolate(top, scale_factor=1.5, mode="bicubic")[0, 0, 0, :4],
    F.interpolate(top, (3, 3), mode="area"),
)

"""Factorising a table of ratings, bags of words, siamese triplets, and clicks with rare positives."""

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(4)
users, items, rank = 20, 15, 3
truth = torch.randn(users, rank) @ torch.randn(items, rank).T
i, j = torch.meshgrid(torch.arange(users), torch.arange(items), indexing="ij")
keep = torch.rand(users, items) < 0.5
triples = TensorDataset(i[keep], j[keep], truth[keep])
print(len(triples), triples[0])


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_items, n_factors):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, n_factors)
        self.item_factors = nn.Embedding(n_items, n_factors, max_norm=3.0)
        self.user_biases = nn.Embedding(n_users, 1)
        nn.init.zeros_(self.user_biases.weight)

    def forward(self, user, item):
        return (self.user_factors(user) * self.item_factors(item)).sum(1) + self.user_biases(user).squeeze(1)


model = MatrixFactorization(users, items, rank)
optimizers = {
    "adagrad": optim.Adagrad([model.user_factors.weight], lr=0.3),
    "adamax": optim.Adamax([model.item_factors.weight], lr=0.05),
    "rprop": optim.ASGD([model.user_biases.weight], lr=0.05),
}
for epoch in range(6):
    total = 0.0
    for user, item, rating in DataLoader(triples, batch_size=50, shuffle=True):
        loss = F.huber_loss(model(user, item), rating)
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers.values():
            optimizer.step()
        total += loss.item() * len(rating)
    if epoch % 2:
        print(f"epoch {epoch} {total / len(triples):.4f}")

texts = [[1, 2, 3], [4], [2, 2, 5, 6], [1, 6]]
offsets = torch.tensor([0] + [len(t) for t in texts[:-1]]).cumsum(dim=0)
flat = torch.tensor([w for t in texts for w in t])
for mode in ("mean", "sum", "max"):
    bag = nn.EmbeddingBag(8, 4, mode=mode)
    out = bag(flat, offsets)
    out.pow(2).sum().backward()
    print(mode, out.shape, f"{bag.weight.grad.norm():.4f}")

embed = nn.Sequential(nn.Linear(6, 12), nn.ELU(), nn.Linear(12, 2))
optimizer = optim.Adam(embed.parameters(), lr=0.01)
groups = torch.randn(3, 6) * 0.5
for step in range(30):
    anchor_class = torch.randint(0, 3, (16,))
    other = (anchor_class + torch.randint(1, 3, (16,))) % 3
    draw = lambda c: embed(groups[c] + torch.randn(16, 6))
    loss = F.triplet_margin_loss(draw(anchor_class), draw(anchor_class), draw(other), margin=1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"triplet {step} {loss.item():.4f}")

labels = (torch.arange(200) % 10 == 0).float()
features = torch.randn(200, 4) + labels[:, None]
weights = torch.where(labels > 0, 9.0, 1.0)
sampler = WeightedRandomSampler(weights, num_samples=100, replacement=True)
clf = nn.Linear(4, 1)
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
optimizer = optim.SGD(clf.parameters(), lr=0.3)
for epoch in range(3):
    seen = 0
    for x, y in DataLoader(TensorDataset(features, labels), batch_size=25, sampler=sampler):
        loss = criterion(clf(x).squeeze(-1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += int(y.sum())
    print(f"clicks {epoch} {loss.item():.4f} positives {seen}")
scores = torch.sigmoid(clf(features)).detach().squeeze()
order = scores.argsort(descending=True, stable=True)
precision = labels[order].cumsum(0) / torch.arange(1, 201)
print(f"{precision[9]:.3f} {(scores > 0.5).float().eq(labels).float().mean():.3f}")
print(
    F.cosine_embedding_loss(torch.ones(2, 3), -torch.ones(2, 3), torch.tensor([1, -1])),
    F.gaussian_nll_loss(torch.zeros(2), torch.ones(2), torch.full((2,), 0.5)),
    F.poisson_nll_loss(torch.zeros(2), torch.ones(2)),
    F.multilabel_soft_margin_loss(torch.zeros(2, 3), torch.ones(2, 3)),
)

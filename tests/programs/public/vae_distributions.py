"""A variational autoencoder written with torch.distributions, a mixture model, and a flow of transforms."""

import torch
import torch.distributions as D
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.distributions import constraints, kl_divergence
from torch.nn import functional as F
from torch.utils.data import DataLoader

torch.manual_seed(1)
digits = torch.from_numpy(load_digits().images).float().flatten(1)[:640] / 16


class VAE(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, 64))

    def posterior(self, x):
        mean, log_scale = self.encoder(x).chunk(2, dim=-1)
        return D.Independent(D.Normal(mean, F.softplus(log_scale) + 1e-3), 1)

    def prior(self, like):
        return D.Independent(D.Normal(torch.zeros_like(like.mean), torch.ones_like(like.mean)), 1)

    def likelihood(self, z):
        return D.Independent(D.ContinuousBernoulli(logits=self.decoder(z)), 1)

    def forward(self, x):
        q = self.posterior(x)
        z = q.rsample()
        return -self.likelihood(z).log_prob(x), kl_divergence(q, self.prior(q))


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(1, 4):
    model.train()
    train_loss = torch.zeros(2)
    for x in DataLoader(digits, batch_size=64, shuffle=True):
        reconstruction, kl = model(x)
        loss = (reconstruction + min(1.0, epoch / 3) * kl).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += torch.stack([reconstruction.mean(), kl.mean()]).detach()
    print("====> Epoch: {} Average loss: {:.3f} + {:.3f}".format(epoch, *(train_loss / 10).tolist()))
with torch.no_grad():
    sample = model.likelihood(torch.randn(4, 4)).mean.view(4, 8, 8)
    print(sample.shape, f"{sample.mean():.4f}")

mix = D.Categorical(torch.ones(3))
comp = D.Normal(torch.tensor([-4.0, 0.0, 4.0]), torch.tensor([1.0, 0.5, 2.0]))
gmm = D.MixtureSameFamily(mix, comp)
x = gmm.sample((5,))
print(gmm, x, gmm.log_prob(x), gmm.mean, gmm.variance, sep="\n")

base = D.Normal(torch.zeros(2), torch.ones(2))
flow = D.TransformedDistribution(
    base, [D.AffineTransform(loc=1.0, scale=torch.tensor([2.0, -0.5])), D.TanhTransform(cache_size=1)]
)
y = flow.rsample((3,))
print(y, flow.log_prob(y), flow.support, sep="\n")
logistic = D.TransformedDistribution(D.Uniform(0, 1), [D.SigmoidTransform().inv, D.AffineTransform(0.5, 2.0)])
print(logistic.log_prob(torch.tensor([0.1, 1.5])), logistic.cdf(torch.tensor(0.5)))

loc = torch.zeros(2, requires_grad=True)
scale_tril = torch.tensor([[1.0, 0.0], [0.5, 2.0]], requires_grad=True)
mvn = D.MultivariateNormal(loc, scale_tril=scale_tril)
s = mvn.rsample((4,))
(-mvn.log_prob(s.detach())).mean().backward()
print(mvn, loc.grad, scale_tril.grad, mvn.entropy(), sep="\n")
print(kl_divergence(D.Gamma(2.0, 3.0), D.Gamma(1.0, 1.0)), kl_divergence(D.Beta(2.0, 3.0), D.Beta(1.0, 1.0)))
print(D.Dirichlet(torch.tensor([0.5, 2.0, 3.0])).sample((2,)), D.Poisson(torch.tensor([3.0, 9.0])).sample(), sep="\n")
print(D.Bernoulli(probs=0.3), D.Bernoulli(logits=torch.tensor([0.1, -2.0])).entropy())
unconstrained = torch.tensor([0.3, -1.0])
for c in (constraints.positive, constraints.unit_interval, constraints.simplex, constraints.interval(-1, 3)):
    t = D.transform_to(c)
    print(c, t(unconstrained), t.inv(t(unconstrained)))
try:
    D.Normal(0.0, -1.0)
except ValueError as error:
    print("ValueError:", str(error).split("\n")[0])

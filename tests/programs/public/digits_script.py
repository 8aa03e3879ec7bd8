"""A script with options: two convolutions on handwritten digits, dropout, Adadelta, a step schedule, a saved model."""

import argparse
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import StepLR


class DigitNet(nn.Module):
    def __init__(self, width):
        super(DigitNet, self).__init__()
        self.first = nn.Conv2d(1, width, kernel_size=3)
        self.second = nn.Conv2d(width, 2 * width, kernel_size=3)
        self.drop_maps = nn.Dropout2d(p=0.25)
        self.hidden = nn.Linear(2 * width * 2 * 2, 32)
        self.drop = nn.Dropout(p=0.4)
        self.scores = nn.Linear(32, 10)

    def forward(self, images):
        maps = F.relu(self.second(F.relu(self.first(images))))
        maps = self.drop_maps(F.max_pool2d(maps, kernel_size=2))
        features = F.relu(self.hidden(torch.flatten(maps, start_dim=1)))
        return F.log_softmax(self.scores(self.drop(features)), dim=-1)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=2, help="passes over the training images")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--shrink", type=float, default=0.7, help="factor of the rate from one epoch to the next")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--cpu", action="store_true", help="do not use an accelerator")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("digit_net.pt"))
    return parser.parse_args()


def loaders(batch, **kwargs):
    raw = load_digits()
    images = torch.tensor(raw.images, dtype=torch.float32).unsqueeze(dim=1).sub_(4.9).div_(6.0)
    labels = torch.as_tensor(raw.target)
    train = torch.utils.data.TensorDataset(images[:1437], labels[:1437])
    held_out = torch.utils.data.TensorDataset(images[1437:], labels[1437:])
    return (
        torch.utils.data.DataLoader(train, batch_size=batch, shuffle=True, **kwargs),
        torch.utils.data.DataLoader(held_out, batch_size=500, **kwargs),
    )


@torch.no_grad()
def evaluate(net, loader, device):
    net.eval()
    total, hits = 0.0, 0
    for images, labels in loader:
        answer = net(images.to(device))
        total += F.nll_loss(answer, labels.to(device), reduction="sum").item()
        hits += (answer.argmax(dim=1, keepdim=True) == labels.to(device).view(-1, 1)).sum().item()
    count = len(loader.dataset)
    print(f"held out: loss {total / count:.4f}, {hits} of {count} ({100.0 * hits / count:.0f} %)")


def main():
    args = options()
    torch.manual_seed(args.seed)
    has_device = torch.accelerator.is_available() and not args.cpu
    device = torch.accelerator.current_accelerator() if has_device else torch.device("cpu")
    extra = {"num_workers": 1, "pin_memory": True, "persistent_workers": True} if has_device else {}
    train, held_out = loaders(args.batch, **extra)
    net = DigitNet(8).to(device)
    optimizer = optim.Adadelta(net.parameters(), lr=args.rate, rho=0.95)
    schedule = StepLR(optimizer, step_size=1, gamma=args.shrink)
    for epoch in range(1, 1 + args.epochs):
        net.train()
        for number, (images, labels) in enumerate(train):
            optimizer.zero_grad()
            loss = F.nll_loss(net(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            if number % 8 == 0:
                done = 100.0 * number / len(train)
                print("epoch {} at {:>2.0f} %: loss {:.3f}".format(epoch, done, loss.item()))
        evaluate(net, held_out, device)
        schedule.step()
        print("rate", [round(rate, 6) for rate in schedule.get_last_lr()])
    torch.save(net.state_dict(), args.out)
    fresh = DigitNet(8)
    print(fresh.load_state_dict(torch.load(args.out)))
    evaluate(fresh, held_out, "cpu")


if __name__ == "__main__":
    main()

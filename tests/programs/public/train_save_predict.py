"""The usual first project: a dataset class with transforms, a loader, a model, training, saving, loading, answers."""

import os

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

NAMES = "zero one two three four five six seven eight nine".split()


class DigitImages(Dataset):
    def __init__(self, part, transform=None, target_transform=None):
        everything = load_digits()
        chosen = slice(0, 1400) if part == "train" else slice(1400, None)
        self.pixels, self.labels = everything.images[chosen].astype("float32"), everything.target[chosen]
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image, label = self.pixels[index], int(self.labels[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, self.target_transform(label) if self.target_transform else label


def scaled(image):
    return torch.from_numpy(image)[None] / 16


class Perceptron(nn.Module):
    def __init__(self, *widths):
        super().__init__()
        self.flat = nn.Flatten()
        layers = []
        for before, after in zip(widths, widths[1:]):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.stack = nn.Sequential(*layers[:-1])

    def forward(self, images):
        return self.stack(self.flat(images))


torch.manual_seed(42)
device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
print("device:", device)
training, testing = (
    DigitImages("train", scaled),
    DigitImages("test", scaled, target_transform=lambda y: torch.tensor(y)),
)
loader, test_loader = DataLoader(training, batch_size=64, shuffle=True), DataLoader(testing, batch_size=64)
images, labels = next(iter(test_loader))
print(images.shape, labels.shape, labels.dtype, len(loader), len(test_loader))
model = Perceptron(64, 128, 64, 10).to(device)
print(model)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(3):
    model.train()
    for number, (images, labels) in enumerate(loader, start=1):
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if number % 11 == 0:
            print(f"  loss {loss.item():>6.3f} after {number * len(images):>5d} of {len(training):>5d}")
    model.eval()
    total, right = 0.0, 0.0
    with torch.no_grad():
        for images, labels in test_loader:
            scores = model(images.to(device))
            total += criterion(scores, labels.to(device)).item()
            right += (scores.argmax(1) == labels.to(device)).type(torch.float).sum().item()
    print(f"epoch {epoch}: accuracy {100 * right / len(testing):.1f} %, loss {total / len(test_loader):.4f}")

torch.save(model.state_dict(), "perceptron.pth")
restored = Perceptron(64, 128, 64, 10)
print(
    restored.load_state_dict(torch.load("perceptron.pth", weights_only=True)), os.path.getsize("perceptron.pth") > 70000
)
restored.eval()
for index in range(0, 50, 10):
    image, label = testing[index]
    with torch.no_grad():
        answer = restored(image[None]).softmax(dim=1)
    print(f"said {NAMES[answer[0].argmax(0)]!r}, is {NAMES[label]!r}")
torch.save(model, "whole.pth")
whole = torch.load("whole.pth", weights_only=False)
print(type(whole).__name__, torch.equal(whole(images), model(images)))

"""Does a perceptron of three layers learn digits?

Dropout; SGD with Nesterov's momentum and weight decay; a rate that falls along a cosine; smoothed labels.
"""

from __future__ import annotations

from typing import Any

from tests.programs.training import Training, digits, in_batches


def mlp(torch: Any) -> Training:
    nn = torch.nn
    torch.manual_seed(0)
    images, labels = digits(torch)
    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, 96),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(96, 48),
        nn.GELU(),
        nn.Dropout(0.1),
        nn.Linear(48, 10),
    )
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=150, eta_min=1e-4)
    batches = in_batches(torch, (images, labels), 64)

    def step() -> Any:
        model.train()
        x, y = next(batches)
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss

    def answer() -> Any:
        model.eval()
        with torch.no_grad():
            return model(images[:100]).log_softmax(dim=1)

    return Training(model, step, answer)

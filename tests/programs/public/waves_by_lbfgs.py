"""Going on with sine waves: two LSTM cells in float64, trained by L-BFGS on data that was saved as an array."""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

rng = np.random.default_rng(2)
phases = rng.integers(-80, 80, size=(12, 1))
waves = np.sin((np.arange(60) + phases) / 20)
with open("waves.pt", "wb") as file:
    torch.save(waves, file)
waves = torch.from_numpy(torch.load("waves.pt", weights_only=False))
print(waves.shape, waves.dtype)


class Waves(nn.Module):
    def __init__(self, width=11):
        super(Waves, self).__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(1, width), nn.LSTMCell(width, width)])
        self.read_off = nn.Linear(width, 1)

    def forward(self, known, ahead=0):
        memories = [tuple(known.new_zeros(len(known), cell.hidden_size) for _ in range(2)) for cell in self.cells]
        said = []
        for step in range(known.shape[1] + ahead):
            value = known[:, step, None] if step < known.shape[1] else said[-1]
            for number, cell in enumerate(self.cells):
                memories[number] = cell(value, memories[number])
                value = memories[number][0]
            said.append(self.read_off(value))
        return torch.cat(said, dim=1)


torch.manual_seed(0)
model = Waves().double()
criterion = nn.MSELoss()
optimizer = optim.LBFGS(model.parameters(), lr=0.8, max_iter=6, history_size=8)
known, following = waves[3:, :-1], waves[3:, 1:]


def closure():
    optimizer.zero_grad()
    loss = criterion(model(known), following)
    print("  %.7f" % loss.item())
    loss.backward()
    return loss


for round_ in range(2):
    print("round", round_)
    optimizer.step(closure)
    with torch.no_grad():
        said = model(waves[:3, :-1], ahead=10)
        print("held out: %.6f" % criterion(said[:, :-10], waves[:3, 1:]).item(), np.round(said[0, -3:].numpy(), 4))
print(sorted(optimizer.state_dict()["state"][0]), optimizer.state_dict()["state"][0]["func_evals"])

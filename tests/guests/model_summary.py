"""torchinfo: tables of a model's layers, with shapes, parameters and multiplications, found by hooks."""

import torch
from torch import nn
from torchinfo import summary


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.1)
        )
        self.head = nn.Linear(8 * 14 * 14, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.convolutions(x).flatten(1))


columns = ("input_size", "output_size", "num_params", "params_percent", "kernel_size", "mult_adds", "trainable")
net = Net()
summary(net, input_size=(2, 1, 28, 28))
net.convolutions[0].requires_grad_(False)
print(summary(net, input_size=(2, 1, 28, 28), col_names=columns, row_settings=("var_names", "depth"), verbose=0))
print(summary(net, verbose=0))
print(summary(nn.LSTM(10, 20, 2, bidirectional=True), input_data=torch.zeros(5, 3, 10), verbose=0))
print(summary(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), input_size=(2, 7, 16), depth=4, verbose=0))
tokens = torch.zeros(2, 7, dtype=torch.long)
print(summary(nn.Sequential(nn.Embedding(11, 8), nn.Linear(8, 11)), input_data=tokens, verbose=0))
counted = summary(net, input_size=(2, 1, 28, 28), verbose=0)
print(counted.total_params, counted.trainable_params, counted.total_mult_adds, net.training)

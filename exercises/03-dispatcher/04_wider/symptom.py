"""Does the second step of gradient descent in float32 succeed?"""

import glasstorch as torch

inputs = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
wanted = torch.tensor([[1.0], [2.0], [3.0]])
weights = torch.zeros(2, 1)
rate = torch.tensor(0.01, dtype=torch.float64)  # read from a file of settings

for step in range(2):
    print(f"step {step}: inputs {inputs.dtype}, weights {weights.dtype}")
    error = inputs @ weights - wanted
    gradient = inputs.t() @ error
    weights = weights - rate * gradient
print(weights.tolist())

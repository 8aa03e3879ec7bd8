"""safetensors: tensors saved and loaded, whole and in parts, and the state of a model."""

import tempfile
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model

torch.manual_seed(0)
tensors = {
    "integers": torch.arange(6).view(2, 3),
    "bfloat16": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
    "float16": torch.ones(2, dtype=torch.float16),
    "normal": torch.randn(3),
    "double": torch.randn(2, dtype=torch.float64),
    "empty": torch.zeros(0, 2),
    "flags": torch.tensor([True, False]),
    "bytes": torch.tensor([1, 255], dtype=torch.uint8),
    "number": torch.tensor(3.0),
}
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "tensors.safetensors")
    save_file(tensors, path, metadata={"made": "here"})
    for name, tensor in sorted(load_file(path).items()):
        print(name, tensor, tensor.dtype)
    with safe_open(path, framework="pt") as file:
        print(sorted(file.keys()), file.metadata())
        print(file.get_tensor("normal"), file.get_slice("integers")[:, 1:])
    print(sorted((name, tuple(tensor.shape)) for name, tensor in load(save(tensors)).items()))

    model, other = (torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)) for _ in range(2))
    save_model(model, str(path))
    print(load_model(other, path))
    print(all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True)))

    try:
        save_file({"a": tensors["normal"], "b": tensors["normal"]}, path)
    except RuntimeError as error:
        print(str(error).strip().splitlines()[0][:60])
    path.write_bytes(b"\x08" + b"\x00" * 7 + b"not json")
    try:
        load_file(path)
    except SafetensorError as error:
        print(type(error).__name__)

"""What the tests of checkpoints share with those of CUDA kernels."""

from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module

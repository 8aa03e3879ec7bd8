"""What do the tests of agreement share with those of CUDA?"""

from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module

"""What do the tests of devices share with those of the CUDA kernels?"""

from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module
from tests.kernels.cuda.launched import kernels_are_declared as kernels_are_declared
from tests.kernels.cuda.launched import kernels_are_noted as kernels_are_noted

"""What do the tests of agreement share with those of CUDA?"""

from tests.kernels.cuda.devices import cuda as cuda
from tests.kernels.cuda.devices import cuda_of_module as cuda_of_module

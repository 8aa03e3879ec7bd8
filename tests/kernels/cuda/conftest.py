"""What do the tests of CUDA share?"""

from tests.kernels.cuda.devices import cuda as cuda
from tests.kernels.cuda.devices import cuda_of_module as cuda_of_module

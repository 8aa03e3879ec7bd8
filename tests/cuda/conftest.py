"""What do these tests share with those of the CUDA kernels?"""

from tests.kernels.cuda.devices import cuda as cuda
from tests.kernels.cuda.devices import cuda_of_module as cuda_of_module

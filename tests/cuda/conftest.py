"""What do these tests share with those of the CUDA kernels?"""

from tests.jit.conftest import every_graph_comes_back_from_its_text as every_graph_comes_back_from_its_text
from tests.kernels.cuda.devices import cuda as cuda
from tests.kernels.cuda.devices import cuda_of_module as cuda_of_module

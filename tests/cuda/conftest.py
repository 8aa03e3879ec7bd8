"""What do these tests share with those of the CUDA kernels?"""

from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module
from tests.jit.conftest import every_graph_comes_back_from_its_text as every_graph_comes_back_from_its_text

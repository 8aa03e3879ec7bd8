"""How do the operators compute on a CUDA device?

Reading order: `driver`, `runtime`, `stream`, `allocator`, `modules`, `launch`; then the operators, in files named as
those of `kernels/cpu`. The CUDA C++ is in `.cu` files beside them. The package is imported when CUDA is
first asked for.

Mirrors: aten/src/ATen/native/cuda, c10/cuda
Differs: the driver is chosen at run time: a card (CuPy) or the simulator.
"""

"""What does a device do: memory, queues, launches?

Reading order: `driver` (what every driver does), `codes`, `runtime` (which driver is on), `stream`; then memory:
`blocks` (which one serves a request, and when it is split), `allocator` (the caching allocator), `statistics`,
`snapshot`, `pinned_memory`, `transfer`, `device_memory`; then code: `cpp_compiler`, `nvrtc`, `cubin`, `kernel_room`
(what the kernels hand over), `modules`, `arguments`, `kernel_params`, `launch`, `cublas`, `blas`. The two drivers are
`driver_cupy`, a card's, and `driver_sim`, whose parts are in `simulator/`.

Mirrors: c10/cuda, aten/src/ATen/cuda
Differs: the driver is chosen at run time: a card (CuPy) or the simulator. CUDA's parts are not kept separate, because
    there is no other kind of device yet.
"""

"""What does a device do: memory, queues, launches?

Reading order: `driver` (what every driver does), `codes`, `runtime` (which driver is active), `stream`; then memory:
`blocks` (which one serves a request, and when it is split), `allocator` (the caching allocator), `statistics`,
`snapshot`, `pinned_memory`, `transfer`, `device_memory`; then code: `cpp_compiler`, `nvrtc`, `cubin`, `kernel_room`
(what the kernels hand over), `modules`, `arguments`, `kernel_params`, `launch`, `cublas`, `blas`. The two drivers are
`driver_cupy` for a GPU and `driver_sim` for the simulator, whose parts are in `simulator/`.

Mirrors: c10/cuda, aten/src/ATen/cuda
Differs: the driver is chosen at run time: a GPU (through CuPy) or the simulator. What only CUDA needs is not kept
    apart, because there is no other kind of device yet.
"""

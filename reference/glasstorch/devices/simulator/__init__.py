"""How is CUDA C++ run on a CPU?

Reading order: `errors`, `source` (what is rewritten in the text), `compiler`, `module`; then the C++: `device.h` (what
a kernel sees), with `halves.h` and `include/` (CUDA's own headers), `launch.h` and `runtime.h` (the two interfaces),
`runtime.cpp` (threads as fibers), `checks.cpp` (which accesses are wrong), `counts.cpp`; then the device around the
kernels: `guarded_memory`, `memory`, `python_line`, `stream_queues` (the order in which queued work runs),
`stream_order` (whether accesses race), `launch_counts`.

Mirrors: what NVRTC, the CUDA driver and a GPU do together; compute-sanitizer in what it finds
Differs: blocks run one after another, and the threads of a block take turns; it says nothing about speed on a GPU. A
    block that waits for another one waits forever. There are no cooperative groups, tensor cores (wmma), asynchronous
    copies, textures, inline PTX, or symbols that the host writes. A shuffle from an absent lane returns NaN, and an
    integer division by 0 ends the kernel: on a GPU both return arbitrary values. `__expf` and the like are exact. An
    access beyond a buffer that lies in another buffer is not found: its address is valid.
    Stacks can be switched on x86-64 and aarch64 under Linux and macOS; only Linux on x86-64 has been tried.
"""

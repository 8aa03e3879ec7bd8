"""How is CUDA C++ run on a CPU?

Reading order: `source` (what is rewritten in the text), `compiler`, `module`; then the C++: `device.h` (what a kernel
sees), `runtime.cpp` (threads as fibers), `checks.cpp` (which accesses are wrong).

Mirrors: what NVRTC, the CUDA driver and a card do together
Differs: blocks run one after another, and the threads of a block take turns. It says nothing about speed on a card.
"""

"""How are convolutions made fast on the CPU?

Several ways lead to each product; which of them is taken is decided by what they would cost, and can be asked for
(`glasstorch.backends.cpu.convolution`).

Reading order: `blocks` (images side by side, and how many), `columns`, `shifted`, `rows` (the channels last),
`transform`, `costs`, `products` (the table of ways).

There is no way of its own for outputs that read one channel each: to multiply and add for one element of the kernel
after the other is two passes of NumPy over the result each time, and took longer than columns for every size tried.

Mirrors: the choice among the backends of aten/src/ATen/native/Convolution.cpp (_select_conv_backend), and cuDNN's
    heuristics
"""

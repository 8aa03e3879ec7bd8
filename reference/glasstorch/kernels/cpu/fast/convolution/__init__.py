"""How are convolutions made fast on the CPU?

Several ways lead to each product; which of them is taken is decided by what they would cost, and can be asked for
(`glasstorch.backends.cpu.convolution`).

Reading order: `blocks` (images side by side, and how many), `columns`, `shifted`, `depthwise`, `transform`, `costs`,
`products` (the table of ways).

Mirrors: the choice among the backends of aten/src/ATen/native/Convolution.cpp (_select_conv_backend), and cuDNN's
    heuristics
"""

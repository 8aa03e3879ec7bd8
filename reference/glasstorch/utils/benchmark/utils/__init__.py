"""Which files measure statements?

Reading order: `common` (the result of a measurement), `timer` (how it is made), `compare` (a table of many), `fuzzer`
(random inputs), `callgrind` (counts of instructions).

Mirrors: torch/utils/benchmark/utils
"""

"""How do samples become batches, in this process or in others?

Reading order: `dataset`, `sampler`, `distributed` (a sampler for one of several processes); `worker_info`,
`containers`, `collate`, `fetch`, `pin_memory`; `iterators` (one process), `dataloader`. Then what workers need:
`reductions` (how a tensor is pickled for another process), `channel`, `worker` (what runs there), `workers` (what the
loader knows of them). For older programs: `datapipes`, `datapipe_checks`.

Mirrors: torch/utils/data
Differs: torch's public paths are in `utils/data/`.
"""

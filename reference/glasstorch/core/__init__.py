"""What is a tensor before any operation?

Reading order: `errors`, `user_line`, `warn_once`, `device`, `dtype`, `type_info`, `layout`, `keys`, `inference`,
`hooks` (protocols that higher layers fill in), `removable_handle`, `exception_wrapper`, `forks`, `allocator`,
`private_use` (a device that a program brings), `shared_memory`, `storage`, `typed_storage`, `geometry`, `symbols`,
`sparse_invariants`, `sparse_parts`, `tensor_impl`, `plain_types`, `return_types`; nested containers: `tuple_kinds`,
`pytree_keys`, `pytree_nodes`, `pytree_spec`, `pytree`, `pytree_json`; then `parallel`, `left_out`, `unknown_names` and
the `torch_names.txt` that it reads, and `random/`, where random numbers come from.

Mirrors: c10/core
Differs: NumPy arrays hold the bytes.
"""

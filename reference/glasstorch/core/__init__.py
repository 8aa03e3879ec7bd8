"""What is a tensor before any operation?

Reading order: `errors`, `device`, `dtype`, `layout`, `keys`, `allocator`, `shared_memory`, `storage`, `geometry`,
`generator`, `tensor_impl`, `return_types`, `hooks` (protocols that higher layers fill in).

Mirrors: c10/core
Differs: NumPy arrays hold the bytes.
"""

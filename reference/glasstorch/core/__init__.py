"""What is a tensor before any operation?

Reading order: `errors`, `device`, `dtype`, `layout`, `keys`, `allocator`, `shared_memory`, `storage`, `typed_storage`,
`geometry`, `tensor_impl`, `dlpack`, `return_types`, `user_line`, `warn_once`, `parallel`, `hooks` (protocols that
higher layers fill in); then random numbers: `random_engine`, `draws`, `distributions`, `generator`.

Mirrors: c10/core
Differs: NumPy arrays hold the bytes.
"""

"""The reader's side of Glass Torch: the `workbook` command, the notebook builder and the book's renderer."""

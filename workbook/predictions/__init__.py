"""What does a section ask before its output opens, and what did the reader answer?

Reading order: `literals`, `question`, `evaluation`, `questions`, `record`, `standing`, `importing`,
`context`, `terminal`, `widget`, `pages`.
"""

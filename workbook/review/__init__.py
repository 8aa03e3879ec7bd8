"""How does what a reader has learnt come back before it is forgotten?

Reading order: `interview` (the questions that the book asks), `document_003` (those that a document asks), `deck`
(which of them are asked today), `schedule` (when one comes back), `sitting` (the conversation).
"""

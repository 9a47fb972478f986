"""How well documents were extracted, where the right answers are known."""

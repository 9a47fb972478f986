"""Generators of made-up documents with known answers: the open benchmark.

A kind of document is one file; `kinds.py` lists them, `benchmark.py` writes a folder of them.
"""

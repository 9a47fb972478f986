"""Settings of every test."""

from __future__ import annotations

import os

# Recognising words takes seconds; tests/test_ocr.py does it, the others neither want it nor depend on the extra.
os.environ["FORKLIFT_OCR"] = "0"

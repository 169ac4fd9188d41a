"""timing.py - shared by peers_*.py: NumPy and PyTorch, if installed, and the best of several
rounds."""
import time

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch
except ImportError:
    torch = None


def best(run, seconds):
    run()
    least, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < seconds:
        at = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - at)
    return least

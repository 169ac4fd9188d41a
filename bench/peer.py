"""peer.py - what the comparisons share: which peers are there, and how long the best call takes."""
import time


def present(title, *makers):
    """What the makers give whose library can be imported; a heading says which those are."""
    peers, names = [], []
    for name, make in zip(("NumPy", "PyTorch"), makers):
        try:
            peers.append(make())
            names.append(peers[-1][0])
        except ImportError:
            names.append(name + " is absent")
    print(f"\n{title}, GB/s:", "; ".join(names))
    return [peer for _, peer in peers]


def best(run, times):
    """Seconds of the quickest of some calls, after one that warms up."""
    run()
    spent = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        spent.append(time.perf_counter() - begin)
    return min(spent)

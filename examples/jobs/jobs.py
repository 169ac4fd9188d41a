"""jobs.py - the three jobs of jobs.c in Python."""

import sys

import tenon as tn


def show(job, t):
    numbers = t.reshape(-1).tolist()
    total = sum(x * (i % 7) for i, x in enumerate(numbers))
    print(f"{job}: {t.shape} {total:.1f}")


path = sys.argv[1] if len(sys.argv) > 1 else "jobs.npy"
images = tn.arange(2 * 4 * 5 * 3, dtype=tn.float32).reshape(2, 4, 5, 3)

# 1. channels first
nchw = tn.rearrange(images, "b h w c -> b c h w")
show("rearrange", nchw)

# 2. two pixels around each image, mirrored
padded = tn.pad(nchw, [(0, 0), (0, 0), (2, 2), (2, 2)], mode="reflect")
show("pad", padded)

# 3. save, then read every second row of the second image
tn.save(path, padded)
with tn.open(path) as f:
    show("file", f["", 1, :, ::2])

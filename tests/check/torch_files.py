#!/usr/bin/env python3
"""torch_files.py TENON - what torch saves, tenon reads: dtypes, views, tied weights, parameters, every
protocol of pickles; the format from before 1.6 and whole models are refused."""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile

import torch

TENON = os.path.abspath(sys.argv[1])
DTYPES = "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
NEWER = "float8_e4m3fn float8_e5m2 uint16 uint32 uint64".split()


def state():
    out = collections.OrderedDict()
    for name in DTYPES:
        out[name] = (torch.arange(24) % 5).reshape(2, 3, 4).to(getattr(torch, name))
    for name in NEWER:  # made of bytes: some versions have no arithmetic for them
        if hasattr(torch, name):
            raw = torch.arange(24, dtype=torch.uint8) % 64
            width = torch.empty(0, dtype=getattr(torch, name)).element_size()
            out[name] = raw.repeat(width).view(getattr(torch, name)).reshape(2, 12)
    base = torch.arange(100, dtype=torch.float32)
    out["transposed"] = base[:20].reshape(4, 5).t()
    out["window"] = base[10:70:2].reshape(5, 6)[:, 1:]
    out["repeated"] = base[:3].reshape(3, 1).expand(3, 4)
    out["tied"] = out["float32"]
    out["scalar"] = torch.tensor(7.5)
    out["empty"] = torch.zeros(0, 3)
    out["layer.weight"] = torch.nn.Parameter(torch.ones(3, 2) * 2)
    return out


def raw_bytes(t):
    t = t.detach().contiguous().reshape(-1)
    return bytes(t.view(torch.uint8).tolist()) if t.numel() else b""


def load(path):
    with open(path, "rb") as f:
        n, = struct.unpack("<Q", f.read(8))
        header, data = json.loads(f.read(n)), f.read()
    header.pop("__metadata__", None)
    return {k: (t["shape"], data[slice(*t["data_offsets"])]) for k, t in header.items()}


def convert(path, fails=None):
    run = subprocess.run([TENON, "convert", path, "-f", "-o", "out.safetensors"],
                         capture_output=True, text=True)
    if fails:
        if run.returncode != 1 or fails not in run.stderr:
            sys.exit(f"{path}: {run.returncode}: {run.stderr}")
        return {}
    if run.returncode:
        sys.exit(f"{path}: {run.stderr}")
    return load("out.safetensors")


def check(path, want):
    got = convert(path)
    if set(got) != set(want):
        sys.exit(f"{path}: {sorted(set(got) ^ set(want))}")
    for name, t in want.items():
        if got[name] != (list(t.shape), raw_bytes(t)):
            sys.exit(f"{path}: {name} differs")


def main():
    os.chdir(tempfile.mkdtemp())
    tensors, files = state(), 0
    for protocol in range(2, 6):
        torch.save(tensors, "state.pt", pickle_protocol=protocol)
        check("state.pt", tensors)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        torch.save({"model": model.state_dict(), "step": 3}, "model.pt", pickle_protocol=protocol)
        check("model.pt", {f"model.{k}": t for k, t in model.state_dict().items()})
        torch.save({"opt": optimizer.state_dict()}, "opt.pt", pickle_protocol=protocol)
        got = convert("opt.pt")
        for i, s in optimizer.state_dict()["state"].items():
            if got[f"opt.state.{i}.exp_avg"][1] != raw_bytes(s["exp_avg"]):
                sys.exit(f"opt.pt: state {i} differs")
        files += 3
    torch.save(tensors["float32"], "old.pt", _use_new_zipfile_serialization=False)
    convert("old.pt", fails="before 1.6")
    torch.save(model, "whole.pt")
    convert("whole.pt", fails="which is not supported")
    torch.jit.save(torch.jit.script(model), "script.pt")
    convert("script.pt", fails="a TorchScript archive")
    print(f"torch {torch.__version__}: {files} files read, 3 refused")


main()

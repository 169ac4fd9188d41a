diff.t - how two files differ; the exit code is that of diff.

$ tenon diff data/set data/set/model.safetensors.index.json
> 5 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon merge data/set -o a.safetensors && tenon diff data/set a.safetensors
> 5 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon cast bf16 a.safetensors --tensors '*.weight' -o b.safetensors; tenon diff a.safetensors b.safetensors
> dtype      layers.0.weight  f32 (2, 3, 5) and bf16 (2, 3, 5): 0 of 30 differ, max |a-b| 0, max relative 0, mean 0, cosine 1
> dtype      layers.1.weight  f32 (2, 3, 5) and bf16 (2, 3, 5): 0 of 30 differ, max |a-b| 0, max relative 0, mean 0, cosine 1
> 3 equal, 2 different, 0 only in A, 0 only in B, 0 renamed
? 1
$ tenon op add a.safetensors 0.125 --tensors 'layers.0.*' -o c.safetensors; tenon diff a.safetensors c.safetensors
> differs    layers.0.weight  f32 (2, 3, 5): 30 of 30 differ, max |a-b| 0.125 at [0, 0, 0], max relative 1, mean 0.125, cosine 0.998124027
> differs    layers.0.bias  f32 (5,): 5 of 5 differ, max |a-b| 0.125 at [0], max relative 1, mean 0.125, cosine 0.998114984
> 3 equal, 2 different, 0 only in A, 0 only in B, 0 renamed
? 1
$ tenon diff --atol 0.2 a.safetensors c.safetensors
> 3 equal, 2 within tolerance, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon diff --rtol 0.05 a.safetensors c.safetensors
> differs    layers.0.weight  f32 (2, 3, 5): 30 of 30 differ, max |a-b| 0.125 at [0, 0, 0], max relative 1, mean 0.125, cosine 0.998124027, 21 beyond
> differs    layers.0.bias  f32 (5,): 5 of 5 differ, max |a-b| 0.125 at [0], max relative 1, mean 0.125, cosine 0.998114984, 4 beyond
> 3 equal, 0 within tolerance, 2 different, 0 only in A, 0 only in B, 0 renamed
? 1
$ tenon diff --structure a.safetensors c.safetensors
> 5 alike, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon diff --json a.safetensors c.safetensors
> {"equal": 3, "tensors": [
>   {"what": "differs", "a": "layers.0.weight", "b": "layers.0.weight", "elements": 30, "unequal": 30, "beyond": 30, "nan_a": 0, "nan_b": 0, "at": 0, "max_abs": 0.125, "max_rel": 1, "mean_abs": 0.125, "cosine": 0.99812402652528309},
>   {"what": "differs", "a": "layers.0.bias", "b": "layers.0.bias", "elements": 5, "unequal": 5, "beyond": 5, "nan_a": 0, "nan_b": 0, "at": 0, "max_abs": 0.125, "max_rel": 1, "mean_abs": 0.125, "cosine": 0.99811498418631628}
> ]}
? 1
$ tenon rename step=count a.safetensors -o d.safetensors; tenon diff a.safetensors d.safetensors
> renamed    step  to count
> 4 equal, 0 different, 0 only in A, 0 only in B, 1 renamed
? 1
$ tenon drop step a.safetensors -o e.safetensors; tenon diff a.safetensors e.safetensors; tenon diff e.safetensors a.safetensors
> only in A  step  i32 ()
> 4 equal, 0 different, 1 only in A, 0 only in B, 0 renamed
> only in B  step  i32 ()
> 4 equal, 0 different, 0 only in A, 1 only in B, 0 renamed
? 1
$ tenon flip -a 0 data/line.npy -o f.npy; tenon diff data/line.npy f.npy
> differs      i32 (9,): 8 of 9 differ, max |a-b| 4 at [2], max relative 4, mean 1.78, cosine 0.463414634
> 0 equal, 1 different, 0 only in A, 0 only in B, 0 renamed
? 1
$ tenon slice '[:5]' data/line.npy -o g.npy; tenon diff data/line.npy g.npy
> shape        i32 (9,) and i32 (5,)
> 0 equal, 1 different, 0 only in A, 0 only in B, 0 renamed
? 1
$ tenon op mul data/c_f32.npy nan -o n.npy; tenon diff data/c_f32.npy n.npy
> differs      f32 (2, 3, 5): 30 of 30 differ, max |a-b| 0, max relative 0, mean 0, cosine 1, NaN only in A 0, only in B 30
> 0 equal, 1 different, 0 only in A, 0 only in B, 0 renamed
? 1
$ tenon diff n.npy n.npy
> 1 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon diff data/c_c64.npy data/c_c64.npy
> 1 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon diff data/line.npy gone.npy
2> tenon: gone.npy: No such file or directory
? 2
$ tenon diff data/line.npy
2> tenon diff: missing argument: B
2> usage: tenon diff A B
? 2
$ tenon diff --atol x data/line.npy data/line.npy
2> tenon diff: --atol takes a number >= 0, got "x"
2> usage: tenon diff A B
? 2
$ tenon diff --max-mem 5M data/single.pt data/c_f32.npy
> 1 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon diff data/set:step d.safetensors:count
> 1 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon diff data/set:step d.safetensors
2> tenon: d.safetensors has several tensors; name one as FILE:NAME
? 2

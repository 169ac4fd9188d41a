info.t - what info says about files that are there, and about files that are not.

$ tenon info data/c_f32.npy
> data/c_f32.npy: npy, 1 tensor, 120 B
> dtype  shape      bytes  align  order
> f32    (2, 3, 5)    120    128  C

$ tenon info data/f_f32.npy data/be_f32.npy
> data/f_f32.npy: npy, 1 tensor, 120 B
> dtype  shape      bytes  align  order
> f32    (2, 3, 5)    120    128  F
>
> data/be_f32.npy: npy, 1 tensor, 120 B
> dtype  shape      bytes  align  order
> f32    (2, 3, 5)    120    128  C, swapped

$ tenon info data/deflated.npz
> data/deflated.npz: npz, 7 tensors, 436 B
> name    dtype  shape      bytes  align  order
> w       f32    (2, 3, 5)    120      -  C, deflated
> b       bf16   (4,)           8      -  C, deflated
> f       i16    (2, 3, 5)     60      -  F, deflated
> be      f64    (2, 3, 5)    240      -  C, deflated
> empty   i8     (3, 0)         0      -  C, deflated
> scalar  i64    ()             8      -  C, deflated
> obj     |O     ?              -      -  unsupported

$ tenon info data/stored.npz:w
> data/stored.npz: npz, 1 tensor, 120 B
> name  dtype  shape      bytes  align  order
> w     f32    (2, 3, 5)    120      1  C

$ tenon info data/many.safetensors
> data/many.safetensors: safetensors, 18 tensors, 1.7 kB
> name          dtype   shape      bytes  align  order
> layer.u64     u64     (2, 3, 5)    240      8  C
> layer.i64     i64     (2, 3, 5)    240      8  C
> layer.f64     f64     (2, 3, 5)    240      8  C
> layer.c64     c64     (2, 3, 5)    240      8  C
> empty         f32     (0, 4)         0      8  C
> layer.f32     f32     (2, 3, 5)    120      8  C
> scalar        f32     ()             4     32  C
> layer.u32     u32     (2, 3, 5)    120      4  C
> layer.i32     i32     (2, 3, 5)    120      4  C
> layer.bf16    bf16    (2, 3, 5)     60      4  C
> layer.f16     f16     (2, 3, 5)     60     16  C
> layer.u16     u16     (2, 3, 5)     60      4  C
> layer.i16     i16     (2, 3, 5)     60      8  C
> layer.f8e4m3  f8e4m3  (2, 3, 5)     30      4  C
> layer.f8e5m2  f8e5m2  (2, 3, 5)     30      2  C
> layer.i8      i8      (2, 3, 5)     30    128  C
> layer.u8      u8      (2, 3, 5)     30      2  C
> layer.bool    bool    (2, 3, 5)     30      4  C

$ tenon info data/some.gguf
> data/some.gguf: gguf, 9 tensors, 930 B
> name    dtype  shape      bytes  align  order
> t.f32   f32    (2, 3, 5)    120     64  C
> t.f16   f16    (2, 3, 5)     60     64  C
> t.i8    i8     (2, 3, 5)     30    128  C
> t.i16   i16    (2, 3, 5)     60     32  C
> t.i32   i32    (2, 3, 5)    120     32  C
> t.i64   i64    (2, 3, 5)    240     32  C
> t.f64   f64    (2, 3, 5)    240     32  C
> t.bf16  bf16   (2, 3, 5)     60     32  C
> t.q8    Q8_0   (2, 64)        -      -  unsupported
> (shapes are in NumPy's order, the fastest axis last; .gguf stores them in reverse)

$ tenon info --json data/line.npy
> [{"file": "data/line.npy", "format": "npy", "metadata": null, "tensors": [
>   {"name": "", "dtype": "i32", "type": "<i4", "shape": [9], "bytes": 36, "order": "C", "offset": 128, "as_is": true}]}]

$ tenon info --json data/some.gguf:t.q8
> [{"file": "data/some.gguf", "format": "gguf", "metadata": null, "tensors": [
>   {"name": "t.q8", "dtype": null, "type": "Q8_0", "shape": [2, 64]}]}]

$ tenon info <data/c_u8.npy -
> -: npy, 1 tensor, 30 B
> dtype  shape      bytes  align  order
> u8     (2, 3, 5)     30    128  C

$ cat data/c_u8.npy | tenon info -
> -: npy, 1 tensor, 30 B
> dtype  shape      bytes  align  order
> u8     (2, 3, 5)     30    128  C

$ tenon info
2> tenon info: missing argument: FILE
2> usage: tenon info FILE...
? 2

$ tenon info nowhere.npy
2> tenon: nowhere.npy: No such file or directory
? 1

$ tenon info data
> data: set, 18 tensors, 1.7 kB
> name          dtype   shape      bytes  align  order
> layer.u64     u64     (2, 3, 5)    240      8  C
> layer.i64     i64     (2, 3, 5)    240      8  C
> layer.f64     f64     (2, 3, 5)    240      8  C
> layer.c64     c64     (2, 3, 5)    240      8  C
> empty         f32     (0, 4)         0      8  C
> layer.f32     f32     (2, 3, 5)    120      8  C
> scalar        f32     ()             4     32  C
> layer.u32     u32     (2, 3, 5)    120      4  C
> layer.i32     i32     (2, 3, 5)    120      4  C
> layer.bf16    bf16    (2, 3, 5)     60      4  C
> layer.f16     f16     (2, 3, 5)     60     16  C
> layer.u16     u16     (2, 3, 5)     60      4  C
> layer.i16     i16     (2, 3, 5)     60      8  C
> layer.f8e4m3  f8e4m3  (2, 3, 5)     30      4  C
> layer.f8e5m2  f8e5m2  (2, 3, 5)     30      2  C
> layer.i8      i8      (2, 3, 5)     30    128  C
> layer.u8      u8      (2, 3, 5)     30      2  C
> layer.bool    bool    (2, 3, 5)     30      4  C

$ tenon info data/README.md
2> tenon: data/README.md: not a .npy, .npz, .safetensors, .gguf or .pt file
? 1

$ tenon info data/x_object.npy
2> tenon: data/x_object.npy: Python objects are not supported
? 1

$ tenon info data/stored.npz:nobody
2> tenon: data/stored.npz: no tensor is named "nobody"
? 1

$ head -c 200 data/c_f32.npy >short.npy; tenon info short.npy
2> tenon: short.npy: header says (2, 3, 5) f32 = 120 bytes, the file has 72
? 1

$ tenon info short.npy data/line.npy
> data/line.npy: npy, 1 tensor, 36 B
> dtype  shape  bytes  align  order
> i32    (9,)      36    128  C
2> tenon: short.npy: header says (2, 3, 5) f32 = 120 bytes, the file has 72
? 1

$ tenon info --frob data/line.npy
2> tenon info: unknown option --frob
2> usage: tenon info FILE...
? 2


Several files are one: a folder, or the index of a sharded model.

$ tenon info data/set
> data/set: set, 5 tensors, 284 B
> name             dtype  shape      bytes  align  order
> layers.0.weight  f32    (2, 3, 5)    120      8  C
> layers.0.bias    f32    (5,)          20     16  C
> layers.1.weight  f32    (2, 3, 5)    120      8  C
> layers.1.bias    f32    (5,)          20     16  C
> step             i32    ()             4      4  C
$ tenon info data/set/model.safetensors.index.json:step
> data/set/model.safetensors.index.json: set, 1 tensor, 4 B
> name  dtype  shape  bytes  align  order
> step  i32    ()         4      4  C
$ tenon info --json data/set:step
> [{"file": "data/set", "format": "set", "metadata": {"format":"pt"}, "tensors": [
>   {"name": "step", "dtype": "i32", "type": "I32", "shape": [], "path": "data/set/model-00002-of-00002.safetensors", "bytes": 4, "order": "C", "offset": 388, "as_is": true}]}]
$ tenon convert data/set -o one.npz && tenon show one.npz:step
> one.npz:step: i32 ()
> 7
$ tenon flip -a 0 data/set:layers.1.bias -o flipped.npy && tenon show flipped.npy
> flipped.npy: f32 (5,)
> [ 1.,  0., -1., -2., -3.]
$ mkdir empty; tenon info empty
2> tenon: empty: has neither a *.index.json nor a .safetensors file
? 1

Files of torch are read without Python.

$ tenon info data/state.pt | grep -E 'tied|f32 |turned|window|empty'
> f32       f32     (2, 3, 5)    120    256  C, shared
> turned    f32     (5, 3, 2)    120     64  F
> window    i32     (5, 5)       100     16  strided
> repeated  f32     (2, 4)        32    128  strided
> tied      f32     (2, 3, 5)    120    256  C, shared
> empty     f32     (0, 3)         0    128  C
$ tenon info data/checkpoint.pt
> data/checkpoint.pt: pt, 6 tensors, 364 B
> name                 dtype  shape      bytes  align  order
> model.w              f32    (2, 3, 5)    120    256  C
> model.b              f16    (2, 3, 5)     60     64  C
> opt.state.0.exp_avg  f32    (2, 3, 5)    120     64  C
> opt.state.1.step     f32    ()             4    256  C
> list.0               i8     (2, 3, 5)     30    128  C
> list.1.0             i8     (2, 3, 5)     30   2048  C
> (and 8 values that are not tensors)
$ tenon show data/single.pt | head -2
> data/single.pt: f32 (2, 3, 5)
> [[[-3., -2., -1.,  0.,  1.],
$ tenon convert data/checkpoint.pt -o c.safetensors && tenon info c.safetensors | tail -n +3
> model.w              f32    (2, 3, 5)    120      8  C
> opt.state.0.exp_avg  f32    (2, 3, 5)    120     32  C
> opt.state.1.step     f32    ()             4      8  C
> model.b              f16    (2, 3, 5)     60      4  C
> list.0               i8     (2, 3, 5)     30      8  C
> list.1.0             i8     (2, 3, 5)     30      2  C
$ tenon convert data/state.pt -o s.npz && tenon show s.npz:window | tail -1
>  [60, 62, 64, 66, 68]]
$ tenon info data/old.pt data/script.pt
2> tenon: data/old.pt: PyTorch's format before 1.6; load it and save it with a newer PyTorch
2> tenon: data/script.pt: a TorchScript archive
? 1
$ tenon convert data/odd.pt -o o.safetensors
2> tenon: data/odd.pt: tensor "s": unsupported element type sparse, quantized or meta
? 1

A .npy of text is listed.

$ tenon info data/x_text.npy
> data/x_text.npy: npy, 1 tensor, 0 B
> dtype  shape  bytes  align  order
> <U2    ?          -      -  unsupported
$ tenon show data/x_text.npy
2> tenon: data/x_text.npy: tensor "": unsupported element type <U2
? 1

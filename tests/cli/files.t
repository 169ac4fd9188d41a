files.t - formats, names, pipes, globs: what goes where.

A .npz and a .safetensors keep names and metadata.

$ tenon convert data/many.safetensors -o m.npz && tenon info m.npz
> m.npz: npz, 18 tensors, 1.7 kB
> name          dtype   shape      bytes  align  order
> layer.u64     u64     (2, 3, 5)    240     64  C
> layer.i64     i64     (2, 3, 5)    240    128  C
> layer.f64     f64     (2, 3, 5)    240     64  C
> layer.c64     c64     (2, 3, 5)    240    512  C
> empty         f32     (0, 4)         0     64  C
> layer.f32     f32     (2, 3, 5)    120    128  C
> scalar        f32     ()             4     64  C
> layer.u32     u32     (2, 3, 5)    120    128  C
> layer.i32     i32     (2, 3, 5)    120     64  C
> layer.bf16    bf16    (2, 3, 5)     60    256  C
> layer.f16     f16     (2, 3, 5)     60    512  C
> layer.u16     u16     (2, 3, 5)     60    256  C
> layer.i16     i16     (2, 3, 5)     60   4096  C
> layer.f8e4m3  f8e4m3  (2, 3, 5)     30    256  C
> layer.f8e5m2  f8e5m2  (2, 3, 5)     30    512  C
> layer.i8      i8      (2, 3, 5)     30    256  C
> layer.u8      u8      (2, 3, 5)     30   1024  C
> layer.bool    bool    (2, 3, 5)     30    256  C
$ tenon convert m.npz -o back.safetensors && tenon info back.safetensors | head -3
> back.safetensors: safetensors, 18 tensors, 1.7 kB
> name          dtype   shape      bytes  align  order
> layer.u64     u64     (2, 3, 5)    240    256  C
$ tenon convert data/many.safetensors -o same.safetensors && cmp data/many.safetensors same.safetensors
$ tenon info --json same.safetensors | head -1
> [{"file": "same.safetensors", "format": "safetensors", "metadata": {"note":"café","format":"np"}, "tensors": [
$ tenon convert data/some.gguf -o g.safetensors
2> tenon: data/some.gguf: tensor "t.q8": unsupported element type Q8_0
? 1
$ tenon convert data/some.gguf:t.bf16 -o g.safetensors && tenon info g.safetensors
> g.safetensors: safetensors, 1 tensor, 60 B
> name    dtype  shape      bytes  align  order
> t.bf16  bf16   (2, 3, 5)     60     16  C
$ tenon convert data/some.gguf:t.bf16 -o bf.npy && tenon show bf.npy && tail -c +11 bf.npy | head -c 75; echo
> bf.npy: bf16 (2, 3, 5)
> [[[-3., -2., -1.,  0.,  1.],
>   [ 2.,  3., -3., -2., -1.],
>   [ 0.,  1.,  2.,  3., -3.]],
>
>  [[-2., -1.,  0.,  1.,  2.],
>   [ 3., -3., -2., -1.,  0.],
>   [ 1.,  2.,  3., -3., -2.]]]
> {'descr': '<V2', 'fortran_order': False, 'shape': (2, 3, 5), } # bfloat16  

One tensor takes its name from where it was, or from --name, or from -o.

$ tenon convert data/line.npy -o l.npz && tenon info l.npz
> l.npz: npz, 1 tensor, 36 B
> name  dtype  shape  bytes  align  order
> line  i32    (9,)      36     64  C
$ tenon convert data/line.npy -o l.safetensors:part/one && tenon info l.safetensors
> l.safetensors: safetensors, 1 tensor, 36 B
> name      dtype  shape  bytes  align  order
> part/one  i32    (9,)      36      8  C
$ tenon convert data/line.npy --name other -f -o l.safetensors && tenon info l.safetensors:other
> l.safetensors: safetensors, 1 tensor, 36 B
> name   dtype  shape  bytes  align  order
> other  i32    (9,)      36      8  C
$ tenon convert data/stored.npz:f -o f.npy && tenon info f.npy
> f.npy: npy, 1 tensor, 60 B
> dtype  shape      bytes  align  order
> i16    (2, 3, 5)     60    128  C
$ tenon convert data/stored.npz -o x.npy
2> tenon: x.npy: .npy holds one tensor, got 6
? 1
$ tenon permute 0 data/stored.npz -o x.npy
2> tenon: data/stored.npz has 6 tensors; name one as data/stored.npz:NAME, or choose some with --tensors
? 1

A glob changes what matches and leaves the others.

$ tenon cast f64 data/many.safetensors --tensors 'layer.f*' -o c.safetensors && tenon info c.safetensors
> c.safetensors: safetensors, 18 tensors, 2.4 kB
> name          dtype  shape      bytes  align  order
> layer.u64     u64    (2, 3, 5)    240      8  C
> layer.i64     i64    (2, 3, 5)    240      8  C
> layer.f64     f64    (2, 3, 5)    240      8  C
> layer.c64     c64    (2, 3, 5)    240      8  C
> layer.f32     f64    (2, 3, 5)    240      8  C
> layer.f16     f64    (2, 3, 5)    240      8  C
> layer.f8e4m3  f64    (2, 3, 5)    240      8  C
> layer.f8e5m2  f64    (2, 3, 5)    240      8  C
> empty         f32    (0, 4)         0      8  C
> scalar        f32    ()             4      8  C
> layer.u32     u32    (2, 3, 5)    120      4  C
> layer.i32     i32    (2, 3, 5)    120      4  C
> layer.bf16    bf16   (2, 3, 5)     60      4  C
> layer.u16     u16    (2, 3, 5)     60      8  C
> layer.i16     i16    (2, 3, 5)     60      4  C
> layer.i8      i8     (2, 3, 5)     30     16  C
> layer.u8      u8     (2, 3, 5)     30      2  C
> layer.bool    bool   (2, 3, 5)     30      4  C
$ tenon slice "[1]" data/stored.npz --tensors w -o s.npz && tenon info s.npz
> s.npz: npz, 6 tensors, 376 B
> name    dtype  shape      bytes  align  order
> w       f32    (3, 5)        60     64  C
> b       bf16   (4,)           8     64  C
> f       i16    (2, 3, 5)     60    128  C
> be      f64    (2, 3, 5)    240    128  C
> empty   i8     (3, 0)         0     64  C
> scalar  i64    ()             8    512  C
$ tenon cast f64 data/many.safetensors --tensors 'nothing*' -o x.safetensors
2> tenon: data/many.safetensors: no tensor matches "nothing*"
? 1
$ tenon slice "[5]" data/many.safetensors --tensors '*' -o x.safetensors
2> tenon: data/many.safetensors:layer.u64: slice: index 5 of axis 0 is out of range [-2, 2)
? 1

Raw elements are what --dtype says.

$ tenon show --dtype u16 data/c_bf16.npy | head -2
> data/c_bf16.npy: u16 (2, 3, 5)
> [[[49216, 49152, 49024,     0, 16256],
$ tenon convert --dtype f8e4m3 data/c_f8e4m3.npy -o e.npy && tenon show e.npy | head -2
> e.npy: f8e4m3 (2, 3, 5)
> [[[-3., -2., -1.,  0.,  1.],
$ tenon convert --dtype f32 data/void2.npy -o x.npy
2> tenon: data/void2.npy: elements are u16 of 2 bytes and cannot be read as f32
? 1
$ tenon convert --dtype nothing data/void2.npy -o x.npy
2> tenon convert: unknown dtype "nothing"
2> usage: tenon convert IN -o OUT
? 2

Pipes carry .npy; what is there stays without -f; the suffix decides.

$ cat data/c_i16.npy | tenon permute 2,1,0 - -o - | tenon info -
> -: npy, 1 tensor, 60 B
> dtype  shape      bytes  align  order
> i16    (5, 3, 2)     60    128  C
$ tenon convert data/many.safetensors -o -
2> tenon: standard output takes one tensor, got 18
? 1
$ tenon convert data/line.npy -o l.npz
2> tenon: l.npz already exists; use -f to overwrite
? 1
$ tenon convert data/line.npy -o x.txt
2> tenon: x.txt: unknown suffix; expected .npy, .npz, .safetensors or .gguf
? 1
$ tenon convert data/line.npy -o nowhere/x.npy
2> tenon: nowhere/x.npy: No such file or directory
? 1
$ tenon convert data/line.npy -o l.npz/x.npy
2> tenon: l.npz/x.npy: Not a directory
? 1
$ mkdir d.npy; tenon convert data/line.npy -f -o d.npy
2> tenon: d.npy: Is a directory
? 1
$ tenon convert data/line.npy
2> tenon convert: missing -o OUT
2> usage: tenon convert IN -o OUT
? 2
$ tenon convert data/c_c128.npy -o x.safetensors
2> tenon: x.safetensors: tensor "c_c128": .safetensors does not support dtype c128
? 1
$ tenon convert data/line.npy -f -o l.safetensors --align 64 && tenon info l.safetensors
> l.safetensors: safetensors, 1 tensor, 36 B
> name  dtype  shape  bytes  align  order
> line  i32    (9,)      36    128  C
$ cp data/line.npy in.npy && tenon flip -a 0 in.npy -f -o in.npy && tenon show in.npy
> in.npy: i32 (9,)
> [-2, -3,  3,  2,  1,  0, -1, -2, -3]

Little memory gives the same.

$ tenon pad --before 9 --after 9 --mode wrap data/c_f64.npy -o p.npy && tenon pad --before 9 --after 9 --mode wrap data/c_f64.npy --max-mem 100k -f -o q.npy && cmp p.npy q.npy
$ tenon convert data/line.npy --max-mem lots -o x.npy
2> tenon convert: --max-mem takes a size such as 512M, got "lots"
2> usage: tenon convert IN -o OUT
? 2
$ ls x.* 2>/dev/null
? 2
$ tenon op neg data/many.safetensors --tensors 'layer.f32' -o n.safetensors && tenon show n.safetensors:layer.f32 | head -3
> n.safetensors:layer.f32: f32 (2, 3, 5)
> [[[ 3.,  2.,  1., -0., -1.],
>   [-2., -3.,  3.,  2.,  1.],
$ tenon op sub 1 data/many.safetensors --tensors 'layer.[iu]*' -o n.safetensors -f && tenon show n.safetensors:layer.u8 | head -2
> n.safetensors:layer.u8: u8 (2, 3, 5)
> [[[  1,   0, 255, 254, 253],
$ tenon op add data/many.safetensors data/c_f32.npy --tensors 'layer.f32' -o x.safetensors
2> tenon op: --tensors works on one file, with numbers as the other operands
2> usage: tenon op NAME A [B [C]] -o OUT
? 2

A pipe with a name is read like standard input.

$ mkfifo p q; cat data/line.npy >p & cat data/line.npy >q & tenon concat -a 0 p q -o pq.npy; tenon info pq.npy
> pq.npy: npy, 1 tensor, 72 B
> dtype  shape  bytes  align  order
> i32    (18,)     72    128  C
$ cat data/README.md >p & tenon info p
2> tenon: p: not a .npy, .npz, .safetensors, .gguf or .pt file
? 1

Many files are joined, more than a process may have open at first.

$ mkdir many; for i in $(seq 40); do cp data/line.npy many/$i.npy; done
$ ulimit -Sn 20; tenon concat -a 0 many/*.npy -o many.npy && tenon info many.npy | tail -1
> i32    (360,)   1440    128  C

A compressed tensor may be longer than memory may be: it is unpacked to a temporary file.

$ tenon pad --after 999,0,0 --mode wrap data/f_f32.npy -o wide.npy
$ python3 -c 'import zipfile; zipfile.ZipFile("z.npz", "w", 8).write("wide.npy")'
$ tenon permute 2,1,0 wide.npy -o a.npy && tenon permute 2,1,0 z.npz:wide --max-mem 4k -o b.npy && cmp a.npy b.npy
$ tenon convert z.npz --max-mem 4k -o wide.safetensors && tenon convert wide.safetensors:wide -o c.npy && cmp wide.npy c.npy
$ tenon concat -a 0 z.npz z.npz --max-mem 4k -o dd.npy && tenon concat -a 0 wide.npy wide.npy -o ee.npy && cmp dd.npy ee.npy
$ tenon slice "[0, 0]" z.npz:wide --max-mem 4k --dtype i32 -o - | tenon slice "[0]" - -o - | tenon show -
> -: i32 ()
> -1069547520

Quantised tensors of .gguf are read by cast; a file of several tensors is cast as a whole.

$ tenon drop q5_0 data/quant.gguf -o q.safetensors
2> tenon: data/quant.gguf: tensor "q8_0": unsupported element type Q8_0
? 1
$ tenon cast f32 data/quant.gguf -o q.safetensors
2> tenon: data/quant.gguf: tensor "q5_0": unsupported element type Q5_0
? 1
$ for t in q8_0 q4_0 q4_k q5_k q6_k; do tenon cast f32 data/quant.gguf:$t -f -o q.npy; tenon convert data/quant.npz:$t -f -o w.npy; cmp q.npy w.npy; done
$ tenon cast bf16 --max-mem 5M data/quant.gguf:q4_k -o q.safetensors && tenon info q.safetensors | tail -1
> q4_k  bf16   (3, 512)   3072     16  C
$ tenon cast f16 data/set -o half.safetensors && tenon info half.safetensors | tail -n +3
> layers.0.weight  f16    (2, 3, 5)     60    128  C
> layers.0.bias    f16    (5,)          10      4  C
> layers.1.weight  f16    (2, 3, 5)     60      2  C
> layers.1.bias    f16    (5,)          10      2  C
> step             f16    ()             2      4  C

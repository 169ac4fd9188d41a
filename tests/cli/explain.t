explain.t - what would happen, before it happens; time and plan depend on the machine and are left out.

$ tenon explain permute 2,0,1 data/c_f32.npy -o o.npy | grep -v 'time\|plan'
> permute
>   in      data/c_f32.npy: f32 (2, 3, 5), 120 B
>   out     o.npy: f32 (5, 2, 3), 120 B
>   recipe  a copy: 1 piece
>   read    120 B
>   write   120 B
>   memory  at most 4.2 MB for elements
$ tenon explain slice "[1]" data/c_f32.npy -o o.npy | grep -v 'time\|plan'
> slice
>   in      data/c_f32.npy: f32 (2, 3, 5), 120 B
>   out     o.npy: f32 (3, 5), 60 B
>   recipe  a view: the elements are in order, read and written as they are
>   read    60 B
>   write   60 B
>   memory  at most 4.2 MB for elements
$ tenon explain slice "[:0]" data/c_f32.npy -o o.npy | grep -v 'time\|plan'
> slice
>   in      data/c_f32.npy: f32 (2, 3, 5), 120 B
>   out     o.npy: f32 (0, 3, 5), 0 B
>   recipe  nothing to do: no elements
>   read    0 B
>   write   0 B
>   memory  at most 4.2 MB for elements
$ tenon explain cast f64 data/deflated.npz:f -o o.npy | grep -v 'time\|plan'
> cast
>   in      data/deflated.npz:f: i16 (2, 3, 5), 60 B, compressed: read into memory first
>   out     o.npy: f64 (2, 3, 5), 240 B
>   recipe  a copy: 1 piece
>   cast    i16 to f64
>   read    60 B
>   write   240 B
>   memory  at most 4.2 MB for elements
$ tenon explain op add data/c_f32.npy 1 -o o.npy | grep -v 'time\|plan'
> op
>   in      data/c_f32.npy: f32 (2, 3, 5), 120 B
>   in      a number as f32
>   out     o.npy: f32 (2, 3, 5), 120 B
>   recipe  add over 2 operands, block by block
>   read    120 B
>   write   120 B
>   memory  at most 4.2 MB for elements
$ tenon explain pad --before 1 --after 1 data/c_f32.npy -o o.npy | grep -v 'time\|plan'
> pad
>   in      data/c_f32.npy: f32 (2, 3, 5), 120 B
>   out     o.npy: f32 (4, 5, 7), 560 B
>   recipe  a copy: 1 piece into a filled tensor
>   read    120 B
>   write   560 B
>   memory  at most 4.2 MB for elements
$ tenon explain concat -a 0 data/c_f32.npy data/f_f32.npy -o o.npy | grep -v 'time\|plan'
> concat
>   in      data/c_f32.npy: f32 (2, 3, 5), 120 B
>   in      data/f_f32.npy: f32 (2, 3, 5), 120 B
>   out     o.npy: f32 (4, 3, 5), 240 B
>   recipe  a copy: 2 pieces
>   read    240 B
>   write   240 B
>   memory  at most 4.2 MB for elements
$ tenon explain rearrange "a b c -> (a c) b" data/many.safetensors --tensors 'layer.i?' | grep -v 'time\|plan'
> rearrange of layer.i8
>   in      data/many.safetensors:layer.i8: i8 (2, 3, 5), 30 B
>   out     (no -o): i8 (10, 3), 30 B
>   recipe  a copy: 1 piece
>   read    30 B
>   write   30 B
>   memory  at most 4.2 MB for elements
> all 18 tensors, 1 of them as above
>   read    1.7 kB
>   write   1.7 kB
$ tenon explain cast f16 data/c_f32.npy -o o.npy | sed -n '4,5p'
>   recipe  a view: the elements are in order, read and written block by block
>   cast    f32 to f16
$ touch there.npy; tenon explain permute 0 data/line.npy -o there.npy | sed -n 3p
>   out     there.npy: i32 (9,), 36 B; already exists, needs -f
$ tenon explain permute 0 data/line.npy -f -o there.npy | sed -n 3p
>   out     there.npy: i32 (9,), 36 B

What is compressed is read and held as a whole.

$ tenon pad --after 999,0,0 data/c_f64.npy -o wide.npy
$ python3 -c 'import zipfile; zipfile.ZipFile("z.npz", "w", 8).write("wide.npy")'
$ tenon explain slice "[0, 0, 0]" z.npz:wide | grep -v 'time\|plan'
> slice
>   in      z.npz:wide: f64 (1001, 3, 5), 120 kB, compressed: read into memory first
>   out     (no -o): f64 (), 8 B
>   recipe  a view: the elements are in order, read and written as they are
>   read    120 kB
>   write   8 B
>   memory  at most 4.3 MB for elements
$ tenon explain slice "[0, 0, 0]" z.npz:wide --max-mem 64k | sed -n '2p;5,7p'
>   in      z.npz:wide: f64 (1001, 3, 5), 120 kB, compressed: unpacked to a temporary file first
>   read    120 kB
>   write   8 B
>   memory  at most 4.2 MB for elements
$ tenon explain permute 2,0,1 data/c_f32.npy | grep -c 'plan\|time'
> 2
$ test -e o.npy
? 1

$ tenon explain -o o.npy --max-mem 1M permute 2,0,1 data/c_f32.npy | sed -n 1,3p
> permute
>   in      data/c_f32.npy: f32 (2, 3, 5), 120 B
>   out     o.npy: f32 (5, 2, 3), 120 B
$ tenon -q explain -- permute 2,0,1 data/c_f32.npy | sed -n 1p
> permute
$ tenon explain --json
2> tenon: missing command; see tenon help
? 2

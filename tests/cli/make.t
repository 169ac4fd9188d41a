make.t - commands that lay together and compute: pad, concat, stack, cast, op.

$ tenon slice "[0, :2, :3]" data/c_i32.npy -o a.npy && tenon show a.npy
> a.npy: i32 (2, 3)
> [[-3, -2, -1],
>  [ 2,  3, -3]]

$ tenon slice "[1, :2, :3]" data/c_i32.npy -o b.npy && tenon show b.npy
> b.npy: i32 (2, 3)
> [[-2, -1,  0],
>  [ 3, -3, -2]]

$ tenon pad --before 1,0 --after 0,2 a.npy -o c.npy && tenon show c.npy
> c.npy: i32 (3, 5)
> [[ 0,  0,  0,  0,  0],
>  [-3, -2, -1,  0,  0],
>  [ 2,  3, -3,  0,  0]]

$ tenon pad --before 1 --after 1 --value -7 a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (4, 5)
> [[-7, -7, -7, -7, -7],
>  [-7, -3, -2, -1, -7],
>  [-7,  2,  3, -3, -7],
>  [-7, -7, -7, -7, -7]]

$ tenon pad --before 1,2 --after 2,1 --mode edge a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (5, 6)
> [[-3, -3, -3, -2, -1, -1],
>  [-3, -3, -3, -2, -1, -1],
>  [ 2,  2,  2,  3, -3, -3],
>  [ 2,  2,  2,  3, -3, -3],
>  [ 2,  2,  2,  3, -3, -3]]

$ tenon pad --before 1,2 --after 2,1 --mode reflect a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (5, 6)
> [[-3,  3,  2,  3, -3,  3],
>  [-1, -2, -3, -2, -1, -2],
>  [-3,  3,  2,  3, -3,  3],
>  [-1, -2, -3, -2, -1, -2],
>  [-3,  3,  2,  3, -3,  3]]

$ tenon pad --before 1,2 --after 2,1 --mode symmetric a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (5, 6)
> [[-2, -3, -3, -2, -1, -1],
>  [-2, -3, -3, -2, -1, -1],
>  [ 3,  2,  2,  3, -3, -3],
>  [ 3,  2,  2,  3, -3, -3],
>  [-2, -3, -3, -2, -1, -1]]

$ tenon pad --before 1,2 --after 2,1 --mode wrap a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (5, 6)
> [[ 3, -3,  2,  3, -3,  2],
>  [-2, -1, -3, -2, -1, -3],
>  [ 3, -3,  2,  3, -3,  2],
>  [-2, -1, -3, -2, -1, -3],
>  [ 3, -3,  2,  3, -3,  2]]

$ tenon pad --after 0,7 --mode reflect a.npy -f -o c.npy && tenon slice "[0]" c.npy -o - | tenon show -
> -: i32 (10,)
> [-3, -2, -1, -2, -3, -2, -1, -2, -3, -2]

$ tenon concat -a 0 a.npy b.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (4, 3)
> [[-3, -2, -1],
>  [ 2,  3, -3],
>  [-2, -1,  0],
>  [ 3, -3, -2]]

$ tenon concat -a -1 a.npy b.npy a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 9)
> [[-3, -2, -1, -2, -1,  0, -3, -2, -1],
>  [ 2,  3, -3,  3, -3, -2,  2,  3, -3]]

$ tenon stack -a 1 a.npy b.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 2, 3)
> [[[-3, -2, -1],
>   [-2, -1,  0]],
>
>  [[ 2,  3, -3],
>   [ 3, -3, -2]]]

$ tenon cast f16 a.npy -f -o c.npy && tenon show c.npy
> c.npy: f16 (2, 3)
> [[-3., -2., -1.],
>  [ 2.,  3., -3.]]

$ tenon cast u8 a.npy -f -o c.npy && tenon show c.npy
> c.npy: u8 (2, 3)
> [[253, 254, 255],
>  [  2,   3, 253]]

$ tenon op add a.npy b.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 3)
> [[-5, -3, -1],
>  [ 5,  0, -5]]

$ tenon op mul a.npy 10 -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 3)
> [[-30, -20, -10],
>  [ 20,  30, -30]]

$ tenon op sub 1 a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 3)
> [[ 4,  3,  2],
>  [-1, -2,  4]]

$ tenon op mul a.npy 0.5 -f -o c.npy && tenon show c.npy
> c.npy: f64 (2, 3)
> [[-1.5, -1. , -0.5],
>  [ 1. ,  1.5, -1.5]]

$ tenon op neg a.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 3)
> [[ 3,  2,  1],
>  [-2, -3,  3]]

$ tenon op lt a.npy b.npy -f -o c.npy && tenon show c.npy
> c.npy: bool (2, 3)
> [[ true,  true,  true],
>  [ true, false,  true]]

$ tenon op where c.npy a.npy 9 -f -o d.npy && tenon show d.npy
> d.npy: i32 (2, 3)
> [[-3, -2, -1],
>  [ 2,  9, -3]]

$ tenon op clip a.npy -1 1 -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 3)
> [[-1, -1, -1],
>  [ 1,  1, -1]]

$ tenon cast f32 a.npy -f -o f.npy && tenon op leaky_relu --params 0.5 f.npy -f -o c.npy && tenon show c.npy
> c.npy: f32 (2, 3)
> [[-1.5, -1. , -0.5],
>  [ 2. ,  3. , -1.5]]

$ tenon op max f.npy -inf -f -o c.npy && tenon show c.npy
> c.npy: f32 (2, 3)
> [[-3., -2., -1.],
>  [ 2.,  3., -3.]]

$ tenon slice "[0]" a.npy -o row.npy && tenon op add a.npy row.npy -f -o c.npy && tenon show c.npy
> c.npy: i32 (2, 3)
> [[-6, -4, -2],
>  [-1,  1, -4]]

$ tenon op add f.npy a.npy -f -o c.npy && tenon info c.npy
> c.npy: npy, 1 tensor, 24 B
> dtype  shape   bytes  align  order
> f32    (2, 3)     24    128  C

$ tenon concat -a 0 a.npy f.npy -o x.npy
2> tenon: f.npy: f32 (2, 3) does not match the first input, i32 (2, 3)
? 1

$ tenon concat -a 2 a.npy b.npy -o x.npy
2> tenon: a.npy: concat: axis 2 is out of range for a 2-d tensor
? 1

$ tenon concat a.npy b.npy -o x.npy
2> tenon concat: missing -a AXIS
2> usage: tenon concat -a AXIS IN... -o OUT
? 2

$ tenon stack -a 0 a.npy row.npy -o x.npy
2> tenon: row.npy: i32 (3,) does not match the first input, i32 (2, 3)
? 1

$ tenon pad --before 1,2,3 a.npy -o x.npy
2> tenon: a.npy: pad: --before has 3 widths for a 2-d tensor
? 1

$ tenon pad --before -1 a.npy -o x.npy
2> tenon: a.npy: pad: axis 0: width is negative
? 1

$ tenon pad --mode mirror a.npy -o x.npy
2> tenon pad: unknown mode "mirror"; use constant, edge, reflect, symmetric or wrap
2> usage: tenon pad --before N,... --after N,... IN -o OUT
? 2

$ tenon pad --before 1 --mode edge data/empty.npy -o x.npy
2> tenon: data/empty.npy: pad: axis 0 is empty; only mode constant can pad it
? 1

$ tenon cast f99 a.npy -o x.npy
2> tenon cast: unknown dtype "f99"
2> usage: tenon cast DTYPE IN -o OUT
? 2

$ tenon op frobnicate a.npy -o x.npy
2> tenon op: unknown op "frobnicate"; tenon help op lists the ops
2> usage: tenon op NAME A [B [C]] -o OUT
? 2

$ tenon op add a.npy -o x.npy
2> tenon op: add takes 2 operands, got 1
2> usage: tenon op NAME A [B [C]] -o OUT
? 2

$ tenon op exp a.npy -o x.npy
2> tenon: a.npy: op: src: got i32, expected a float or complex dtype for exp; cast to f32 first
? 1

$ tenon op add 1 2 -o x.npy
2> tenon op: at least one operand must be a file
2> usage: tenon op NAME A [B [C]] -o OUT
? 2

$ tenon op add a.npy line -o x.npy
2> tenon: line: No such file or directory
? 1

$ tenon op add a.npy data/line.npy -o x.npy
2> tenon: add: shapes (2, 3) of a.npy and (9,) of data/line.npy do not broadcast
? 1

$ tenon op elu --params 1,2 f.npy -o x.npy
2> tenon op: elu takes 1 parameter, --params has 2
2> usage: tenon op NAME A [B [C]] -o OUT
? 2

$ test -e x.npy
? 1


A number that the dtype cannot hold is refused and not wrapped; floats round.

$ tenon convert data/c_u8.npy -o u.npy
$ tenon op add u.npy 300 -o x.npy
2> tenon: u.npy: 300 does not fit in u8
? 1
$ tenon op lt u.npy -1 -o x.npy
2> tenon: u.npy: -1 does not fit in u8
? 1
$ tenon pad --after 1 --value 0.5 u.npy -o x.npy
2> tenon: u.npy: 0.5 does not fit in u8
? 1
$ tenon pad --after 1 --value nan u.npy -o x.npy
2> tenon: u.npy: nan does not fit in u8
? 1
$ tenon op eq data/c_u64.npy -1 -o x.npy
2> tenon: data/c_u64.npy: -1 does not fit in u64
? 1
$ tenon op eq data/c_i64.npy 9223372036854775808 -o x.npy
2> tenon: data/c_i64.npy: 9223372036854775808 does not fit in i64
? 1
$ tenon op add data/c_f16.npy 1e6 -o x.npy
2> tenon: data/c_f16.npy: 1e6 does not fit in f16
? 1
$ tenon op add data/c_f16.npy inf -o x.npy && tenon op add data/c_f16.npy 0.1 -f -o x.npy
$ tenon pad --after 0,0,1 --value 2e2 u.npy -f -o x.npy && tenon slice "[0, 0]" x.npy -o - | tenon show -
> -: u8 (6,)
> [  0,   1,   2,   3,   4, 200]
$ tenon slice "[0, 0]" data/c_u64.npy -o - | tenon op add - 9223372036854775809 -o - | tenon show -
> -: u64 (5,)
> [9223372036854775809, 9223372036854775810, 9223372036854775811, 9223372036854775812, 9223372036854775813]
$ tenon slice "[0, 0]" data/c_i32.npy -o - | tenon op add - 010 -o - | tenon op add - 0x10 -o - | tenon show -
> -: i32 (5,)
> [23, 24, 25, 26, 27]

Numbers that 64 bits do not hold are not rounded in silence.

$ tenon op add a.npy 99999999999999999999 -o big.npy
2> tenon op: 99999999999999999999 exceeds 64 bits; write 99999999999999999999.0 for a float
2> usage: tenon op NAME A [B [C]] -o OUT
? 2
$ tenon op add a.npy 99999999999999999999.0 -o big.npy && tenon show big.npy | head -1
> big.npy: f64 (2, 3)

More files than may be open at once.

$ ulimit -n 64; for i in $(seq 300); do echo a.npy; done | xargs tenon concat -a 0 -o many.npy && tenon info many.npy | tail -1
> i32    (600, 3)   7200    128  C
$ ulimit -n 64; for i in $(seq 300); do echo a.npy; done | xargs tenon stack -a 1 -o stacked.npy && tenon info stacked.npy | tail -1
> i32    (2, 300, 3)   7200    128  C
$ tenon slice '[:2, :3]' many.npy -f -o head.npy; tenon diff head.npy a.npy
> 1 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ ulimit -n 64; for i in $(seq 300); do echo a.npy; done | xargs tenon explain stack -a 1 | tail -4 | head -1
>   read    7.2 kB

eval.t - expressions of tensors in files, in one pass.

$ tenon slice "[0, :2]" data/c_i32.npy -o i.npy && tenon cast f32 i.npy -o x.npy && tenon cast u8 i.npy -o u.npy && tenon show x.npy
> x.npy: f32 (2, 5)
> [[-3., -2., -1.,  0.,  1.],
>  [ 2.,  3., -3., -2., -1.]]

Precedence, chains, casts, functions with parameters.

$ tenon eval "-x ** 2 + 1" x=x.npy -o - | tenon show -
> -: f32 (2, 5)
> [[-8., -3.,  0.,  1.,  0.],
>  [-3., -8., -8., -3.,  0.]]
$ tenon eval "-2 < x <= 1" x=x.npy -o - | tenon show -
> -: bool (2, 5)
> [[false, false,  true,  true,  true],
>  [false, false, false, false,  true]]
$ tenon eval "where(x < 0, leaky_relu(x, 0.5), x)" x=x.npy -o - | tenon show -
> -: f32 (2, 5)
> [[-1.5, -1. , -0.5,  0. ,  1. ],
>  [ 2. ,  3. , -1.5, -1. , -0.5]]
$ tenon eval "i8(x) // 2 + i % 3" x=x.npy i=i.npy -o - | tenon show -
> -: i32 (2, 5)
> [[-2,  0,  1,  0,  1],
>  [ 3,  1, -2,  0,  1]]

Without -o small results are printed.

$ tenon eval "sum(x, axis=0) + 1" x=x.npy
> sum(x, axis=0) + 1: f32 (5,)
> [ 0.,  2., -3., -1.,  1.]
$ tenon eval "x * 2" x=x.npy
> x * 2: f32 (2, 5)
> [[-6., -4., -2.,  0.,  2.],
>  [ 4.,  6., -6., -4., -2.]]

Numbers are weak: a fraction beside u8 is f32, beside i32 f64, and op says the same.

$ tenon eval "u / 255" u=u.npy -o - | tenon info -
> -: npy, 1 tensor, 40 B
> dtype  shape   bytes  align  order
> f32    (2, 5)     40    128  C
$ tenon eval "i / 3" i=i.npy -o a.npy && tenon op div i.npy 3 -o b.npy && cmp a.npy b.npy && tenon info a.npy | tail -1
> f64    (2, 5)     80    128  C
$ tenon eval "u * 0.5" u=u.npy -f -o a.npy && tenon op mul u.npy 0.5 -f -o b.npy && cmp a.npy b.npy && tenon info a.npy | tail -1
> f32    (2, 5)     40    128  C

Broadcasting, pipes, tensors in containers, and a name twice in the text.

$ tenon slice "[0]" x.npy -o row.npy && tenon eval "x - m" x=x.npy m=row.npy -o - | tenon eval "y * y" y=- -o - | tenon show -
> -: f32 (2, 5)
> [[ 0.,  0.,  0.,  0.,  0.],
>  [25., 25.,  4.,  4.,  4.]]
$ tenon eval "w + 1" w=data/many.safetensors:layer.f32 -o w.safetensors:v && tenon info w.safetensors | cut -c -20
> w.safetensors: safet
> name  dtype  shape  
> v     f32    (2, 3, 

Reductions, along axes or all of them.

$ tenon eval "sum(x)" x=x.npy -o - | tenon show -
> -: f32 ()
> -6.
$ tenon eval "max(x, axis=0) - min(x, axis=0)" x=x.npy -o - | tenon show -
> -: f32 (5,)
> [5., 5., 2., 2., 2.]
$ tenon eval "sum(x*i, axis=-1) / sum(x*x, axis=-1)" x=x.npy i=i.npy -o - | tenon show -
> -: f32 (2,)
> [1., 1.]
$ tenon eval "mean(u)" u=u.npy -o - | tenon show -
> -: f64 ()
> 153.

Little memory, much memory: the same bytes.

$ tenon eval "sqrt(x*x + 1) * m" x=x.npy m=row.npy -o big.npy && tenon eval "sqrt(x*x + 1) * m" x=x.npy m=row.npy --max-mem 1 -o small.npy && cmp big.npy small.npy
$ tenon eval "sum(x + m, axis=0)" x=x.npy m=row.npy -f -o big.npy && tenon eval "sum(x + m, axis=0)" x=x.npy m=row.npy --max-mem 1 -f -o small.npy && cmp big.npy small.npy

What it would do.

$ tenon explain eval "sqrt(x*x + 1) + (x*x + 1)" x=x.npy | grep steps | cut -c -12
>   steps    4
$ tenon explain eval "(x / 2 - m) * f32(i)" x=x.npy m=row.npy i=i.npy | grep -v threads
> eval f32 (2, 5): packed
>   text     (x / 2 - m) * f32(i)
>   steps    4: div, sub, f32, mul; 2 buffers
>   dst      f32, dense, in place
>   src x    f32, dense, in place
>   src m    f32, packed into a buffer
>   src i    i32, dense, in place
>   strips   a whole tile
>   tile     2 x 5, 1 tile
>   bytes    100 read, 40 written

$ tenon explain eval --json "x * (2 * 3 + 1)" x=x.npy | grep -o '"steps": 1,'
> "steps": 1,
$ tenon explain eval "sqrt(sum((x - i)**2, axis=0))" x=x.npy i=i.npy | head -4
> eval f32 (5): line
>   why      a sequence is computed block by block
>   text     sqrt(sum((x - i)**2, axis=0))
>   steps    4

A fault has a caret under it.

$ tenon eval "x + sqrt(i)" x=x.npy i=i.npy -o z.npy
2> tenon: eval: sqrt: got i32 at column 5, expected a float or complex dtype; write sqrt(f32(i))
2>     x + sqrt(i)
2>         ^
? 1
$ tenon eval "x + y" x=x.npy -o z.npy
2> tenon: eval: no tensor y was given at column 5
2>     x + y
2>         ^
? 1
$ tenon eval "(x + 1" x=x.npy -o z.npy
2> tenon: eval: unexpected end of the text at column 7
2>     (x + 1
2>           ^
? 1
$ tenon eval "x * * 2" x=x.npy -o z.npy
2> tenon: eval: unexpected * at column 5
2>     x * * 2
2>         ^
? 1
$ tenon eval "u + 300" u=u.npy -o z.npy
2> tenon: eval: 300 does not fit in u8 at column 3; cast the tensor first
2>     u + 300
2>       ^
? 1
$ tenon eval "x / sum(x)" x=x.npy -o z.npy
2> tenon: eval: / of a reduction and a tensor is not supported at column 3
2>     x / sum(x)
2>       ^
? 1
$ tenon eval "$(printf 'x +\n  sqrt(i)')" x=x.npy i=i.npy -o z.npy
2> tenon: eval: sqrt: got i32 at column 7, expected a float or complex dtype; write sqrt(f32(i))
2>       sqrt(i)
2>       ^
? 1

Arguments that are no names and no files.

$ tenon eval "x + 1" x=x.npy y=i.npy -o z.npy
2> tenon eval: the expression does not use y
2> usage: tenon eval TEXT NAME=FILE... [-o OUT]
? 2
$ tenon eval "x + 1" x=x.npy x=i.npy -o z.npy
2> tenon eval: duplicate name x
2> usage: tenon eval TEXT NAME=FILE... [-o OUT]
? 2
$ tenon eval "x + 1" x.npy -o z.npy
2> tenon eval: expected NAME=FILE, got "x.npy"
2> usage: tenon eval TEXT NAME=FILE... [-o OUT]
? 2
$ tenon eval "x + 1" -o z.npy
2> tenon eval: missing argument: NAME=FILE
2> usage: tenon eval TEXT NAME=FILE... [-o OUT]
? 2
$ tenon eval "x + 1" x=x.npy --json -o z.npy
2> tenon eval: --json belongs to tenon explain eval
2> usage: tenon eval TEXT NAME=FILE... [-o OUT]
? 2
$ tenon eval "x + 1" x=nothing.npy -o z.npy
2> tenon: nothing.npy: No such file or directory
? 1
$ tenon eval "x + y" x=x.npy y=data/line.npy -o z.npy
2> tenon: eval: axis 1: extents 5 and 9 do not broadcast
? 1
$ tenon eval "sum(x, axis=2)" x=x.npy -o z.npy
2> tenon: eval: axis 2 is out of range for 2 axes at column 1
2>     sum(x, axis=2)
2>     ^
? 1
$ tenon eval "x + 1" x=x.npy -o x.npy
2> tenon: x.npy already exists; use -f to overwrite
? 1
$ test -e z.npy
? 1

views.t - commands whose result is a view of the file: shown element by element.

$ tenon slice "[0]" data/c_i32.npy -o a.npy && tenon show a.npy
> a.npy: i32 (3, 5)
> [[-3, -2, -1,  0,  1],
>  [ 2,  3, -3, -2, -1],
>  [ 0,  1,  2,  3, -3]]

$ tenon permute 1,0 a.npy -o b.npy && tenon show b.npy
> b.npy: i32 (5, 3)
> [[-3,  2,  0],
>  [-2,  3,  1],
>  [-1, -3,  2],
>  [ 0, -2,  3],
>  [ 1, -1, -3]]

$ tenon permute -1,0 a.npy -o b.npy
2> tenon: b.npy already exists; use -f to overwrite
? 1

$ tenon permute -1,0 a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (5, 3)
> [[-3,  2,  0],
>  [-2,  3,  1],
>  [-1, -3,  2],
>  [ 0, -2,  3],
>  [ 1, -1, -3]]

$ tenon slice "[1, ::2]" a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (3,)
> [ 2, -3, -1]

$ tenon slice "-1, ::-1" a.npy -o - | tenon show -
> -: i32 (5,)
> [-3,  3,  2,  1,  0]

$ tenon slice "[..., None, 2:4]" a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (3, 1, 2)
> [[[-1,  0]],
>
>  [[-3, -2]],
>
>  [[ 2,  3]]]

$ tenon flip -a 0,1 a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (3, 5)
> [[-3,  3,  2,  1,  0],
>  [-1, -2, -3,  3,  2],
>  [ 1,  0, -1, -2, -3]]

$ tenon unsqueeze -a -1 data/line.npy -o c.npy && tenon info c.npy
> c.npy: npy, 1 tensor, 36 B
> dtype  shape   bytes  align  order
> i32    (9, 1)     36    128  C

$ tenon squeeze c.npy -o - | tenon info -
> -: npy, 1 tensor, 36 B
> dtype  shape  bytes  align  order
> i32    (9,)      36    128  C

$ tenon squeeze -a 1 c.npy -o - | tenon info -
> -: npy, 1 tensor, 36 B
> dtype  shape  bytes  align  order
> i32    (9,)      36    128  C

$ tenon squeeze -a 0 c.npy -o -
2> tenon: c.npy: squeeze: axis 0 has extent 9, expected 1
? 1

$ tenon roll 2 -a 1 a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (3, 5)
> [[ 0,  1, -3, -2, -1],
>  [-2, -1,  2,  3, -3],
>  [ 3, -3,  0,  1,  2]]

$ tenon roll -1 -a 0 a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (3, 5)
> [[ 2,  3, -3, -2, -1],
>  [ 0,  1,  2,  3, -3],
>  [-3, -2, -1,  0,  1]]

$ tenon rearrange "h w -> w h" a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (5, 3)
> [[-3,  2,  0],
>  [-2,  3,  1],
>  [-1, -3,  2],
>  [ 0, -2,  3],
>  [ 1, -1, -3]]

$ tenon rearrange "(h p) w -> h (w p)" p=3 a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (1, 15)
> [[-3,  2,  0, ...,  1, -1, -3]]

$ tenon rearrange "-h w -> h w" a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (3, 5)
> [[ 0,  1,  2,  3, -3],
>  [ 2,  3, -3, -2, -1],
>  [-3, -2, -1,  0,  1]]

$ tenon rearrange "h w -> (h 2) w" a.npy -f -o b.npy && tenon show b.npy
> b.npy: i32 (6, 5)
> [[-3, -2, -1,  0,  1],
>  [-3, -2, -1,  0,  1],
>  [ 2,  3, -3, -2, -1],
>  [ 2,  3, -3, -2, -1],
>  [ 0,  1,  2,  3, -3],
>  [ 0,  1,  2,  3, -3]]

$ tenon slice "[0, 0]" a.npy -o - | tenon rearrange "-> 1" - -o - | tenon show -
> -: i32 (1,)
> [-3]

$ tenon permute 0,1 data/f_f32.npy -o d.npy
2> tenon: data/f_f32.npy: permute: got 2 axes for a 3-d tensor
? 1

$ tenon permute 0,0,1 data/f_f32.npy -o d.npy
2> tenon: data/f_f32.npy: permute: axes[1] repeats axis 0
? 1

$ tenon permute 0,5,1 data/f_f32.npy -o d.npy
2> tenon: data/f_f32.npy: permute: axis 5 is out of range for a 3-d tensor
? 1

$ tenon permute 0,x data/f_f32.npy -o d.npy
2> tenon permute: AXES: got "0,x", expected integers separated by commas
2> usage: tenon permute AXES IN -o OUT
? 2

$ tenon slice "[7]" a.npy -o d.npy
2> tenon: a.npy: slice: index 7 of axis 0 is out of range [-3, 3)
? 1

$ tenon slice "[0" a.npy -o d.npy
2> tenon: a.npy: slice: "[0", character 3: mismatched brackets
? 1

$ tenon rearrange "h w -> w" a.npy -o d.npy
2> tenon: a.npy: rearrange: "h w -> w": 'h' at 1 is missing on the right
? 1

$ tenon rearrange "h (w p) -> h w p" p=2 a.npy -o d.npy
2> tenon: a.npy: rearrange: "h (w p) -> h w p": axis 1 of src has extent 5, not a multiple of 2
? 1

$ tenon flip -a 2 a.npy -o d.npy
2> tenon: a.npy: flip: axis 2 is out of range for a 2-d tensor
? 1

$ tenon flip a.npy -o d.npy
2> tenon flip: missing -a AXES
2> usage: tenon flip -a AXES IN -o OUT
? 2

$ test -e d.npy
? 1


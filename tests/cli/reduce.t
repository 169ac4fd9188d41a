reduce.t - reduce, scan, sort, take and stats: results, budgets, bad input.

$ tenon show data/c_i32.npy | head -1
> data/c_i32.npy: i32 (2, 3, 5)
$ tenon slice "[0]" data/c_i32.npy -o a.npy && tenon show a.npy
> a.npy: i32 (3, 5)
> [[-3, -2, -1,  0,  1],
>  [ 2,  3, -3, -2, -1],
>  [ 0,  1,  2,  3, -3]]

Reductions are printed, or written with -o.

$ tenon reduce sum a.npy
> a.npy: i64 ()
> -3
$ tenon reduce sum -a 0 a.npy
> a.npy: i64 (5,)
> [-1,  2, -2,  1, -3]
$ tenon reduce mean -a -1 --keep a.npy
> a.npy: f64 (3, 1)
> [[-1. ],
>  [-0.2],
>  [ 0.6]]
$ tenon reduce sum -a 1 --result i8 a.npy
> a.npy: i8 (3,)
> [-5, -1,  3]
$ tenon reduce var --params 1 a.npy
> a.npy: f64 ()
> 4.6
$ tenon reduce max "h w -> w" a.npy
> a.npy: i32 (5,)
> [2, 3, 2, 3, 1]
$ tenon reduce sum "(h p) w -> h" p=3 a.npy
> a.npy: i64 (1,)
> [-3]
$ tenon reduce argmin -a 0,1 a.npy -o out.npy && tenon show out.npy
> out.npy: i64 ()
> 0
$ tenon reduce sum -a 0 a.npy -o - | tenon show -
> -: i64 (5,)
> [-1,  2, -2,  1, -3]
$ tenon reduce max data/c_f32.npy
> data/c_f32.npy: f32 ()
> 3.

Running ones, order, choice.

$ tenon scan cumsum -a 1 a.npy -o s.npy && tenon show s.npy
> s.npy: i64 (3, 5)
> [[-3, -5, -6, -6, -5],
>  [ 2,  5,  2,  0, -1],
>  [ 0,  1,  3,  6,  3]]
$ tenon scan cummin -a 0 a.npy -o - | tenon show -
> -: i32 (3, 5)
> [[-3, -2, -1,  0,  1],
>  [-3, -2, -3, -2, -1],
>  [-3, -2, -3, -2, -3]]
$ tenon sort -a 1 --descending a.npy -o - | tenon show -
> -: i32 (3, 5)
> [[ 1,  0, -1, -2, -3],
>  [ 3,  2, -1, -2, -3],
>  [ 3,  2,  1,  0, -3]]
$ tenon sort -a 1 --indices a.npy -o i.npy && tenon show i.npy
> i.npy: i64 (3, 5)
> [[0, 1, 2, 3, 4],
>  [2, 3, 4, 0, 1],
>  [4, 0, 1, 2, 3]]
$ tenon slice "[0, 1:3]" i.npy -o rows.npy && tenon show rows.npy
> rows.npy: i64 (2,)
> [1, 2]
$ tenon take -a 1 rows.npy a.npy -o - | tenon show -
> -: i32 (3, 2)
> [[-2, -1],
>  [ 3, -3],
>  [ 1,  2]]
$ tenon cast i8 rows.npy -o small.npy && tenon op neg small.npy -o back.npy && tenon take -a 1 back.npy a.npy -o - | tenon show -
> -: i32 (3, 2)
> [[ 1,  0],
>  [-1, -2],
>  [-3,  3]]

Facts of tensors.

$ tenon stats a.npy
> a.npy  i32  (3, 5)  min -3 max 3 mean -0.2 std 2.072  zeros 2  nan 0  inf 0
$ tenon stats --bins 7 a.npy
> a.npy  i32  (3, 5)  min -3 max 3 mean -0.2 std 2.072  zeros 2  nan 0  inf 0
>   -3 @****** 3   15 in 7 bins, 20 % in the fullest
$ tenon stats --json --bins 3 a.npy
> [{"file": "a.npy", "tensors": [
>   {"name": "", "dtype": "i32", "shape": [3, 5], "n": 15, "min": -3, "max": 3, "mean": -0.20000000000000001, "std": 2.0720360357226739, "zeros": 2, "nan": 0, "inf": 0, "bins": [5, 4, 6]}]}]
$ tenon op div a.npy 0 -o odd.npy && tenon stats odd.npy
> odd.npy  f64  (3, 5)  min - max - mean - std -  zeros 0  nan 2  inf 13
$ tenon slice "[1:1]" a.npy -o none.npy && tenon stats none.npy
> none.npy  i32  (0, 5)  min - max - mean - std -  zeros 0  nan 0  inf 0

A histogram of bool; complex numbers have none.

$ tenon op gt a.npy 0 -o positive.npy && tenon stats --bins 2 positive.npy
> positive.npy  bool  (3, 5)  min 0 max 1 mean 0.4 std 0.4899  zeros 9  nan 0  inf 0
>   0 @* 1   15 in 2 bins, 60 % in the fullest
$ tenon stats --json --bins 2 positive.npy | grep -o '"bins".*'
> "bins": [9, 6]}]}]
$ tenon cast c64 a.npy -o complex.npy && tenon stats --bins 2 complex.npy
> complex.npy  c64  (3, 5)  min - max - mean - std -  zeros 2  nan 0  inf 0
$ tenon stats --json --bins 2 complex.npy | grep -c bins
> 0
? 1

A histogram in blocks, on a terminal that says UTF-8, else in ASCII.

$ python3 -c "import struct; x = b''.join(bytes([v]) * n for v, n in enumerate([1, 2, 3, 0, 4, 5, 6, 7, 8])); head = str({'descr': '|u1', 'fortran_order': False, 'shape': (len(x),)}).encode(); open('levels.npy', 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + head.ljust(117) + b'\n' + x)"
$ tenon stats --bins 9 levels.npy | tail -1
>   0 .:- =+*#@ 8   36 in 9 bins, 22 % in the fullest
$ LC_ALL=C.UTF-8 tenon stats --bins 9 levels.npy | tail -1
>   0 .:- =+*#@ 8   36 in 9 bins, 22 % in the fullest
$ for l in C.UTF-8 C; do LC_ALL=$l python3 -c "import pty; pty.spawn(['tenon', 'stats', '--bins', '9', 'levels.npy'])" | tr -d '\r' | tail -1; done
>   0 ▁▂▃ ▄▅▆▇█ 8   36 in 9 bins, 22 % in the fullest
>   0 .:- =+*#@ 8   36 in 9 bins, 22 % in the fullest

F order; many tensors; progress.

$ tenon convert a.npy -o m.npz && tenon stats m.npz data/f_f32.npy
> m.npz:a  i32  (3, 5)  min -3 max 3 mean -0.2 std 2.072  zeros 2  nan 0  inf 0
> data/f_f32.npy  f32  (2, 3, 5)  min -3 max 3 mean -0.1667 std 2.034  zeros 4  nan 0  inf 0
$ tenon stats --progress a.npy 2>&1 >/dev/null | grep -c '%'
> 1

Budgets, and the order of the file: the same digits.

$ tenon pad --before 0 --after 300,200 --mode wrap a.npy -o p.npy && tenon cast f32 p.npy -o f.npy && tenon op sin f.npy -o w.npy
$ for m in 10k 1M 1G; do for op in sum var max; do tenon reduce $op --max-mem $m w.npy; done; done | sort -u
> -584.37787
> 0.41585514
> 0.9092974
> w.npy: f32 ()
$ for m in 10k 1M 1G; do tenon stats --max-mem $m w.npy; tenon scan cumsum -a 0 --max-mem $m w.npy -o - | cksum; done | sort -u
> 2946270020 248588
> w.npy  f32  (303, 205)  min -0.9093 max 0.9093 mean -0.009408 std 0.6449  zeros 8282  nan 0  inf 0
$ for m in 10k 1M 1G; do for c in "sort -a 0" "sort -a 1 --descending"; do tenon $c --max-mem $m w.npy -o - | cksum; done; done | sort -u
> 3339588857 248588
> 632487322 248588

What would be done.

$ tenon explain reduce sum -a 0 w.npy -o x.npy | grep -v 'time\|plan'
> reduce
>   in      w.npy: f32 (303, 205), 248 kB
>   out     x.npy: f32 (205,), 820 B
>   recipe  reduce: 1 box of up to 62115 elements
>   way     boxes: a few boxes fit into memory, and each reads what it needs of the sources
>   read    248 kB
>   write   820 B
>   memory  at most 4.4 MB for elements
$ tenon explain reduce sum -a 0 w.npy | grep plan | cut -d: -f1
>   plan    sum f32 (205)
$ tenon explain sort -a 0 w.npy --max-mem 10k | grep 'recipe\|way'
>   recipe  sort: 69 boxes of up to 909 elements, the source in order in a temporary file
>   way     reordered: reads are short: a temporary file has the source in order
$ tenon explain scan cumsum -a 0 w.npy -o x.npy | grep -v 'time\|plan'
> scan
>   in      w.npy: f32 (303, 205), 248 kB
>   out     x.npy: f32 (303, 205), 248 kB
>   recipe  scan: 1 box of up to 62115 elements
>   way     in order: the elements lie in the order of the result
>   read    248 kB
>   write   248 kB
>   memory  at most 4.7 MB for elements
$ tenon slice "[0]" i.npy -o order.npy
$ tenon explain take -a 0 order.npy w.npy -o x.npy | grep -v 'time\|plan'
> take
>   index   i64 (5,), 40 B, read into memory first
>   in      w.npy: f32 (303, 205), 248 kB
>   out     x.npy: f32 (5, 205), 4.1 kB
>   recipe  take: 1 box of up to 1025 elements
>   way     boxes: a few boxes fit into memory, and each reads what it needs of the sources
>   read    248 kB
>   write   4.1 kB
>   memory  at most 4.2 MB for elements
$ tenon explain stats w.npy | grep -v time
> stats
>   in      w.npy: f32 (303, 205), 248 kB
>   recipe  stats: 1 box of up to 62115 elements
>   way     boxes: a few boxes fit into memory, and each reads what it needs of the sources
>   read    248 kB
>   write   0 B
>   memory  at most 4.5 MB for elements
$ tenon explain stats --bins 8 w.npy | grep '^  read'
>   read    497 kB
$ for c in "reduce sum -a 0" "scan cumsum -a 0" "sort -a 0" "take -a 0 order.npy" "stats" "permute 1,0"; do tenon explain $c --json w.npy | python3 -c "import json, sys; x = json.load(sys.stdin); print(x['command'], x['in'][0]['path'], x.get('out', {}).get('shape'), x['stream']['recipe'], x['stream']['way'], x['stream']['boxes'], (x['plan'] or {}).get('call'))"; done
> reduce w.npy [205] reduce boxes 1 sum
> scan w.npy [303, 205] scan in order 1 cumsum
> sort w.npy [303, 205] sort boxes 1 None
> take w.npy [5, 205] take boxes 1 None
> stats w.npy None stats boxes 1 None
> permute w.npy [205, 303] copy boxes 1 rearrange
$ tenon sort --json -a 0 w.npy -o x.npy
2> tenon sort: unknown option --json
2> usage: tenon sort -a AXIS IN -o OUT
? 2

Bad input.

$ tenon reduce
2> tenon reduce: missing argument: OP; tenon help reduce lists the reductions
2> usage: tenon reduce OP [-a AXES] IN [-o OUT]
? 2
$ tenon reduce smu a.npy
2> tenon reduce: unknown reduction "smu"; tenon help reduce lists them
2> usage: tenon reduce OP [-a AXES] IN [-o OUT]
? 2
$ tenon reduce sum
2> tenon reduce: missing argument: IN
2> usage: tenon reduce OP [-a AXES] IN [-o OUT]
? 2
$ tenon reduce sum -a 2 a.npy
2> tenon: a.npy: reduce: axis 2 is out of range for a 2-d tensor
? 1
$ tenon reduce sum -a 0,0 a.npy
2> tenon: a.npy: reduce: axes: got axis 0 twice, expected each once
? 1
$ tenon reduce norm a.npy
2> tenon: a.npy: reduce: src: got i32, expected floats or complex numbers for norm
? 1
$ tenon reduce var --params 1,2 a.npy
2> tenon reduce: var takes 1 parameter, --params has 2
2> usage: tenon reduce OP [-a AXES] IN [-o OUT]
? 2
$ tenon reduce sum --result f32 a.npy
2> tenon: a.npy: reduce: --result: got f32, expected an integer dtype for sum of i32
? 1
$ tenon reduce sum --result i8 odd.npy
2> tenon: odd.npy: reduce: --result: got i8, expected f64 for sum of f64
? 1
$ tenon reduce mean --result i8 data/f_f32.npy
2> tenon: data/f_f32.npy: reduce: --result: got i8, expected f32 or f64 for mean of f32
? 1
$ tenon reduce argmax --result u8 a.npy
2> tenon: a.npy: reduce: --result: got u8, expected i64 or i32 for argmax of i32
? 1
$ tenon scan cumsum -a 0 --result i8 data/f_f32.npy -o x.npy
2> tenon: data/f_f32.npy: scan: --result: got i8, expected f32 or f64 for sum of f32
? 1
$ tenon scan cummax -a 0 --result i8 a.npy -o x.npy
2> tenon: a.npy: scan: --result: got i8, expected i32 for cummax of i32
? 1
$ tenon reduce max none.npy
2> tenon: none.npy: reduce: max of no elements
? 1
$ tenon reduce sum -a 0 p.npy -o out.npy
2> tenon: out.npy already exists; use -f to overwrite
? 1
$ tenon reduce sum "h w -> h w" p.npy
2> tenon reduce: missing -o OUT: the result has 62115 elements, up to 1000 are printed
2> usage: tenon reduce OP [-a AXES] IN [-o OUT]
? 2
$ tenon reduce sum "h (w 7) -> h" a.npy
2> tenon: a.npy: reduce: "h (w 7) -> h": axis 1 of src has extent 5, not a multiple of 7
? 1
$ tenon reduce sum "h w -> w" -a 0 a.npy
2> tenon reduce: -a cannot be combined with a pattern
2> usage: tenon reduce OP [-a AXES] IN [-o OUT]
? 2
$ tenon reduce sum "h w w" a.npy
2> tenon: a.npy: reduce: "h w w": 'w' at 5 repeats the one at 3
? 1
$ tenon reduce sum "h w -> (w" a.npy
2> tenon: a.npy: reduce: "h w -> (w": '(' at 8 is not closed
? 1
$ tenon reduce sum "h 4 -> h" a.npy
2> tenon: a.npy: reduce: "h 4 -> h": axis 1 of src has extent 5, not 4
? 1
$ tenon reduce sum --tensors '*' data/many.safetensors
2> tenon reduce: --tensors needs -o OUT
2> usage: tenon reduce OP [-a AXES] IN [-o OUT]
? 2
$ tenon scan cumsun -a 0 a.npy -o x.npy
2> tenon scan: unknown scan "cumsun": cumsum, cumprod, cummax, cummin or logcumsumexp
2> usage: tenon scan OP -a AXIS IN -o OUT
? 2
$ tenon scan cumsum a.npy -o x.npy
2> tenon scan: missing -a AXES
2> usage: tenon scan OP -a AXIS IN -o OUT
? 2
$ tenon scan cumsum -a 0,1 a.npy -o x.npy
2> tenon scan: -a takes one axis, got 2
2> usage: tenon scan OP -a AXIS IN -o OUT
? 2
$ tenon scan cumsum -a 0 a.npy
2> tenon scan: missing -o OUT
2> usage: tenon scan OP -a AXIS IN -o OUT
? 2
$ tenon scan logcumsumexp -a 0 a.npy -o x.npy
2> tenon: a.npy: scan: src: got i32, expected floats for logcumsumexp
? 1
$ tenon sort a.npy -o x.npy
2> tenon sort: missing -a AXES
2> usage: tenon sort -a AXIS IN -o OUT
? 2
$ tenon take -a 0 i.npy a.npy -o x.npy
2> tenon: a.npy: take: index 3 at (0, 3) is not in [-3, 3)
? 1
$ tenon take -a 0 i.npy a.npy -o - | wc -c
> 0
2> tenon: a.npy: take: index 3 at (0, 3) is not in [-3, 3)
$ tenon take -a 0 w.npy a.npy -o x.npy
2> tenon: a.npy: take: index: got f32, expected an integer
? 1
$ tenon take -a 0 a.npy -o x.npy
2> tenon take: missing argument: IN
2> usage: tenon take -a AXIS INDEX IN -o OUT
? 2
$ tenon stats
2> tenon stats: missing argument: FILE
2> usage: tenon stats FILE...
? 2
$ tenon stats -h | grep -o 'std is that of the population'
> std is that of the population
$ tenon stats missing.npy a.npy
> a.npy  i32  (3, 5)  min -3 max 3 mean -0.2 std 2.072  zeros 2  nan 0  inf 0
2> tenon: missing.npy: No such file or directory
? 1
$ tenon stats --bins 5000 a.npy
2> tenon stats: --bins takes a number of bins, got "5000", expected 1 to 4096
2> usage: tenon stats FILE...
? 2
$ tenon stats --bins 0 a.npy
2> tenon stats: --bins takes a number of bins, got "0", expected 1 to 4096
2> usage: tenon stats FILE...
? 2
$ tenon stats --bins x a.npy
2> tenon stats: --bins takes a number of bins, got "x", expected 1 to 4096
2> usage: tenon stats FILE...
? 2
$ tenon stats --bins 4k a.npy
2> tenon stats: --bins takes a number of bins, got "4k", expected 1 to 4096
2> usage: tenon stats FILE...
? 2
$ tenon stats --tensors nothing a.npy
2> tenon: a.npy: no tensor matches "nothing"
? 1
$ ls x.npy
2> ls: cannot access 'x.npy': No such file or directory
? 2

einsum.t - products of tensors in files, summed over shared axes.

$ tenon slice "[0]" data/c_i32.npy -o a.npy && tenon show a.npy
> a.npy: i32 (3, 5)
> [[-3, -2, -1,  0,  1],
>  [ 2,  3, -3, -2, -1],
>  [ 0,  1,  2,  3, -3]]

The two grammars.

$ tenon einsum "ij,kj->ik" a.npy a.npy -o g.npy && tenon show g.npy
> g.npy: i32 (3, 3)
> [[ 15, -10,  -7],
>  [-10,  27,  -6],
>  [ -7,  -6,  23]]
$ tenon einsum "row col, other col -> row other" a.npy a.npy -o - | cmp - g.npy
$ tenon einsum "ij,kj" a.npy a.npy -o - | cmp - g.npy
$ tenon einsum "...j,...j->..." a.npy a.npy -o - | tenon show -
> -: i32 (3,)
> [15, 27, 23]
$ tenon einsum "ij->j" a.npy -o - | tenon show -
> -: i32 (5,)
> [-1,  2, -2,  1, -3]
$ tenon einsum "ij,kj,il->kl" a.npy a.npy g.npy -o - | tenon show -
> -: i32 (3, 3)
> [[ 374, -378, -206],
>  [-378,  865, -230],
>  [-206, -230,  614]]

Without -o small results are printed.

$ tenon einsum "ij,ij->" a.npy a.npy
> ij,ij->: i32 ()
> 65
$ tenon einsum "ij,kl,mn->ijklmn" a.npy a.npy a.npy
2> tenon einsum: missing -o OUT: the result has 3375 elements, up to 1000 are printed
2> usage: tenon einsum TEXT IN... [-o OUT]
? 2

Text that does not fit, and files that do not.

$ tenon einsum "ij,jk->ik" a.npy a.npy -o x.npy
2> tenon: einsum: src 1: axis 0 ("j") has extent 3, expected 5
? 1
$ tenon einsum "ij,jk->iz" a.npy a.npy -o x.npy
2> tenon: einsum: "ij,jk->iz": 'z' at column 9 is on the right but not on the left
? 1
$ tenon einsum "ij->i" a.npy a.npy -o x.npy
2> tenon: einsum: "ij->i": '->' at column 3 makes 1 terms for 2 sources
? 1
$ tenon einsum "ij,kj->ik" a.npy nothing.npy -o x.npy
2> tenon: nothing.npy: No such file or directory
? 1
$ tenon einsum "ij,kj->ik" a.npy a.npy -o g.npy
2> tenon: g.npy already exists; use -f to overwrite
? 1
$ tenon einsum "ij->i" -o x.npy
2> tenon einsum: missing argument: IN
2> usage: tenon einsum TEXT IN... [-o OUT]
? 2

What it would do.

$ tenon explain einsum "ij,kj->ik" a.npy a.npy -o z.npy | grep -v blas
> einsum ij,kj->ik
>   in      a.npy: i32 (3, 5), 60 B
>   in      a.npy: i32 (3, 5), 60 B
>   out     z.npy: i32 (3, 3), 36 B
>   tile    (3, 3), in 1 box
>   read    120 B at most: a source is read again for each box that needs it
>   write   36 B

$ tenon explain einsum --json "ij,kj->ik" a.npy a.npy -o z.npy | python3 -c "import json, sys; x = json.load(sys.stdin); print(x['command'], x['text'], x['out'], x['tile'], x['boxes']); print(x['in'][1], x['plan']['way'], x['plan']['flops'])"
> einsum ij,kj->ik {'path': 'z.npy', 'dtype': 'i32', 'shape': [3, 3], 'bytes': 36} [3, 3] 1
> {'path': 'a.npy', 'dtype': 'i32', 'shape': [3, 5], 'bytes': 60} small 90
$ tenon einsum --json "ij,kj->ik" a.npy a.npy -o z.npy
2> tenon einsum: --json belongs to tenon explain einsum
2> usage: tenon einsum TEXT IN... [-o OUT]
? 2

Three budgets and another layout of the file give the same bytes: the result is larger than one
row of tiles.

$ tenon cast f32 data/c_i32.npy -o - | tenon slice "[0]" - -o - | tenon op div - 7 -o f.npy
$ tenon pad --after 1397,0 --mode wrap f.npy -o - | tenon pad --after 0,795 --mode wrap - -o big.npy
$ tenon einsum "ij,kj->ik" big.npy big.npy -o big1.npy
$ tenon einsum "ij,kj->ik" big.npy big.npy --max-mem 1M -o big2.npy && cmp big1.npy big2.npy
$ tenon einsum "ij,kj->ik" big.npy big.npy --max-mem 8M -o big3.npy && cmp big1.npy big3.npy
$ tenon einsum "ij,kj->ik" big.npy big.npy --max-mem 30M -o big4.npy && cmp big1.npy big4.npy
$ tenon permute 1,0 big.npy -o - | LC_ALL=C sed '1s/False/True /; 1s/(800, 1400)/(1400, 800)/' > fortran.npy
$ tenon info fortran.npy | tail -1
> f32    (1400, 800)  4480000    128  F
$ tenon einsum "ij,kj->ik" fortran.npy big.npy --max-mem 8M -o big5.npy && cmp big1.npy big5.npy
$ tenon explain einsum "ij,kj->ik" big.npy big.npy --max-mem 8M -o z.npy | grep tile
>   tile    (256, 350), in 6 boxes

A batch of products whose axis before the last two fits a box several times: the same bytes.

$ tenon pad --after 3,0,0 --mode wrap data/c_i32.npy -o - | tenon cast f32 - -o - | tenon op div - 7 -o b3.npy
$ tenon pad --after 0,397,0 --mode wrap b3.npy -o - | tenon pad --after 0,0,91 --mode wrap - -o batch.npy
$ tenon einsum "bij,bkj->bik" batch.npy batch.npy -o batch1.npy
$ tenon einsum "bij,bkj->bik" batch.npy batch.npy --max-mem 1M -o batch2.npy && cmp batch1.npy batch2.npy
$ tenon einsum "bij,bkj->bik" batch.npy batch.npy --max-mem 4M -o batch3.npy && cmp batch1.npy batch3.npy

Sums that are longer than a tile are cut, too, at the same indices for every budget: in f32, in halves,
whose pieces are kept in f32, and in integers, which are exact.

$ tenon explain einsum "ij,ij->" big.npy big.npy --max-mem 1M -o z.npy | tail -4 | grep -v blas
>   tile    (), in 1 box
>   read    9.0 MB at most: a source is read again for each box that needs it
>   write   4 B
$ tenon einsum "ij,ij->" big.npy big.npy -o sum1.npy
$ tenon einsum "ij,ij->" big.npy big.npy --max-mem 1M -o sum2.npy && cmp sum1.npy sum2.npy
$ tenon einsum "ij,ij->" fortran.npy big.npy --max-mem 9M -o sum3.npy && cmp sum1.npy sum3.npy
$ tenon cast f16 big.npy -o half.npy && tenon pad --after 1400,0 --mode wrap half.npy -o half2.npy
$ tenon einsum "ij,ik->jk" half2.npy half2.npy -o half3.npy
$ tenon einsum "ij,ik->jk" half2.npy half2.npy --max-mem 1M -o half4.npy && cmp half3.npy half4.npy
$ tenon einsum "ij,ik->jk" half2.npy half2.npy --max-mem 20M -o half5.npy && cmp half3.npy half5.npy
$ tenon cast f32 half2.npy -o - | tenon einsum "ij,ik->jk" - half2.npy -o - | tenon cast f16 - -o half6.npy
$ tenon diff half3.npy half6.npy --atol 0.0001 --rtol 0.001
> 1 equal, 0 within tolerance, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon op mul big.npy 70 -o - | tenon cast i32 - -o whole.npy
$ tenon einsum "ij,ij->" whole.npy whole.npy --max-mem 1M -o whole1.npy
$ tenon op mul whole.npy whole.npy -o - | tenon cast i32 - -o - | tenon reduce sum - -o - | tenon cast i32 - -o whole2.npy && cmp whole1.npy whole2.npy
$ tenon op gt whole.npy 1000 -o no.npy && tenon pad --before 1400,0 --value 1 no.npy -o - | tenon pad --after 1400,0 --value 0 - -o yes.npy
$ tenon einsum "ij,ij->" yes.npy yes.npy --max-mem 1M -o - | tenon show -
> -: bool ()
> true

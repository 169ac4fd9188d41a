names.t - names by rules: rename --rules, diff --rules, tensors found by equal bytes; many files joined.

$ printf '%s\n' '# the layers' 'layers.{i}.weight -> blocks.{i}.w' 'layers.{i}.bias -> blocks.{i}.b' 'step -> drop' >names.txt
$ tenon rename --rules names.txt data/set -o r.safetensors && tenon info r.safetensors | tail -n +3
> blocks.0.w  f32    (2, 3, 5)    120      8  C
> blocks.0.b  f32    (5,)          20     16  C
> blocks.1.w  f32    (2, 3, 5)    120      4  C
> blocks.1.b  f32    (5,)          20      4  C
$ tenon rename layers.0.bias=first --rules names.txt data/set -o f.safetensors && tenon info f.safetensors | tail -n +3
> blocks.0.w  f32    (2, 3, 5)    120      8  C
> first       f32    (5,)          20     16  C
> blocks.1.w  f32    (2, 3, 5)    120      4  C
> blocks.1.b  f32    (5,)          20      4  C
$ tenon diff --rules names.txt data/set r.safetensors
> 4 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon diff data/set r.safetensors
> only in A  step  i32 ()
> renamed    layers.0.weight  to blocks.0.w
> renamed    layers.0.bias  to blocks.0.b
> renamed    layers.1.weight  to blocks.1.w
> renamed    layers.1.bias  to blocks.1.b
> 0 equal, 0 different, 1 only in A, 0 only in B, 4 renamed
? 1
$ tenon diff --structure --rules names.txt data/set r.safetensors
> 4 alike, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon rename blocks.0.b=b0 r.safetensors -o u.safetensors && tenon diff r.safetensors u.safetensors
> renamed    blocks.0.b  to b0
> 3 equal, 0 different, 0 only in A, 0 only in B, 1 renamed
? 1
$ tenon diff --json --rules names.txt data/set u.safetensors
> {"equal": 3, "tensors": [
>   {"what": "renamed", "a": "layers.0.bias", "b": "b0"}
> ]}
? 1

$ tenon op mul data/set:layers.0.bias 1 -o a.npy && tenon merge a.npy data/line.npy -o p.npz && tenon rename a=z p.npz -o q.npz && tenon diff p.npz q.npz
> renamed    a  to z
> 1 equal, 0 different, 0 only in A, 0 only in B, 1 renamed
? 1

What is refused.

$ printf '%s\n' 'layers.{i}.weight @0 -> x' >bad.txt; tenon rename --rules bad.txt data/set -o no.safetensors
2> tenon: bad.txt:1: the rule does more than rename; use tenon reshard
? 2
$ printf '%s\n' 'layers.{i}.weight -> = : cast f16' >bad.txt; tenon diff --rules bad.txt data/set data/set
2> tenon: bad.txt:1: the rule does more than rename; use tenon reshard
? 2
$ printf '%s\n' 'nothing -> x' >bad.txt; tenon rename --rules bad.txt data/set -o no.safetensors
2> tenon: bad.txt:1: no tensor matches "nothing"
? 1
$ printf '%s\n' '? nothing -> x' >ok.txt; tenon rename --rules ok.txt data/set -o same.safetensors && tenon diff data/set same.safetensors
> 5 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ printf '%s\n' '** -> x' >bad.txt; tenon rename --rules bad.txt data/set -o no.safetensors
2> tenon: two tensors are named "x": one in data/set/model-00001-of-00002.safetensors, one in data/set/model-00001-of-00002.safetensors
? 1
$ tenon diff --rules bad.txt data/set r.safetensors >/dev/null; tenon rename layers.0.bias=x data/set -o x.safetensors; tenon diff --rules bad.txt data/set x.safetensors
2> tenon: bad.txt: two tensors are renamed to "x"
? 2
$ printf '%s\n' 'a -> b{y}' >bad.txt; tenon rename --rules bad.txt p.npz -o no.npz
2> tenon: bad.txt:1: the right side has a wildcard that the left one lacks
? 1
$ tenon rename --rules missing.txt p.npz -o no.npz
2> tenon: missing.txt: No such file or directory
? 1
$ tenon rename --rules names.txt
2> tenon rename: missing argument: IN
2> usage: tenon rename [--rules FILE] [OLD=NEW...] IN -o OUT
? 2
$ ls no.*
2> ls: cannot access 'no.*': No such file or directory
? 2

More files than a process may have open are joined.

$ ulimit -n 256; tenon concat -a 0 $(yes data/line.npy | head -1500) -o many.npy && tenon info many.npy | tail -1
> i32    (13500,)  54000    128  C
$ ulimit -n 256; tenon stack -a 0 $(yes data/line.npy | head -1500) -o many2.npy && tenon info many2.npy | tail -1
> i32    (1500, 9)  54000    128  C

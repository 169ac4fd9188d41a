sets.t - every command that takes a file takes a folder and an index.json: what it makes of them is
what it makes of the one file that holds the same tensors.

$ tenon merge data/set -o one.safetensors
$ set -f; for s in data/set data/set/model.safetensors.index.json; do for c in 'show --tensors *' 'stats --tensors *' 'meta'; do tenon $c $s | sed "s,$s,F,g" >a.txt; tenon $c one.safetensors | sed 's,one.safetensors,F,g' | cmp - a.txt || echo "$c: differs"; done; tenon report $s -q -f -o r.html && tenon info $s >i.txt || echo no; done
$ set -f; for s in data/set data/set/model.safetensors.index.json; do for c in 'permute 0,2,1 --tensors *weight' 'slice [0] --tensors *weight' 'squeeze --tensors *' 'flip -a 0 --tensors *weight' 'roll 1 -a 0 --tensors *weight' 'pad --before 1 --tensors *weight' 'cast f16' 'reduce sum -a 0 --tensors *weight' 'scan cumsum -a 0 --tensors *weight' 'sort -a 0 --tensors *weight' 'select *weight' 'drop *bias' 'rename {p...}.bias={p...}.b' 'merge' 'convert' 'meta --set a=b'; do tenon $c $s -f -o a.safetensors && tenon $c one.safetensors -f -o b.safetensors && tenon diff a.safetensors b.safetensors >d.txt || echo "$c: differs"; done; done
$ for s in data/set data/set/model.safetensors.index.json; do tenon op add $s 1 --tensors '*weight' -f -o a.safetensors; tenon op add one.safetensors 1 --tensors '*weight' -f -o b.safetensors; tenon diff a.safetensors b.safetensors; tenon diff $s one.safetensors; done
> 5 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
> 5 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
> 5 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
> 5 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ for s in data/set data/set/model.safetensors.index.json; do tenon concat -a 0 $s:layers.0.weight $s:layers.1.weight -f -o a.npy && tenon stack -a 0 $s:layers.0.weight $s:layers.1.weight -f -o b.npy && tenon eval 'x+1' x=$s:layers.0.weight -f -o c.npy && tenon einsum 'abc->a' $s:layers.0.weight -f -o d.npy; done; tenon info a.npy b.npy c.npy d.npy | grep f32
> f32    (4, 3, 5)    240    128  C
> f32    (2, 2, 3, 5)    240    128  C
> f32    (2, 3, 5)    120    128  C
> f32    (2,)       8    128  C

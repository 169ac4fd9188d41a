edit.t - everyday edits of model files: select, drop, rename, merge, split, meta.

$ tenon select 'layers.0.*' data/set -o first.safetensors && tenon info first.safetensors
> first.safetensors: safetensors, 2 tensors, 140 B
> name             dtype  shape      bytes  align  order
> layers.0.weight  f32    (2, 3, 5)    120      8  C
> layers.0.bias    f32    (5,)          20     16  C
$ tenon select '*.bias' step data/set/model.safetensors.index.json -o some.npz && tenon info some.npz | tail -n +3
> layers.0.bias  f32    (5,)      20     64  C
> layers.1.bias  f32    (5,)      20     64  C
> step           i32    ()         4    128  C
$ tenon select 'layers.9.*' data/set -o no.safetensors
2> tenon: data/set: no tensor matches "layers.9.*"; nearest: layers.0.bias, layers.1.bias, layers.0.weight
? 1
$ tenon select step data/set -o first.safetensors
2> tenon: first.safetensors already exists; use -f to overwrite
? 1
$ tenon select -f step data/set -o first.npy && tenon show first.npy
> first.npy: i32 ()
> 7
$ tenon select step
2> tenon select: missing argument: IN
2> usage: tenon select GLOB... IN -o OUT
? 2
$ tenon select
2> tenon select: missing argument: GLOB
2> usage: tenon select GLOB... IN -o OUT
? 2
$ tenon select step data/set
2> tenon select: missing -o OUT
2> usage: tenon select GLOB... IN -o OUT
? 2
$ tenon select --dry-run '*.1.*' data/set -o x.safetensors; ls x.safetensors
> x.safetensors  layers.1.weight  f32 (2, 3, 5)
> x.safetensors  layers.1.bias  f32 (5,)
2> ls: cannot access 'x.safetensors': No such file or directory
? 2
$ tenon drop 'layers.*' data/set -o rest.safetensors && tenon info rest.safetensors | tail -n +3
> step  i32    ()         4     32  C
$ tenon drop stp data/set -o rest2.safetensors
2> tenon: data/set: no tensor matches "stp"; nearest: step, layers.0.bias, layers.1.bias
? 1

Names by patterns.

$ tenon rename 'layers.{i}.{x}=block_{i}/{x}' step=count data/set -o named.safetensors && tenon info named.safetensors | tail -n +3
> block_0/weight  f32    (2, 3, 5)    120    128  C
> block_0/bias    f32    (5,)          20      8  C
> block_1/weight  f32    (2, 3, 5)    120      4  C
> block_1/bias    f32    (5,)          20      4  C
> count           i32    ()             4      8  C
$ tenon rename --dry-run '{x...}.weight=model.{x...}.w' data/set -o y.safetensors
> y.safetensors  model.layers.0.w  f32 (2, 3, 5)  was layers.0.weight
> y.safetensors  layers.0.bias  f32 (5,)
> y.safetensors  model.layers.1.w  f32 (2, 3, 5)  was layers.1.weight
> y.safetensors  layers.1.bias  f32 (5,)
> y.safetensors  step  i32 ()
$ tenon rename '*.*.*=*/*/*' data/set --dry-run | head -2
> (no -o)  layers/0/weight  f32 (2, 3, 5)  was layers.0.weight
> (no -o)  layers/0/bias  f32 (5,)  was layers.0.bias
$ tenon rename 'nobody=x' data/set -o y.safetensors
2> tenon: data/set: no tensor matches "nobody"; nearest: step, layers.0.bias, layers.1.bias
? 1
$ tenon rename 'layers.{i}.bias=bias' data/set -o y.safetensors
2> tenon: two tensors are named "bias": one in data/set/model-00001-of-00002.safetensors, one in data/set/model-00002-of-00002.safetensors
? 1
$ tenon rename 'layers.{i}.bias={j}' data/set -o y.safetensors
2> tenon: "layers.{i}.bias={j}": the new name has a wildcard that the old one lacks
? 1
$ tenon rename 'layers.{i.bias=b' data/set -o y.safetensors
2> tenon: "layers.{i.bias=b": a pattern has a { that is not {name}, {name...} or {name*}
? 1
$ tenon rename step data/set -o y.safetensors
2> tenon rename: "step" is not OLD=NEW
2> usage: tenon rename [--rules FILE] [OLD=NEW...] IN -o OUT
? 2

Merging; a name twice is refused with both files.

$ tenon merge data/set data/line.npy data/stored.npz:w -o all.safetensors && tenon info all.safetensors | tail -n +3
> layers.0.weight  f32    (2, 3, 5)    120    512  C
> layers.0.bias    f32    (5,)          20      8  C
> layers.1.weight  f32    (2, 3, 5)    120      4  C
> layers.1.bias    f32    (5,)          20      4  C
> step             i32    ()             4      8  C
> line             i32    (9,)          36      4  C
> w                f32    (2, 3, 5)    120     64  C
$ tenon merge data/set data/set/model-00001-of-00002.safetensors -o twice.safetensors
2> tenon: two tensors are named "layers.0.bias": one in data/set/model-00001-of-00002.safetensors, one in data/set/model-00001-of-00002.safetensors
? 1
$ tenon merge data/set -o all2.safetensors; tenon merge data/set all2.safetensors -o twice.safetensors; rm all2.safetensors
2> tenon: two tensors are named "layers.0.bias": one in data/set/model-00001-of-00002.safetensors, one in all2.safetensors
$ tenon merge data/some.gguf -o q.safetensors
2> tenon: data/some.gguf: tensor "t.q8": unsupported element type Q8_0
? 1
$ tenon merge data/set --compress -o x.safetensors
2> tenon merge: --compress needs a .npz result, got -o x.safetensors
2> usage: tenon merge IN... -o OUT
? 2
$ tenon merge -o x.safetensors
2> tenon merge: missing argument: IN
2> usage: tenon merge IN... -o OUT
? 2

What only reads chooses by --tensors; convert points at select.

$ tenon info --tensors '*.bias' data/set
> data/set: set, 2 tensors, 40 B
> name           dtype  shape  bytes  align  order
> layers.0.bias  f32    (5,)      20     16  C
> layers.1.bias  f32    (5,)      20     16  C
$ tenon show --tensors '*.bias' data/set
> data/set:layers.0.bias: f32 (5,)
> [-3., -2., -1.,  0.,  1.]
> data/set:layers.1.bias: f32 (5,)
> [-3., -2., -1.,  0.,  1.]
$ tenon info --tensors 'x*' data/set
2> tenon: data/set: no tensor matches "x*"
? 1
$ tenon show data/set
2> tenon: data/set has 5 tensors; name one as data/set:NAME, or choose some with --tensors
? 1
$ tenon convert --tensors '*.bias' data/set -o x.safetensors
2> tenon convert: --tensors: every tensor is converted; tenon select writes those that match
2> usage: tenon convert IN -o OUT
? 2

Splitting and back: the same bytes.

$ tenon merge data/set -o whole.safetensors; tenon split --shard-size 150 whole.safetensors -o shards && ls shards && cat shards/model.safetensors.index.json
> model-00001-of-00002.safetensors
> model-00002-of-00002.safetensors
> model.safetensors.index.json
> {"metadata": {"total_size": 284}, "weight_map": {
> "layers.0.weight": "model-00001-of-00002.safetensors",
> "layers.0.bias": "model-00001-of-00002.safetensors",
> "layers.1.weight": "model-00002-of-00002.safetensors",
> "layers.1.bias": "model-00002-of-00002.safetensors",
> "step": "model-00002-of-00002.safetensors"
> }}
$ tenon merge shards -o again.safetensors && cmp whole.safetensors again.safetensors && echo the same
> the same
$ tenon split --shard-size 1G whole.safetensors -o one && ls one && cmp one/model.safetensors whole.safetensors && echo the same
> model.safetensors
> the same
$ tenon split --shard-size 1 whole.safetensors -o one
2> tenon: one already exists; use -f to overwrite
? 1
$ tenon split -f --shard-size 100 whole.safetensors -o one/ && ls one | wc -l; ls
> 5
> again.safetensors
> all.safetensors
> data
> first.npy
> first.safetensors
> named.safetensors
> one
> rest.safetensors
> shards
> some.npz
> whole.safetensors
$ tenon split whole.safetensors -o x
2> tenon split: missing --shard-size SIZE
2> usage: tenon split --shard-size SIZE IN -o OUTDIR
? 2
$ tenon split --shard-size 0 whole.safetensors -o x
2> tenon split: --shard-size takes a size such as 512M, got "0"
2> usage: tenon split --shard-size SIZE IN -o OUTDIR
? 2
$ tenon split --dry-run --shard-size 150 whole.safetensors -o x; ls x
> model-00001-of-00002.safetensors  layers.0.weight  f32 (2, 3, 5)
> model-00001-of-00002.safetensors  layers.0.bias  f32 (5,)
> model-00002-of-00002.safetensors  layers.1.weight  f32 (2, 3, 5)
> model-00002-of-00002.safetensors  layers.1.bias  f32 (5,)
> model-00002-of-00002.safetensors  step  i32 ()
2> ls: cannot access 'x': No such file or directory
? 2
$ mkdir left.partial; tenon split --shard-size 150 whole.safetensors -o left
2> tenon: left.partial is left over from an earlier run; use -f to remove it
? 1
$ tenon split --shard-size 150 data/some.gguf -o quantised; ls -d quantised*
2> tenon: data/some.gguf: tensor "t.q8": unsupported element type Q8_0
2> ls: cannot access 'quantised*': No such file or directory
? 2

Metadata.

$ tenon meta data/set
> format: pt
$ tenon meta --set license=mit --set 'a "key"=b\c' data/set -o m.safetensors && tenon meta m.safetensors && tenon meta --json m.safetensors
> format: pt
> license: mit
> a "key": b\c
> {"format":"pt","license":"mit","a \"key\"":"b\\c"}
$ tenon meta --strip format 'a "key"' m.safetensors -o n.safetensors && tenon meta n.safetensors
> license: mit
$ tenon meta --strip --set only=this m.safetensors --dry-run
> {"only": "this"}
$ tenon meta --strip m.safetensors -o bare.safetensors && tenon meta --json bare.safetensors
> {}
$ tenon meta --strip nokey m.safetensors -o o.safetensors
2> tenon: m.safetensors: no key "nokey"
? 1
$ tenon meta --set novalue m.safetensors -o o.safetensors
2> tenon meta: --set takes KEY=VALUE, got "novalue"
2> usage: tenon meta [--set KEY=VALUE...] [--strip [KEY...]] IN [-o OUT]
? 2
$ tenon meta --set a=b m.safetensors -o o.npz
2> tenon: o.npz: only .safetensors holds metadata
? 1
$ tenon meta m.safetensors -o o.safetensors
2> tenon meta: -o needs --set, --strip or --kv
2> usage: tenon meta [--set KEY=VALUE...] [--strip [KEY...]] IN [-o OUT]
? 2
$ tenon meta a b
2> tenon meta: too many arguments
2> usage: tenon meta [--set KEY=VALUE...] [--strip [KEY...]] IN [-o OUT]
? 2
$ tenon meta data/line.npy

reshard.t - rules, what is refused before anything is written, going on after a stop.

$ printf '{p...}.weight + {p...}.bias @0 -> {p...}.both\nstep -> drop\n' >bad.txt; tenon reshard bad.txt data/set -o out
2> tenon: bad.txt:1: shape or dtype does not match that of the first: "layers.0.bias"
? 1
$ printf 'layers.{i}.{x} -> {x}.{i} : cast bf16\nstep -> =\n' >r.txt; tenon reshard r.txt data/set -o out && tenon info out
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
> out: set, 5 tensors, 144 B
> name      dtype  shape      bytes  align  order
> weight.0  bf16   (2, 3, 5)     60      8  C
> bias.0    bf16   (5,)          10      4  C
> weight.1  bf16   (2, 3, 5)     60      2  C
> bias.1    bf16   (5,)          10      2  C
> step      i32    ()             4      4  C
$ tenon reshard r.txt data/set -o out
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: out already exists; use -f to overwrite
? 1
$ tenon reshard r.txt data/set -o out --verify
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
> verified: 1 files, every byte
$ tenon op add out/model.safetensors 1 --tensors bias.1 -f -o out/model.safetensors; tenon reshard r.txt data/set -o out --verify
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: out/model.safetensors: tensor "bias.1" differs at element 0
? 1
$ tenon reshard r.txt data/set -f -o out --shard-size 64 && ls -A out
> proof: 5 inputs, 4 output files, 144 bytes, every output element from one input element, 0 dropped
> model-00001-of-00004.safetensors
> model-00002-of-00004.safetensors
> model-00003-of-00004.safetensors
> model-00004-of-00004.safetensors
> model.safetensors.index.json
$ tenon reshard r.txt data/set -o nowhere --dry-run; ls nowhere
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
2> ls: cannot access 'nowhere': No such file or directory
? 2
$ tenon reshard r.txt data/set --dry-run --proof p.jsonl && head -c 60 p.jsonl && tail -1 p.jsonl
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
> {"tenon":"reshard proof","version":1,"inputs":[{"id":0,"file{"sum":{"inputs":5,"outputs":5,"bytes_out":144,"dropped":0}}

A proof is written whole, or goes to a pipe.

$ echo old >p.jsonl; (ulimit -f 1; tenon reshard r.txt data/set --dry-run --proof p.jsonl >o.txt); cat p.jsonl; ls -A | grep p.jsonl
> old
> p.jsonl
2> tenon: p.jsonl: File too large
$ tenon reshard r.txt data/set --dry-run --proof /dev/stderr 2>&1 >o.txt | wc -l
> 7

What is verified: each file, each tensor, the index, and that there is nothing else.

$ tenon reshard r.txt data/set -q -o v --shard-size 64 >p.txt; rm v/model-00003-of-00004.safetensors; tenon reshard r.txt data/set -o v --shard-size 64 --verify
> proof: 5 inputs, 4 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: v/model-00003-of-00004.safetensors: No such file or directory
? 1
$ tenon reshard r.txt data/set -f -o v --shard-size 64 >p.txt; sed -i s/144/145/ v/model.safetensors.index.json; tenon reshard r.txt data/set -o v --shard-size 64 --verify
> proof: 5 inputs, 4 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: v/model.safetensors.index.json: differs at byte 30
? 1
$ tenon reshard r.txt data/set -f -o v --shard-size 64 >p.txt; rm v/*.json; tenon reshard r.txt data/set -o v --shard-size 64 --verify
> proof: 5 inputs, 4 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: v/model.safetensors.index.json: No such file or directory
? 1
$ tenon reshard r.txt data/set -f -o v >p.txt; tenon merge v data/line.npy -f -o v/model.safetensors; tenon reshard r.txt data/set -o v --verify
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: v/model.safetensors: tensor "line" is unexpected: got 6 tensors, expected 5
? 1
$ tenon reshard r.txt data/set -f -o v >p.txt; tenon drop step v -f -o v/model.safetensors; tenon reshard r.txt data/set -o v --verify
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: v/model.safetensors: tensor "step" is missing
? 1
$ tenon reshard r.txt data/set -f -o v >p.txt; tenon convert data/line.npy -o v/more.safetensors; tenon reshard r.txt data/set -o v --verify
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: v/more.safetensors: unexpected file
? 1

Other files of the inputs' folders: never those that are read, never over a result.

$ cp -r data/set model; echo {} >model/config.json; echo note >model/notes.txt; tenon reshard r.txt model --also '*' -o w >p.txt; ls -A w
> config.json
> model.safetensors
> notes.txt
$ tenon reshard r.txt model --also '*' -o w --verify
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
> verified: 1 files, every byte
$ mkdir one; cp w/model.safetensors one/; echo '** -> = : cast f32' >wide.txt; tenon reshard wide.txt one --also '*' -o x >p.txt; tenon info x | head -3
> x: set, 5 tensors, 284 B
> name      dtype  shape      bytes  align  order
> weight.0  f32    (2, 3, 5)    120      8  C
$ cp w/model.safetensors one/in.safetensors; tenon reshard wide.txt one/in.safetensors --also '*.safetensors' -o y; ls -d y y.partial
> proof: 5 inputs, 1 output files, 284 bytes, every output element from one input element, 0 dropped
2> tenon: one/model.safetensors: --also would overwrite the result of the same name
2> ls: cannot access 'y': No such file or directory
2> ls: cannot access 'y.partial': No such file or directory
? 2

Ranks.

$ echo '** -> = ranks=' >c.txt; tenon reshard c.txt data/set --out-ranks 1 -o r1 && ls r1
> proof: 5 inputs, 1 output files, 284 bytes, every output element from one input element, 0 dropped
> rank-0000-of-0001.safetensors
$ tenon reshard c.txt data/set --out-ranks 0 -o r0
2> tenon reshard: --out-ranks takes a number of ranks, got "0", expected 1 to 9999
2> usage: tenon reshard RULES IN... -o OUTDIR
? 2

Refused with the place.

$ echo 'layers.** -> =' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt: no rule matches tensor "step"
? 1
$ printf '** -> =\nnobody -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:2: the rule matches nothing: "nobody"
? 1
$ printf '?nobody -> =\n** -> =\n' >a.txt; tenon reshard a.txt data/set --dry-run
> proof: 5 inputs, 1 output files, 284 bytes, every output element from one input element, 0 dropped
$ printf 'layers.{i}.weight -> w\n** -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:1: two results are named "w"; the other is on line 1
? 1
$ printf 'layers.0.weight -> a + b @0 1,2\n** -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:1: 3 is the sum of the sizes, which does not match an axis of extent 2 of "layers.0.weight"
? 1
$ printf 'layers.0.bias -> a + b @0 9223372036854775807,9223372036854775807\n** -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:1: 9223372036854775807 is the sum of the sizes, which does not match an axis of extent 5 of "layers.0.bias"
? 1
$ printf 'layers.0.bias -> a + b @0\n** -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:1: 2 results do not divide an axis of extent 5 of "layers.0.bias"
? 1
$ printf 'layers.{i*}.weight @+0 -> w\nlayers.1.bias + nobody @0 -> b\n** -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:2: a partner is missing for "layers.1.bias"
? 1
$ printf 'step : permute 1,0 -> =\n** -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:1: expected a permutation of the axes, got "1,0"
? 1
$ printf 'layers.0.weight : rearrange "a b c -> a b" -> =\n** -> =\n' >a.txt; tenon reshard a.txt data/set -o no
2> tenon: a.txt:1: reshard: "a b c -> a b": 'c' at 5 is missing on the right
? 1
$ printf '** -> = ranks@0\n' >a.txt; tenon reshard a.txt data/set --out-ranks 2 -o no
2> tenon: a.txt:1: 2 ranks do not divide an axis of extent 5 of "layers.0.bias"
? 1
$ printf '** -> =\n' >a.txt; tenon reshard a.txt data/set data/set/model-00001-of-00002.safetensors -o no
2> tenon: tensor "layers.0.weight" is in data/set/model-00001-of-00002.safetensors and in data/set/model-00001-of-00002.safetensors
? 1
$ tenon reshard a.txt data/set/model-00001-of-00002.safetensors data/set/model-00002-of-00002.safetensors --in-ranks -o no
2> tenon: data/set/model-00002-of-00002.safetensors has 3 tensors, data/set/model-00001-of-00002.safetensors has 2
? 1
$ ls -d no*
2> ls: cannot access 'no*': No such file or directory
? 2

Rules that cannot be read.

$ echo 'a b' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: expected -> before "b"
? 2
$ echo 'a ->' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: missing name
? 2
$ printf '\n\na -> b : turn 1\n' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:3: expected permute, cast, rearrange, slice or reshape before "turn"
? 2
$ echo 'a + b -> c' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: several names need an axis such as @0
? 2
$ echo 'a @x -> c' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: expected an axis such as @0 or @+0, got "@x"
? 2
$ echo 'a -> c : cast f99' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: unknown dtype "f99"
? 2
$ echo 'a ranks@ -> c' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: expected a placement such as ranks= or ranks@0/2, got "ranks@"
? 2
$ echo 'a -> b + c @0 1' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: expected as many sizes as names, got "1"
? 2
$ echo 'a : slice "[0 -> b' >b.txt; tenon reshard b.txt data/set -o no
2> tenon: b.txt:1: unterminated quote
? 2
$ tenon reshard gone.txt data/set -o no
2> tenon: gone.txt: No such file or directory
? 1
$ tenon reshard r.txt
2> tenon reshard: missing argument: IN
2> usage: tenon reshard RULES IN... -o OUTDIR
? 2
$ tenon reshard r.txt data/set
2> tenon reshard: missing -o OUTDIR
2> usage: tenon reshard RULES IN... -o OUTDIR
? 2

What an earlier run has left is gone on with, or refused.

$ mkdir left.partial; echo 0123 >left.partial/.plan; tenon reshard r.txt data/set -o left
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
2> tenon: left.partial: is left from another plan; -f removes it
? 1
$ tenon reshard r.txt data/set -o left -f && ls -A left; ls -d left.partial
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
> model.safetensors
2> ls: cannot access 'left.partial': No such file or directory
? 2
$ mkdir bare.partial; tenon reshard r.txt data/set -o bare && diff -r bare left
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
$ mkdir done.partial; echo torn >done.partial/model.safetensors; tenon reshard r.txt data/set -o done && diff -r done left
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
$ mkdir killed.partial; echo torn >killed.partial/.tenon-17-0.tmp; tenon reshard r.txt data/set -o killed && diff -r killed left
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
$ mkdir mine.partial; echo mine >mine.partial/notes; tenon reshard r.txt data/set -o mine; ls mine.partial
> proof: 5 inputs, 1 output files, 144 bytes, every output element from one input element, 0 dropped
> notes
2> tenon: mine.partial: is left from another plan; -f removes it

Inputs that are not stored in row-major order.

$ printf '** -> = : reshape 30\n' >flat.txt; tenon reshard flat.txt data/f_f32.npy -o fo
> proof: 1 inputs, 1 output files, 120 bytes, every output element from one input element, 0 dropped
$ tenon rearrange 'a b c -> (a b c)' data/c_f32.npy -o flat.npy; tenon diff fo/model.safetensors flat.npy
> 1 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ printf '** -> =\n' >same.txt; tenon reshard same.txt data/state.pt -o st && tenon diff st data/state.pt
> proof: 20 inputs, 1 output files, 1730 bytes, every output element from one input element, 0 dropped
> 20 equal, 0 different, 0 only in A, 0 only in B, 0 renamed
$ tenon reshard same.txt data/state.pt -o st --verify
> proof: 20 inputs, 1 output files, 1730 bytes, every output element from one input element, 0 dropped
> verified: 1 files, every byte

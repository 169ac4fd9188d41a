errors.t - what the command says when it is called wrongly.

$ tenon
2> tenon - tensors in files
2> 
2>   info       list the tensors of files
2>   show       print the elements of tensors
2>   rearrange  move axes by a pattern of names
2>   permute    reorder axes
2>   slice      take a part, with Python's subscripts
2>   squeeze    drop axes of extent 1
2>   unsqueeze  insert an axis of extent 1
2>   flip       reverse axes
2>   roll       shift elements around an axis
2>   pad        grow axes
2>   concat     join tensors along an axis
2>   stack      join tensors along a new axis
2>   cast       convert elements
2>   op         compute elementwise, with broadcasting
2>   eval       compute an expression of tensors in one pass
2>   einsum     multiply tensors, summed over the axes they share
2>   reduce     reduce axes: sum, mean, max, var, norm, ...
2>   scan       running sums, products, extremes along an axis
2>   sort       sort along an axis
2>   take       choose indices of an axis, as an embedding does
2>   stats      min, max, mean, std, zeros, NaN and infinities of tensors
2>   convert    write another format
2>   select     keep the tensors whose names match
2>   drop       remove the tensors whose names match
2>   rename     rename tensors
2>   merge      combine the tensors of several files into one
2>   split      split a model into files of a given size
2>   meta       show or change metadata
2>   reshard    join, cut, rename and cast the tensors of a model
2>   diff       compare the tensors of two files
2>   report     write an HTML page about the tensors of files
2>   explain    describe what a command would do
2>   bench      measure this machine and the standard cases
2>   tune       measure and save tuning parameters for this machine
2>   demo       a tour with files of its own
2>   help       this list, or one command
2>   version    print the version
2> 
2> Files: x.npy, x.npz:name, x.safetensors:name, x.gguf:name, x.pt:name, a
2> folder or index.json of shards, - for a pipe of .npy.  See tenon help
2> COMMAND or man tenon for details.
? 2
$ tenon frobnicate
2> tenon: unknown command "frobnicate"; see tenon help
? 2
$ tenon help frobnicate
2> tenon: unknown command "frobnicate"; see tenon help
? 2
$ tenon version | sed 's/[0-9.]* (.*)/V (I)/'
> tenon V (I)
$ tenon help permute
> tenon permute AXES IN -o OUT
>     reorder axes
>
> Axis i of the result is axis AXES[i] of the input, as in NumPy.
>
>     tenon permute 0,3,1,2 in.npy -o out.npy
>
> Options:
>   -o, --out OUT        output file; its suffix selects the format, - is a pipe of .npy
>   -f, --force          overwrite an existing file
>   --name NAME          name of the tensor in OUT (or -o OUT:NAME)
>   --tensors GLOB       change the matching tensors, copy the others as they are; info, show: only these
>   --dtype DTYPE        read the elements as this dtype of the same width
>   --align N            alignment of the data in a .safetensors; 8 by default
>   --max-mem SIZE       memory for elements: 512M, 2G; a quarter of the machine's by default
>   --no-sync            do not wait until OUT is on disk
>   --compress           deflate the members of a .npz
>   --kv FILE            key-values of a .gguf result: another .gguf, or JSON
>   --progress           print progress, line by line
>   -q, --quiet          do not print progress
$ tenon permute --help | head -1
> tenon permute AXES IN -o OUT
$ tenon permute -h | head -1
> tenon permute AXES IN -o OUT
$ tenon explain -h | head -1
> tenon explain COMMAND ...
$ tenon help version
> tenon version
>     print the version
$ tenon help demo
> tenon demo
>     a tour with files of its own
>
> Works in a temporary folder and removes it afterwards.

An arrow without quotes is a redirection to the shell.

$ tenon rearrange h w -> w h data/c_i32.npy -o o.npy; cat w
2> tenon rearrange: the shell took the > of -> as a redirection and created a file named after the next word; quote the pattern: "b h w -> b w h"
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
$ tenon rearrange h w->x h data/c_i32.npy -o o.npy
2> tenon rearrange: the shell took the > of -> as a redirection and created a file named after the next word; quote the pattern: "b h w -> b w h"
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange
2> tenon rearrange: missing argument: PATTERN
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange "h w -> w h"
2> tenon rearrange: missing argument: IN
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange "h w -> w h" p data/c_i32.npy -o o.npy
2> tenon rearrange: "p" is not a size such as p=2; quote the whole pattern
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange "a b c" data/c_i32.npy -o o.npy
2> tenon: data/c_i32.npy: rearrange: "a b c": the end at 6 is reached before a '->'
? 1
$ tenon rearrange "-> a" data/c_i32.npy -o o.npy
2> tenon: data/c_i32.npy: rearrange: "-> a": 'a' at 4 is new and has no size
? 1

Options belong to commands.

$ tenon permute 0 data/line.npy --mode edge -o o.npy
2> tenon permute: unknown option --mode
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 data/line.npy -o
2> tenon permute: -o needs a value
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 data/line.npy --force=yes -o o.npy
2> tenon permute: --force takes no value
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 data/line.npy extra -o o.npy
2> tenon permute: too many arguments
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 -- data/line.npy -o o.npy
2> tenon permute: too many arguments
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute data/line.npy -o o.npy
2> tenon permute: missing argument: IN
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon flip -a=0 data/line.npy -o o.npy
2> tenon flip: unknown option -a=0
2> usage: tenon flip -a AXES IN -o OUT
? 2
$ tenon flip --axis=0 data/line.npy --out=o.npy && tenon show o.npy
> o.npy: i32 (9,)
> [-2, -3,  3,  2,  1,  0, -1, -2, -3]
$ tenon explain info data/line.npy
2> tenon info: only commands that make a file can be explained
2> usage: tenon info FILE...
? 2
$ tenon explain
2> tenon explain: missing argument: COMMAND
2> usage: tenon explain COMMAND ...
? 2
$ tenon demo now
2> tenon demo: too many arguments
2> usage: tenon demo
? 2
$ tenon bench now
2> tenon bench: too many arguments
2> usage: tenon bench
? 2
$ tenon bench --disk data/none
2> tenon: data/none/tenon-bench-in.npy: No such file or directory
? 1

A mistyped command; "--" and options before the command; "--" before a pattern.

$ tenon permut 0 data/line.npy -o o.npy
2> tenon: unknown command "permut"; did you mean permute?
? 2
$ tenon inof data/line.npy
2> tenon: unknown command "inof"; did you mean info?
? 2
$ tenon --max-mem 8M -f --out=o.npy flip -a 0 data/line.npy && tenon show o.npy
> o.npy: i32 (9,)
> [-2, -3,  3,  2,  1,  0, -1, -2, -3]
$ tenon -- flip -a 0 data/line.npy -f -o o.npy && tenon show o.npy
> o.npy: i32 (9,)
> [-2, -3,  3,  2,  1,  0, -1, -2, -3]
$ tenon -q -- flip -a 0 data/line.npy -f -o o.npy
$ tenon -z flip -a 0 data/line.npy
2> tenon: unknown option -z; see tenon help
? 2
$ tenon --force
2> tenon: missing command; see tenon help
? 2
$ tenon --
2> tenon: missing command; see tenon help
? 2
$ tenon rearrange -f -o o.npy -- "-a -> a" data/line.npy && tenon show o.npy
> o.npy: i32 (9,)
> [-2, -3,  3,  2,  1,  0, -1, -2, -3]
$ tenon slice -f -o o.npy -- "-2:" data/line.npy && tenon show o.npy
> o.npy: i32 (2,)
> [-3, -2]
$ tenon slice -2: -f -o o.npy -- data/line.npy && tenon show o.npy
> o.npy: i32 (2,)
> [-3, -2]
$ tenon -f -o o.npy rearrange "-a -> a" data/line.npy && tenon show o.npy
> o.npy: i32 (9,)
> [-2, -3,  3,  2,  1,  0, -1, -2, -3]
$ tenon rearrange -- "-a -> a" data/line.npy -o o.npy
2> tenon rearrange: "data/line.npy" is not a size such as p=2; quote the whole pattern
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange -- data/line.npy
2> tenon rearrange: missing argument: IN
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2

What a file is called does not steer a terminal, and is UTF-8 in JSON.

$ cp data/line.npy "$(printf 'a\033[31mb\302\233c\177\303\251.npy')"; tenon info a*.npy | head -1
> a?[31mb?c?é.npy: npy, 1 tensor, 36 B
$ tenon info a*.npy:x
2> tenon: a*.npy:x: No such file or directory
? 1
$ tenon permute 1,0 a*.npy -o o.npy
2> tenon: a?[31mb?c?é.npy: permute: got 2 axes for a 1-d tensor
? 1
$ tenon show a*.npy | head -1
> a?[31mb?c?é.npy: i32 (9,)
$ tenon explain permute 0 a*.npy | sed -n 2p
>   in      a?[31mb?c?é.npy: i32 (9,), 36 B
$ tenon permute "$(printf '\033')" data/line.npy -o o.npy
2> tenon permute: AXES: got "?", expected integers separated by commas
2> usage: tenon permute AXES IN -o OUT
? 2
$ cp data/line.npy "$(printf 'b\377\303(\340\200\200\355\240\200\364\220\200\200\t\303\251".npy')"; tenon info --json b*.npy | head -1
> [{"file": "b\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\u0009é\".npy", "format": "npy", "metadata": null, "tensors": [

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
2>   convert    write another format
2>   explain    say what a command would do
2>   bench      measure this machine and the standing table
2>   demo       a tour on files that it makes itself
2>   help       this list, or one command
2>   version    print the version
2> 
2> Files: x.npy, x.npz:name, x.safetensors:name, x.gguf:name (read only), - for a
2> pipe of .npy.  tenon help COMMAND says more; so does man tenon.
? 2
$ tenon frobnicate
2> tenon: no command "frobnicate"; tenon help lists them
? 2
$ tenon help frobnicate
2> tenon: no command "frobnicate"; tenon help lists them
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
>   -o, --out OUT        the file to make; its suffix tells the format, - is a pipe of .npy
>   -f, --force          overwrite what is there
>   --name NAME          of the tensor in OUT (or -o OUT:NAME)
>   --tensors GLOB       change the matching tensors, leave the others as they are
>   --dtype DTYPE        read the elements as this dtype of the same width
>   --align N            of the data in a .safetensors; 8 by default
>   --max-mem SIZE       memory for elements: 512M, 2G; a quarter of all by default
>   --no-sync            do not wait until OUT is on the disk
>   --progress           say how far it is, line by line
>   -q, --quiet          no progress
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
>     a tour on files that it makes itself
>
> Works in a temporary folder and removes it.

An arrow without quotes is a redirection to the shell.

$ tenon rearrange h w -> w h data/c_i32.npy -o o.npy; cat w
2> tenon rearrange: the shell took the > of -> for a redirection (and has made a file of the word behind it): put the pattern in quotes, "b h w -> b w h"
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
$ tenon rearrange h w->x h data/c_i32.npy -o o.npy
2> tenon rearrange: the shell took the > of -> for a redirection (and has made a file of the word behind it): put the pattern in quotes, "b h w -> b w h"
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange
2> tenon rearrange: the pattern is missing
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange "h w -> w h"
2> tenon rearrange: the file is missing
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange "h w -> w h" p data/c_i32.npy -o o.npy
2> tenon rearrange: "p" is no size such as p=2; the pattern is one word in quotes
2> usage: tenon rearrange PATTERN [NAME=SIZE...] IN -o OUT
? 2
$ tenon rearrange "a b c" data/c_i32.npy -o o.npy
2> tenon: data/c_i32.npy: pattern: "a b c": the end at 6 comes before a '->'
? 1
$ tenon rearrange "-> a" data/c_i32.npy -o o.npy
2> tenon: data/c_i32.npy: pattern: "-> a": 'a' at 4 is new and has no size
? 1

Options belong to commands.

$ tenon permute 0 data/line.npy --mode edge -o o.npy
2> tenon permute: no option --mode
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 data/line.npy -o
2> tenon permute: -o wants a value
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 data/line.npy --force=yes -o o.npy
2> tenon permute: --force takes no value
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 data/line.npy extra -o o.npy
2> tenon permute: too many words
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute 0 -- data/line.npy -o o.npy
2> tenon permute: too many words
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon permute data/line.npy -o o.npy
2> tenon permute: something is missing
2> usage: tenon permute AXES IN -o OUT
? 2
$ tenon flip -a=0 data/line.npy -o o.npy
2> tenon flip: no option -a=0
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
2> tenon explain: name the command to explain
2> usage: tenon explain COMMAND ...
? 2
$ tenon demo now
2> tenon demo: demo takes nothing
2> usage: tenon demo
? 2
$ tenon bench now
2> tenon bench: bench takes only options
2> usage: tenon bench
? 2

A drawing is no more overwritten than another file, and one that cannot be made is refused before
anything is measured.

$ echo mine >bench.svg; tenon bench --svg bench.svg; cat bench.svg
> mine
2> tenon: bench.svg: is there already; -f overwrites it
$ tenon bench --svg nowhere/bench.svg
2> tenon: nowhere/bench.svg: No such file or directory
? 1
$ tenon bench -f --svg .
2> tenon: .: Is a directory
? 1

What a file is called does not steer a terminal, and is UTF-8 in JSON.

$ cp data/line.npy "$(printf 'a\033[31mb\302\233c\177\303\251.npy')"; tenon info a*.npy | head -1
> a?[31mb?c?é.npy: npy, 1 tensor, 36 B
$ tenon info a*.npy:x
2> tenon: a*.npy:x: No such file or directory
? 1
$ tenon permute 1,0 a*.npy -o o.npy
2> tenon: a?[31mb?c?é.npy: permute: 2 axes are named, the tensor has 1
? 1
$ tenon show a*.npy | head -1
> a?[31mb?c?é.npy: i32 (9,)
$ tenon explain permute 0 a*.npy | sed -n 2p
>   in      a?[31mb?c?é.npy: i32 (9,), 36 B
$ tenon permute "$(printf '\033')" data/line.npy -o o.npy
2> tenon permute: permute takes whole numbers with commas between, not "?"
2> usage: tenon permute AXES IN -o OUT
? 2
$ cp data/line.npy "$(printf 'b\377\303(\340\200\200\355\240\200\364\220\200\200\t\303\251".npy')"; tenon info --json b*.npy | head -1
> [{"file": "b\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\u0009é\".npy", "format": "npy", "metadata": null, "tensors": [

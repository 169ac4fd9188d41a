gguf.t - .gguf as a result: plain types, key-values from IN, from another .gguf, from JSON.

$ tenon meta data/some.gguf
> general.architecture: string "llama"
> general.name: string "golden"
> tokenizer.ggml.tokens: string[3] ["a", "bb", "ccc"]
> x.numbers: i32[3] [1, 2, 3]
$ tenon meta --json data/some.gguf | tee kv.json
> {
>  "general.architecture": "llama",
>  "general.name": "golden",
>  "tokenizer.ggml.tokens": {"string": ["a", "bb", "ccc"]},
>  "x.numbers": {"i32": [1, 2, 3]}
> }
$ tenon drop t.q8 data/some.gguf -o some.gguf && tenon info some.gguf && tenon meta --json some.gguf | cmp - kv.json
> some.gguf: gguf, 8 tensors, 930 B
> name    dtype  shape      bytes  align  order
> t.f32   f32    (2, 3, 5)    120     32  C
> t.f16   f16    (2, 3, 5)     60     32  C
> t.i8    i8     (2, 3, 5)     30     32  C
> t.i16   i16    (2, 3, 5)     60    128  C
> t.i32   i32    (2, 3, 5)    120     64  C
> t.i64   i64    (2, 3, 5)    240     64  C
> t.f64   f64    (2, 3, 5)    240     64  C
> t.bf16  bf16   (2, 3, 5)     60     64  C
> (shapes are in NumPy's order, the fastest axis last; .gguf stores them in reverse)
$ tenon diff data/some.gguf some.gguf
> only in A  t.q8  Q8_0
> 8 equal, 0 different, 1 only in A, 0 only in B, 0 renamed
? 1
$ tenon convert data/line.npy -o line.gguf && tenon info line.gguf && tenon meta line.gguf
> line.gguf: gguf, 1 tensor, 36 B
> name  dtype  shape  bytes  align  order
> line  i32    (9,)      36     64  C
> (shapes are in NumPy's order, the fastest axis last; .gguf stores them in reverse)

JSON and another .gguf give the same key-values.

$ tenon convert data/c_f32.npy --kv kv.json -o j.gguf && tenon convert data/c_f32.npy --kv data/some.gguf -o g.gguf && cmp j.gguf g.gguf && tenon meta --json j.gguf | cmp - kv.json
$ tenon cast f16 data/c_f64.npy --name w --kv kv.json --align 128 -o a.gguf && tenon info a.gguf && tenon meta a.gguf | tail -1
> a.gguf: gguf, 1 tensor, 60 B
> name  dtype  shape      bytes  align  order
> w     f16    (2, 3, 5)     60    128  C
> (shapes are in NumPy's order, the fastest axis last; .gguf stores them in reverse)
> general.alignment: u32 128
$ tenon merge some.gguf data/c_f32.npy --align 64 -o two.gguf && tenon info two.gguf | tail -n +2 | head -3
> name    dtype  shape      bytes  align  order
> t.f32   f32    (2, 3, 5)    120    256  C
> t.f16   f16    (2, 3, 5)     60    128  C

Values of every type, set, kept and stripped.

$ printf '%s' '{"t": "a\u00e9\ud83d\ude00\n\"", "b": true, "u8": {"u8": 255}, "i8": {"i8": -128}, "u16": {"u16": 65535}, "i16": {"i16": -32768}, "u32": {"u32": 4294967295}, "i32": {"i32": -2147483648}, "f32": {"f32": 0.1}, "u64": {"u64": 18446744073709551615}, "i64": {"i64": -9223372036854775808}, "f64": {"f64": 0.1}, "nan": {"f32": ["nan", "inf", "-inf", -0.0]}, "flags": {"bool": [true, false]}, "none": {"string": []}}' >all.json; tenon meta --kv all.json some.gguf -o all.gguf && tenon meta all.gguf
> t: string "aé😀\u000a\""
> b: bool true
> u8: u8 255
> i8: i8 -128
> u16: u16 65535
> i16: i16 -32768
> u32: u32 4294967295
> i32: i32 -2147483648
> f32: f32 0.100000001
> u64: u64 18446744073709551615
> i64: i64 -9223372036854775808
> f64: f64 0.10000000000000001
> nan: f32[4] ["nan", "inf", "-inf", -0]
> flags: bool[2] [true, false]
> none: string[0] []
$ tenon meta --json all.gguf >back.json; tenon meta --kv back.json some.gguf -o again.gguf && cmp all.gguf again.gguf
$ tenon meta --set u8=7 --set t=new --set fresh=word --set count=u32:12 --set b=false --strip i8 i16 all.gguf -o set.gguf && tenon meta set.gguf
> t: string "new"
> b: bool false
> u8: u8 7
> u16: u16 65535
> u32: u32 4294967295
> i32: i32 -2147483648
> f32: f32 0.100000001
> u64: u64 18446744073709551615
> i64: i64 -9223372036854775808
> f64: f64 0.10000000000000001
> nan: f32[4] ["nan", "inf", "-inf", -0]
> flags: bool[2] [true, false]
> none: string[0] []
> fresh: string "word"
> count: u32 12
$ tenon meta --set x.y=1 some.gguf --dry-run | tail -2
>  "x.y": "1"
> }
$ tenon meta --strip all.gguf -o none.gguf && tenon meta none.gguf && tenon diff none.gguf some.gguf
> 8 equal, 0 different, 0 only in A, 0 only in B, 0 renamed

What is refused.

$ tenon meta --set u8=256 all.gguf -o no.gguf
2> tenon: all.gguf: u8: "256" is out of range; it is of type u8
? 1
$ tenon meta --set b=1 all.gguf -o no.gguf
2> tenon: all.gguf: b: "1" is not true or false; it is of type bool
? 1
$ tenon meta --set f32=1e99 all.gguf -o no.gguf
2> tenon: all.gguf: f32: "1e99" is out of range; it is of type f32
? 1
$ tenon meta --set i32=x all.gguf -o no.gguf
2> tenon: all.gguf: i32: "x" is not an integer; it is of type i32
? 1
$ tenon meta --set flags=true all.gguf -o no.gguf
2> tenon: all.gguf: flags is a list; use --kv FILE to set lists
? 1
$ tenon meta --set nothing all.gguf -o no.gguf
2> tenon meta: --set takes KEY=VALUE, got "nothing"
2> usage: tenon meta [--set KEY=VALUE...] [--strip [KEY...]] IN [-o OUT]
? 2
$ tenon meta --strip nothing all.gguf -o no.gguf
2> tenon: all.gguf: no key "nothing"
? 1
$ tenon meta --set a=b some.gguf -o no.safetensors
2> tenon: no.safetensors: only .gguf holds key-values
? 1
$ tenon convert data/c_u32.npy -o no.gguf
2> tenon: no.gguf: tensor "c_u32": .gguf does not support dtype u32
? 1
$ tenon convert data/c_f32.npy --kv kv.json -o no.npy
2> tenon convert: --kv needs a .gguf result, got -o no.npy
2> usage: tenon convert IN -o OUT
? 2
$ tenon convert data/c_f32.npy --kv missing.json -o no.gguf
2> tenon: missing.json: No such file or directory
? 1
$ tenon convert data/c_f32.npy --kv data/c_f32.npy -o no.gguf
2> tenon: data/c_f32.npy: not a .gguf or JSON file
? 1
$ for text in '' '[]' '{' '{"a"}' '{"a": 1}' '{"a": {"u9": 1}}' '{"a": {"u8": 300}}' '{"a": {"u8": "1"}}' '{"a": {"string": [1]}}' '{"a": "\ud800"}' '{"a": "b' '{"a": "b"} x' '{"a": "b", "a": "c"}' '{"a": {"u8": [1}}' '{"general.alignment": {"u32": 48}}' '{"general.alignment": "x"}'; do printf '%s' "$text" >bad.json; tenon convert data/c_f32.npy --kv bad.json -o no.gguf; done; ls no.gguf
2> tenon: bad.json: byte 1: expected an object
2> tenon: bad.json: byte 1: expected an object
2> tenon: bad.json: byte 2: expected a key
2> tenon: bad.json: byte 5: expected ':'
2> tenon: bad.json: byte 7: a number needs its type: {"u32": 5}
2> tenon: bad.json: byte 12: unknown .gguf type
2> tenon: bad.json: byte 17: is out of range
2> tenon: bad.json: byte 14: expected a number, got a string
2> tenon: bad.json: byte 19: expected a string, got a number
2> tenon: bad.json: byte 14: invalid \u escape
2> tenon: bad.json: byte 9: unterminated string
2> tenon: bad.json: byte 12: trailing text after the object
2> tenon: bad.json: byte 16: duplicate key
2> tenon: bad.json: byte 16: unterminated list
2> tenon: no.gguf: alignment is 48, expected a power of two
2> tenon: no.gguf: values, byte 37: general.alignment is not a u32
2> ls: cannot access 'no.gguf': No such file or directory
? 2
$ printf '{"a\377": "b"}' >k.json; tenon convert data/c_f32.npy --kv k.json -o k.gguf
2> tenon: k.json: byte 4: not UTF-8
? 1

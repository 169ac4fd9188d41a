report.t - a page about tensors, and its facts as JSON.

$ tenon report --json data/set | tr , '\n' | head -4
> {"tenon":"report"
> "version":1
> "fingerprint":"de32b2eda815577d"
> "hash":null
$ tenon report --json data/set | grep -o '"columns":.*"tensors"'
> "columns":["file","name","dtype","shape","params","bytes","min","max","mean","std","zeros","nan","inf","subnormal","zero_rows","trouble","hash","log","histogram","line","heat"],"tensors"
$ tenon report --json data/set | grep layers.0
> [0,"layers.0.weight","f32",[2,3,5],30,120,-3,3,-0.16666666666666666,2.034425935955617,4,0,0,0,0,0,null,0,"_AAAA_AAAAzAAAAAzAAAAzAAAAzAAAAz",null,"iVBORw0KGgoAAAANSUhEUgAAAAUAAAADBAMAAACpGNjLAAAAMFBMVEXYG4xEAVRIG21GMn4/R4g2XI0ubo4nf44hkYwfoYctsn1KwW1z0Fag2jnQ4Rz95yUgSSb9AAAAF0lEQVR4AQEMAPP/APpRUACv+lAAFa/wH4YFSZ1fcpQAAAAASUVORK5CYII="],
> [0,"layers.0.bias","f32",[5],5,20,-3,1,-1,1.4142135623730951,1,0,0,0,0,0,null,0,"_AAAAAA_AAAAAAA_AAAAAAAA_AAAAAA_","APfv_"],
$ tenon report --json data/c_i16.npy data/c_bool.npy data/c_f16.npy --hash | grep '^\['
> [0,"","i16",[2,3,5],30,60,-3,3,-0.16666666666666666,2.034425935955617,4,0,0,0,0,0,"fc1c854c2a7ae784",0,"_AAAA_AAAAzAAAAAzAAAAzAAAAzAAAAz",null,"iVBORw0KGgoAAAANSUhEUgAAAAUAAAADBAMAAACpGNjLAAAAMFBMVEXYG4xEAVRIG21GMn4/R4g2XI0ubo4nf44hkYwfoYctsn1KwW1z0Fag2jnQ4Rz95yUgSSb9AAAAF0lEQVR4AQEMAPP/APpRUACv+lAAFa/wH4YFSZ1fcpQAAAAASUVORK5CYII="],
> [1,"","bool",[2,3,5],30,30,0,1,0.3333333333333333,0.4714045207910317,20,0,0,0,0,0,"b5329591ad16e4a6",0,"_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAg",null,"iVBORw0KGgoAAAANSUhEUgAAAAUAAAADBAMAAACpGNjLAAAAMFBMVEXYG4xEAVRIG21GMn4/R4g2XI0ubo4nf44hkYwfoYctsn1KwW1z0Fag2jnQ4Rz95yUgSSb9AAAAF0lEQVR4AQEMAPP/AB8R8AAR8RAA8R8QFAkDU4jins8AAAAASUVORK5CYII="],
> [2,"","f16",[2,3,5],30,60,-3,3,-0.16666666666666666,2.034425935955617,4,0,0,0,0,0,"89b31eca1aa758c1",0,"_AAAA_AAAAzAAAAAzAAAAzAAAAzAAAAz",null,"iVBORw0KGgoAAAANSUhEUgAAAAUAAAADBAMAAACpGNjLAAAAMFBMVEXYG4xEAVRIG21GMn4/R4g2XI0ubo4nf44hkYwfoYctsn1KwW1z0Fag2jnQ4Rz95yUgSSb9AAAAF0lEQVR4AQEMAPP/APpRUACv+lAAFa/wH4YFSZ1fcpQAAAAASUVORK5CYII="]
$ tenon report --json --sample 50% data/c_f32.npy | grep '^\['
> [0,"","f32",[2,3,5],30,120,-3,3,-0.16666666666666666,2.034425935955617,4,0,0,null,0,0,null,0,"_AAAAqAAAAqAAAAAqAAAAqAAAAqAAAAq",null,"iVBORw0KGgoAAAANSUhEUgAAAAUAAAADBAMAAACpGNjLAAAAMFBMVEXYG4xEAVRIG21GMn4/R4g2XI0ubo4nf44hkYwfoYctsn1KwW1z0Fag2jnQ4Rz95yUgSSb9AAAAF0lEQVR4AQEMAPP/APpRUACv+lAAFa/wH4YFSZ1fcpQAAAAASUVORK5CYII="]
$ tenon report --json --tensors '*.bias' data/set | grep -c '^\['
> 2

Facts do not depend on memory or threads, nor on where the tensors lie.

$ tenon report --json --hash data/set >a; OMP_NUM_THREADS=1 tenon report --json --hash --max-mem 5M data/set >b; cmp a b
$ tenon merge data/set -o one.safetensors; for f in data/set one.safetensors; do tenon report --json --hash $f | grep -o '"fingerprint":"[0-9a-f]*","hash":"[0-9a-f]*"'; done | uniq | wc -l
> 1
$ tenon report --json --hash data/c_f32.npy data/f_f32.npy | grep -o '"[0-9a-f]\{16\}",0' | uniq | wc -l
> 1

Quantised tensors, torch's files, what is not read.

$ tenon report --json data/quant.gguf | grep q8_0
> [0,"q8_0","Q8_0",[3,512],1536,null,-17.611328125,16.779296875,-0.04678785831977924,3.8485009695971315,5,0,0,0,0,0,null,0,"BABBABBCBEGINQQf_ZPMLFFEDCCBBBBB",null,"iVBORw0KGgoAAAANSUhEUgAAAC8AAAADBAMAAADxZ0vSAAAAMFBMVEXYG4xEAVRIG21GMn4/R4g2XI0ubo4nf44hkYwfoYctsn1KwW1z0Fag2jnQ4Rz95yUgSSb9AAAAVklEQVR4AQFLALT/ABEWZUVDNFVEQhFpiIZlUiJVMRERJEMREAARP8wRNZhlQSQ1iaIRRFypZlVVIiVEIiAAMzQzIiEiVCEVd1IjQxETRTQ0UxElRomAvv4Sca3IupEAAAAASUVORK5CYII="],
$ tenon report --json data/odd.pt | grep sparse
> [0,"s","sparse, quantized or meta",[],0,null,null,null,null,null,null,null,null,null,null,1024],
> [0,"q","sparse, quantized or meta",[],0,null,null,null,null,null,null,null,null,null,null,1024],
> [0,"m","sparse, quantized or meta",[],0,null,null,null,null,null,null,null,null,null,null,1024],
$ tenon report --json data/state.pt | grep '"f32"' | cut -c1-60
> [0,"f32","f32",[2,3,5],30,120,-3,3,-0.16666666666666666,2.03
> [0,"turned","f32",[5,3,2],30,120,-3,3,-0.16666666666666666,2
> [0,"repeated","f32",[2,4],8,32,1,2,1.5,0.5,0,0,0,0,0,0,null,
> [0,"tied","f32",[2,3,5],30,120,-3,3,-0.16666666666666666,2.0
> [0,"empty","f32",[0,3],0,0,null,null,null,null,0,0,0,0,0,0]

The page holds the same facts, and nothing in a name ends them.

$ tenon report data/set -o page.html && sed -n "/id='data'>/,/^]}/p" page.html | sed "s/.*id='data'>//" >facts; tenon report --json data/set | cmp - facts; head -c 15 page.html; grep -c 'http' page.html
> <!doctype html>0
? 1
$ tenon rename 'step=</script><b>' data/set -o evil.safetensors && tenon report evil.safetensors -o evil.html && grep -c '</script>' evil.html && grep -c '</script><b>' evil.html
> 2
> 0
? 1
$ tenon report data/set -o page.html
2> tenon: page.html already exists; use -f to overwrite
? 1
$ tenon report -f data/set -o page.html; ls
> a
> b
> data
> evil.html
> evil.safetensors
> facts
> one.safetensors
> page.html
$ tenon explain report data/set -o x.html; ls x.html
> 5 tensors are read once
2> ls: cannot access 'x.html': No such file or directory
? 2

What is refused.

$ tenon report data/set
2> tenon report: missing -o OUT
2> usage: tenon report FILE... -o OUT.html
? 2
$ tenon report -o x.html
2> tenon report: missing argument: FILE
2> usage: tenon report FILE... -o OUT.html
? 2
$ tenon report missing.npy -o x.html
2> tenon: missing.npy: No such file or directory
? 1
$ tenon report --sample 0 data/set -o x.html
2> tenon report: --sample takes a share such as 1%, got "0"
2> usage: tenon report FILE... -o OUT.html
? 2
$ tenon report --sample 1x data/set -o x.html
2> tenon report: --sample takes a share such as 1%, got "1x"
2> usage: tenon report FILE... -o OUT.html
? 2
$ tenon report data/set -o nowhere/x.html
2> tenon: nowhere/x.html: No such file or directory
? 1
$ tenon report --tensors nothing data/set -o x.html
2> tenon: data/set: no tensor matches "nothing"
? 1
$ ls x.html
2> ls: cannot access 'x.html': No such file or directory
? 2

A pipe or a device is not replaced.

$ mkfifo pipe.html; tenon report data/set -f -o pipe.html; [ -p pipe.html ] && echo a pipe
> a pipe
2> tenon: pipe.html: not a regular file

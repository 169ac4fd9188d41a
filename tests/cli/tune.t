tune.t - numbers of the machine, kept in a file.

$ tenon explain tune --quick -o t.txt; test ! -e t.txt
> tune: measure for about 100 ms, then write t.txt
$ tenon tune --quick -o t.txt
> t.txt: written
$ head -1 t.txt; wc -l < t.txt
> tenon tune 1
> 5
$ tenon tune --check -o t.txt
> t.txt: in use
$ TENON_TUNE=t.txt tenon tune --check
> t.txt: in use
$ sed 's/^cpu .*/cpu of another kind/' t.txt > u.txt; tenon tune --check -o u.txt 2>&1 | sed 's/, this CPU is.*//'
> tenon: tune: u.txt: measured on of another kind
$ tenon tune --check -o none.txt
2> tenon: tune: none.txt: No such file or directory
? 1
$ echo hello > h.txt; tenon tune --check -o h.txt
2> tenon: tune: h.txt: not a tune file of version 1
? 1

#!/bin/sh
# manual.sh TENON FOLDER - the manual page has every command and option and no fault of form, and
# bash completes from the same words.
set -u
tenon=$1 folder=$2 bad=0
for command in $("$tenon" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^\.BI* *$command\b\|^\.BR $command\b\|^\.B $command\b\|tenon $command" "$folder/tenon.1" ||
        { bad=1 && echo "tenon.1 lacks the command $command"; }
    for option in $("$tenon" help "$command" | sed -n 's/^  .*--\([a-z-]*\) .*/\1/p'); do
        escaped=$(printf %s "--$option" | sed 's/-/\\\\-/g')
        grep -q -e "$escaped" "$folder/tenon.1" || { bad=1 && echo "tenon.1 lacks --$option"; }
    done
done
if command -v mandoc >/dev/null; then
    mandoc -T lint -W error "$folder/tenon.1" || bad=1
elif command -v groff >/dev/null; then
    [ -z "$(groff -man -Tutf8 -ww "$folder/tenon.1" 2>&1 >/dev/null)" ] || { bad=1 && echo "groff complains"; }
fi

# complete WORDS... - what bash offers for the last of them.
complete()
{
    PATH="$(dirname "$tenon"):$PATH" bash -c '. "$0"; COMP_WORDS=(tenon "$@"); COMP_CWORD=$#; _tenon
        echo ${COMPREPLY[*]}' "$folder/tenon.bash" "$@" 2>/dev/null
}
if command -v bash >/dev/null; then
    while read -r words wanted; do
        got=$(complete $(echo "$words" | tr , ' '))
        [ "$got" = "$wanted" ] || { bad=1 && echo "$words: \"$got\", not \"$wanted\""; }
    done <<END
per permute
explain,per permute
cast,bf bf16
op,leaky leaky_relu
reduce,count count_nonzero
scan,log logcumsumexp
sort,--desc --descending
pad,x.npy,--mode,ref reflect
permute,--max --max-mem
info,--m
END
fi
exit $bad

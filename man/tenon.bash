# tenon.bash - completion: commands, their options, dtypes, ops and files, as tenon help has them.
_tenon()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local at=2 words=
    if [ "$COMP_CWORD" -gt 1 ] && [ "$command" = explain ]; then
        command=${COMP_WORDS[2]}
        at=3
    fi
    if [ "$COMP_CWORD" -eq $((at - 1)) ] || [ "$prev" = help ]; then
        words=$(tenon help | sed -n 's/^  \([a-z]*\) .*/\1/p')
    elif [ "$prev" = --mode ]; then
        words='constant edge reflect symmetric wrap'
    elif [ "$prev" = --dtype ] || [ "$prev" = --result ] || { [ "$command" = cast ] && [ "$COMP_CWORD" -eq $at ]; }; then
        words='bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128'
    elif [ "$command" = op ] && [ "$COMP_CWORD" -eq $at ]; then
        words=$(tenon help op | sed -n '/^Ops:/,$p' | sed 1d)
    elif [ "$command" = reduce ] && [ "$COMP_CWORD" -eq $at ]; then
        words=$(tenon help reduce | sed -n '/^Reductions:/,$p' | sed 1d)
    elif [ "$command" = scan ] && [ "$COMP_CWORD" -eq $at ]; then
        words='cumsum cumprod cummax cummin logcumsumexp'
    elif [ "${cur#-}" != "$cur" ]; then
        words=$(tenon help "$command" 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u)
    fi
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _tenon tenon

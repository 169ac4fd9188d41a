#compdef tenon
# tenon.zsh - completion: commands, their options and files, as tenon help has them.
_tenon()
{
    local -a commands options
    local command=${words[2]}
    if (( CURRENT == 2 )); then
        commands=(${(f)"$(tenon help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1:\2/p')"})
        _describe command commands
        return
    fi
    [[ $command == explain ]] && command=${words[3]}
    if [[ ${words[CURRENT - 1]} == --mode ]]; then
        compadd constant edge reflect symmetric wrap
    elif [[ $command == cast && $CURRENT -eq 3 ]]; then
        compadd bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128
    elif [[ $command == op && $CURRENT -eq 3 ]]; then
        compadd $(tenon help op | sed -n '/^Ops:/,$p' | sed 1d)
    elif [[ $command == reduce && $CURRENT -eq 3 ]]; then
        compadd $(tenon help reduce | sed -n '/^Reductions:/,$p' | sed 1d)
    elif [[ $command == scan && $CURRENT -eq 3 ]]; then
        compadd cumsum cumprod cummax cummin logcumsumexp
    elif [[ ${words[CURRENT]} == -* ]]; then
        options=(${(f)"$(tenon help $command 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u)"})
        compadd -a options
    else
        _files
    fi
}
compdef _tenon tenon

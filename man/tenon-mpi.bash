# tenon-mpi.bash - completion: commands, options, dtypes and files, as tenon-mpi help has them.
_tenon_mpi()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=$(tenon-mpi help | grep -o 'tenon-mpi [a-z]*' | cut -d' ' -f2)
    elif [ "$prev" = --dtype ] || { [ "$prev" = cast ] && [ "$COMP_CWORD" -eq 2 ]; }; then
        words='bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128'
    elif [ "${cur#-}" != "$cur" ]; then
        words=$(tenon-mpi help | grep -o -e '--[a-z-]*' | sort -u)
    fi
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _tenon_mpi tenon-mpi

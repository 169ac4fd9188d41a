# tenon_warnings(target): the warnings that every file of the project compiles without.
function(tenon_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
        -Wstrict-prototypes -Wvla -Wstrict-aliasing=2 $<$<BOOL:${TENON_WERROR}>:-Werror>)
endfunction()

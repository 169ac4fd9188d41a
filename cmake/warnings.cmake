# tenon_warnings(target): the warnings that every file of the project compiles without.  Constants are
# enumerators, also where they meet a double; clang 19 counts that as a conversion, gcc does not.
function(tenon_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
        -Wstrict-prototypes -Wvla -Wstrict-aliasing=2
        $<$<AND:$<C_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<C_COMPILER_VERSION>,19>>:-Wno-enum-float-conversion>
        $<$<BOOL:${TENON_WERROR}>:-Werror>)
endfunction()

# TENON_SANITIZE watches everything that is compiled; a report ends the program.
if(TENON_SANITIZE)
    set(flags -fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    add_compile_options(${flags})
    add_link_options(${flags})
endif()

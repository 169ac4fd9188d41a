# tenon.fish - completion: commands and their options, as tenon help has them.
function __tenon_commands
    tenon help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __tenon_options
    set -l words (commandline -opc)
    test (count $words) -gt 1; and tenon help $words[2] 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u
end

complete -c tenon -n '__fish_is_first_token' -f -a '(__tenon_commands)'
complete -c tenon -n 'not __fish_is_first_token; and string match -q -- "-*" (commandline -ct)' -f -a '(__tenon_options)'

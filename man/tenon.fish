# tenon.fish - completion: commands, their options, reductions and scans, as tenon help has them.
function __tenon_commands
    tenon help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __tenon_options
    set -l words (commandline -opc)
    test (count $words) -gt 1; and tenon help $words[2] 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u
end

complete -c tenon -n '__fish_is_first_token' -f -a '(__tenon_commands)'
complete -c tenon -n 'not __fish_is_first_token; and string match -q -- "-*" (commandline -ct)' -f -a '(__tenon_options)'
complete -c tenon -n '__fish_seen_subcommand_from reduce; and test (count (commandline -opc)) -eq 2' -f -a "(tenon help reduce | sed -n '/^Reductions:/,\$p' | sed 1d | string split -n ' ')"
complete -c tenon -n '__fish_seen_subcommand_from scan; and test (count (commandline -opc)) -eq 2' -f -a 'cumsum cumprod cummax cummin logcumsumexp'

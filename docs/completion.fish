# Completion of society(1) for fish. The program itself says what may follow.

function __society_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] 2>/dev/null)
        switch $line
            case '<directory>'
                __fish_complete_directories $word
            case '<file>'
                __fish_complete_path $word
            case '<lua>'
                __fish_complete_directories $word
                string match -- '*.lua' $word*
            case '-*'
                string match -q -- '-*' $word; and echo $line
            case '*'
                echo $line
        end
    end
end

complete -c society -f -a '(__society_complete)'

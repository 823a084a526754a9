# Completion of society(1) for bash. The program itself says what may follow.

_society() {
  local word=${COMP_WORDS[COMP_CWORD]} line
  local words=()
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      '<directory>')
        compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$word")
        ;;
      '<lua>')
        compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
          compgen -d -- "$word"
          compgen -f -X '!*.lua' -- "$word"
        )
        ;;
      -*) [[ $word == -* ]] && words+=("$line") ;;
      *=)
        compopt -o nospace 2> /dev/null
        words+=("$line")
        ;;
      *) words+=("$line") ;;
    esac
  done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "${words[*]}" -- "$word")
}

complete -F _society society

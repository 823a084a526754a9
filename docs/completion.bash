# Completion of society(1) for bash. The program itself says what may follow.

# Joins what bash took apart at = and @: sets `joined` to the words up to the cursor.
_society_words() {
  local rest=$COMP_LINE index piece bare
  joined=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    piece=${COMP_WORDS[index]}
    bare=${rest#"${rest%%[![:space:]]*}"}
    if ((index > 0)) && [[ -n $piece && $bare == "$rest" ]]; then
      joined[${#joined[@]}-1]+=$piece
    else
      joined+=("$piece")
    fi
    rest=${bare#"$piece"}
  done
}

_society() {
  local joined word line start=
  _society_words
  word=${joined[${#joined[@]}-1]}
  # What bash holds for words of their own stays in front of what is put in.
  [[ $word =~ ^(.*[=@:])[^=@:]*$ && $COMP_WORDBREAKS == *"${BASH_REMATCH[1]: -1}"* ]] &&
    start=${BASH_REMATCH[1]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      '<directory>')
        compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$word")
        ;;
      '<file>')
        compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
        ;;
      '<lua>')
        compopt -o filenames 2> /dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
          compgen -d -- "$word"
          compgen -f -X '!*.lua' -- "$word"
        )
        ;;
      -*) [[ $word == -* && $line == "$word"* ]] && COMPREPLY+=("$line") ;;
      "$word"*)
        [[ $line == *= ]] && compopt -o nospace 2> /dev/null
        # Texts of agents may have anything in them.
        line=${line#"$start"}
        [[ $line == *[!A-Za-z0-9_./:=@,-]* ]] && printf -v line %q "$line"
        COMPREPLY+=("$line")
        ;;
    esac
  done < <("${COMP_WORDS[0]}" --complete "${joined[@]:1:${#joined[@]}-2}" 2> /dev/null)
}

complete -F _society society

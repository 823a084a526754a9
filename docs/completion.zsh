#compdef society
# Completion of society(1) for zsh. The program itself says what may follow.

_society() {
  local line
  local -a candidates unfinished options
  while IFS= read -r line; do
    case $line in
      '<directory>') _files -/ ;;
      '<file>') _files ;;
      '<lua>') _files -g '*.lua' ;;
      -*) options+=("$line") ;;
      *=) unfinished+=("$line") ;;
      *) candidates+=("$line") ;;
    esac
  done < <("${words[1]}" --complete "${(@)words[2,CURRENT-1]}" 2> /dev/null)
  compadd -a candidates
  compadd -S '' -a unfinished
  [[ ${words[CURRENT]} == -* ]] && compadd -a options
}

if [[ ${funcstack[1]} == _society ]]; then
  _society "$@"
else
  compdef _society society
fi

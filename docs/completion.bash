# Completion of society(1) for bash.

_society_files() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$1"; compgen -f -X '!*.lua' -- "$1")
}

_society_words() {
  mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
}

_society_options() {
  case $1 in
    run) echo "--state --fresh --policy --set --json --quiet --log --" ;;
    sim) echo "--seed --seeds --faults --limit-ms --limit-steps --dump --policy --set --json" ;;
    inspect) echo "--state --agent --task --type --correlation --since --until --limit --json" ;;
    policy) echo "--state --json" ;;
    send) echo "--to --state --type --json-payload --wait --timeout" ;;
    inbox) echo "--state --agent --json" ;;
    decide) echo "--comment --changes --state --json" ;;
    pause | resume) echo "--all --subtree --reason --state --json" ;;
    redeliver | drop) echo "--state --json" ;;
    attach) echo "--json" ;;
    export) echo "--state" ;;
    replay) echo "--state --policy --app --json" ;;
  esac
}

_society() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]}
  local commands="run sim test check inspect policy send inbox decide pause resume redeliver"
  commands="$commands drop attach export replay init version help"
  local kinds="contacts= briefs= context= deadlock= delivery= gatekeeper= introductions= messages="
  kinds="$kinds presentation= prompts= supervision= tasks="
  local faults="none default evict crash lag raise slow jump fold power full io drop double delay"
  faults="$faults dead model"
  COMPREPLY=()

  if [ "$COMP_CWORD" -eq 1 ]; then
    _society_words "$word" "$commands"
    return
  fi

  case $before in
    --state)
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      return
      ;;
    --app)
      _society_files "$word"
      return
      ;;
    --policy)
      _society_words "$word" "$kinds"
      compopt -o nospace 2> /dev/null
      return
      ;;
    --faults)
      _society_words "$word" "$faults"
      return
      ;;
    --log)
      _society_words "$word" "debug info warn error none"
      return
      ;;
    --set | --seed | --seeds | --agent | --task | --type | --correlation | --since | \
      --until | --limit | --to | --timeout | --comment | --changes | --reason)
      return
      ;;
  esac

  if [[ $word == -* ]]; then
    _society_words "$word" "$(_society_options "$command")"
    return
  fi

  case $command in
    run | sim | check | test) _society_files "$word" ;;
    inspect)
      [ "$COMP_CWORD" -eq 2 ] &&
        _society_words "$word" \
          "agents contacts messages tasks inbox dead-letters activity waits usage policies stats"
      ;;
    decide)
      [ "$COMP_CWORD" -eq 3 ] && _society_words "$word" "approve modify reject"
      ;;
    redeliver | drop)
      _society_words "$word" "$(society inspect dead-letters --json 2> /dev/null |
        sed -n 's/.*"id":"\(msg_[0-9a-f_]*\)".*/\1/p')"
      ;;
    attach)
      if [ "$COMP_CWORD" -eq 2 ]; then
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
      elif [ "$COMP_CWORD" -eq 3 ]; then
        _society_words "$word" \
          "$(sed -n 's/^"\([^"]*\)":{"perspective".*/\1/p' "$before/state/agents.json" 2> /dev/null)"
      fi
      ;;
    policy)
      _society_words "$word" "$kinds"
      compopt -o nospace 2> /dev/null
      ;;
    export)
      [ "$COMP_CWORD" -eq 2 ] && _society_words "$word" "org-json dot mermaid"
      ;;
    help) _society_words "$word" "$commands" ;;
  esac
}

complete -F _society society

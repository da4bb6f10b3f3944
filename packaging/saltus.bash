# Completion of `saltus` for bash. Commands and options are read from the program's own help, so that they cannot differ.
_saltus() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} command=
  local i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} != -* ]] && command=${COMP_WORDS[i]} && break
  done
  case $before in
    --output | --library) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    --report | --json | --input | --data) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    --method) mapfile -t COMPREPLY < <(compgen -W "radau bdf half-explicit derivative-array" -- "$word"); return ;;
    --chattering) mapfile -t COMPREPLY < <(compgen -W "filippov hysteresis stop" -- "$word"); return ;;
  esac
  if [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null |
      awk '/^Subcommands:/ {on = 1; next} /^[^ ]/ {on = 0} on && /^  [a-z]/ {print $1}') --help --version" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" "$command" --help 2>/dev/null | grep -oE '(^| |,)--[a-z][a-z-]*')" -- "$word")
  elif [[ $command == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" help 2>/dev/null | awk '/^  / {print $1}')" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$("$program" examples 2>/dev/null | awk '/^[A-Za-z]/ {print $1}')" -- "$word"
      compgen -f -X '!*.mo' -- "$word"; compgen -d -- "$word")
  fi
}
complete -o filenames -F _saltus saltus

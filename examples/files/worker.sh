#!/bin/sh
# A worker that knows only files, made of tail, grep, sed and echo.
#
#     sh worker.sh DIRECTORY ID
#
# It may be killed at any moment and started again: what it has handled is what it has
# acked. A worker that is silent for longer than the heartbeat's time-out also needs
#     while sleep 10; do date -u +%FT%TZ > "$1/state/heartbeat/$2.ts"; done &
set -u
channel=$1/channel
id=$2
agents=$1/state/agents.json
acks=$channel/agents/$id.ack
out=$channel/agents/$id.out.jsonl

# Registered, we have a line in agents.json; one that says stopped is of an earlier workflow.
# It says which broadcasts came before us: those with ids below this one.
until born=$(grep "^\"$id\":" "$agents" 2> /dev/null | grep -v '"stopped"'); do sleep 0.1; done
born=$(echo "$born" | sed 's/.*"broadcasts_from":"\([^"]*\)".*/\1/')

# What a kill may have left without its end is ended first.
[ -z "$(tail -c 1 "$acks" 2> /dev/null)" ] || echo >> "$acks"
[ -z "$(tail -c 1 "$out" 2> /dev/null)" ] || echo >> "$out"

# field NAME: the text of that member of $line, the last one of that name. Not by echo, which
# may read backslashes.
field() {
  sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' << end
$line
end
}

# The id of the message, which stands in front of all objects in it.
id_of_line() {
  sed -n 's/^{[^{]*"id":"\(msg_[0-9a-f_]*\)".*/\1/p' << end
$line
end
}

ack() {
  echo '{"msg_id":"'"$message"'","status":"'"$1"'"}' >> "$acks"
}

# say JSON: one line, which the message it answers gives its id, so that it counts once.
say() {
  echo '{"id":"'"$id-$message"'",'"$1"'}' >> "$out"
}

# New lines of both files, from their beginnings, also when they are rotated. When the
# workflow is over our queue goes to the archive, and tail says so; when only we are,
# agents.json does.
LC_ALL=C tail -n +1 -F "$channel/agents/$id.jsonl" "$channel/broadcast.jsonl" "$agents" 2>&1 |
  while read -r line; do
    case $line in
      *"/$id.jsonl"*"has become inaccessible"*) break ;;
      "\"$id\":"*'"status":"stopped"'*) break ;;
    esac
    message=$(id_of_line)
    [ -n "$message" ] || continue
    case $line in
      *'"to":"All"'*) [ "$message" \< "$born" ] && continue ;;
    esac
    grep -q "\"$message\",\"status\":\"processed\"" "$acks" 2> /dev/null && continue
    case $(field type) in
      task_assign)
        ack received
        say '"type":"task_complete","payload":{"task_id":"'"$(field task_id)"'","status":"done","output":"'"$(field topic)"' has layers"}'
        ;;
      checkpoint_request)
        say '"type":"checkpoint_response","payload":{"checkpoint_id":"'"$(field checkpoint_id)"'","text":"ready"}'
        ;;
      abort) ;;
      broadcast)
        [ "$(field text)" = goodbye ] && break
        ;;
      *)
        say '"reply_to":"'"$message"'","payload":"yes, I am here"'
        ;;
    esac
    ack processed
  done

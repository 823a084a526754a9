#!/bin/sh
# Drives 17_help_desk.lua over HTTP, with curl and nothing else: drive.sh STATE
#
# Asks two questions, decides what the second needs, and shows what the log has of it.
set -eu
state=${1:-.society}
url=$(cat "$state/http.url")
token=$(cat "$state/http.token")

call() { # call METHOD PATH [JSON]
  curl --silent --show-error --fail-with-body --request "$1" "$url/api/v1$2" \
    --header "Authorization: Bearer $token" \
    ${3:+--header "Content-Type: application/json" --data "$3"}
}

member() { # the first text member NAME of the JSON on stdin
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1
}

echo "== a question, and its answer"
call POST /intake '{"text":"hours","wait_ms":10000}' | member text

echo "== a refund that a person has to decide"
id=$(call POST /intake '{"text":"refund 80"}' | member messageId)

item=
while [ -z "$item" ]; do # the clerk puts it into the inbox
  item=$(call GET /inbox | sed -n 's/.*"id":"\([^"]*\)".*"title":"refund 80?".*/\1/p')
done
call POST "/inbox/$item/decision" '{"decision":"approve","comment":"a good customer"}' |
  member decision

echo "== what became of it"
call GET "/messages/$id?wait_ms=10000" | sed 's/.*"reply":\({.*\)/\1/' | member text

echo "== deciding twice"
call POST "/inbox/$item/decision" '{"decision":"reject"}' 2> /dev/null | member error

echo "== who gave orders"
call GET '/activity?type=order' | sed 's/},{/}\n{/g' | sed -n 's/.*\\"op\\":\\"\([a-z]*\)\\".*/\1/p'

#!/bin/sh
# Two hosts: office.lua and lab.lua, joined by a Redis of their own on a socket.
# Usage: examples/hosts/two.sh [PROGRAM]
set -eu
program=$(realpath "${1:-build/society}")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'kill $(cat "$work"/*.pid) 2> /dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
redis-server --port 0 --unixsocket "$work/redis.sock" --save '' > redis.log &
echo $! > redis.pid
until redis-cli -s redis.sock PING > /dev/null 2>&1; do sleep 0.1; done

"$program" run "$here/lab.lua" --state lab --quiet --redis "unix://$work/redis.sock" --host lab \
  --peers office > lab.log 2>&1 &
echo $! > lab.pid
"$program" run "$here/office.lua" --state office --quiet --once \
  --redis "unix://$work/redis.sock" --host office --peers lab

#!/bin/sh
# Four hosts of one machine: family.lua on each, joined by a Redis of their own on a socket.
# Usage: examples/hosts/four.sh [PROGRAM]
set -eu
program=$(realpath "${1:-build/society}")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'kill $(cat "$work"/*.pid) 2> /dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
redis-server --port 0 --unixsocket "$work/redis.sock" --save '' > redis.log &
echo $! > redis.pid
until redis-cli -s redis.sock PING > /dev/null 2>&1; do sleep 0.1; done

run() { # NAME PEERS [OPTION]
  "$program" run "$here/family.lua" --state "$1" --quiet --redis "unix://$work/redis.sock" \
    --host "$1" --peers "$2" ${3:-} -- "$1"
}
run east north,south,west > east.log 2>&1 & echo $! > east.pid
run south north,east,west > south.log 2>&1 & echo $! > south.pid
run west north,east,south > west.log 2>&1 & echo $! > west.pid
run north east,south,west --once

-- Planted faults of the HTTP door; see list.lua.

local REAL = "a real server, which a simulation does not have"
local LOOK = "pages of lists, which change nothing"

local ENTRY = { "e2e:entry" }
local HEAD = { "unit:head_test" }
local HOSTS = { "unit:hosts_test" }
local LOGINS = { "unit:logins_test" }
local MISSES = { "unit:misses_test" }
local SERVER = { "unit:server_test" }
local STREAMS = { "e2e:streams" }

return {
  {
    name = "two lengths of a body are accepted", file = "core/net/head.c", by = HEAD,
    from = "head->lengths + head->encodings > 1 ||", to = "head->lengths + head->encodings > 2 ||",
    outside = REAL,
  },
  {
    name = "any transfer encoding is accepted", file = "core/net/head.c", by = HEAD,
    from = "        head->is_strange |= !is_same(value, \"chunked\");\n", to = "",
    outside = REAL,
  },
  {
    name = "a request may name two hosts", file = "core/net/head.c", by = HEAD,
    from = "head->hosts > 1 ||", to = "head->hosts > 2 ||",
    outside = REAL,
  },
  {
    name = "a loopback name counts on every port", file = "core/bridge/http/hosts.c", by = HOSTS,
    from = " == hosts->port)", to = " > 0)",
    outside = REAL,
  },
  {
    name = "a login code counts twice", file = "core/bridge/http/logins.c", by = LOGINS,
    from = "    logins->used = used;\n    return true;", to = "    free(used);\n    return true;",
    outside = REAL,
  },
  {
    name = "a login code does not expire", file = "core/bridge/http/logins.c", by = LOGINS,
    from = "ticket.time_ms > now_ms || now_ms - ticket.time_ms >= SOC_WEB_CODE_MS)",
    to = "ticket.time_ms > now_ms)",
    outside = REAL,
  },
  {
    name = "the signature of a ticket is not compared", file = "core/bridge/http/logins.c",
    by = LOGINS,
    from = "    return soc_digest_equal(wanted, given, sizeof(wanted));",
    to = "    return wanted[0] + given[0] >= 0;",
    outside = REAL,
  },
  {
    name = "a code passes for a cookie", file = "core/bridge/http/logins.c", by = LOGINS,
    from = "\"society %s \", kind);", to = "\"society %.0s \", kind);",
    outside = REAL,
  },
  {
    name = "wrong tokens are not limited", file = "core/bridge/http/misses.c", by = MISSES,
    from = "    if (entry->count >= most)\n        return false;", to = "    (void)most;",
    outside = REAL,
  },
  {
    name = "lines of a head may end with a line feed alone", file = "core/net/head.c", by = HEAD,
    from = "        head->is_loose |= head->end + 2 != name.data;\n", to = "", outside = REAL,
  },
  {
    name = "a head may end with two line feeds", file = "core/net/head.c", by = HEAD,
    from = "    head->is_loose |= head->end + 4 != first + bytes;",
    to = "    (void)first, (void)bytes;", outside = REAL,
  },
  {
    name = "a body that is too long is not refused by its length",
    file = "core/net/server_request.c", by = SERVER,
    from = "    if (request->head.length > request->body_bytes_max)",
    to = "    if (request->head.length > request->body_bytes_max && request->closes)",
    outside = REAL,
  },
  {
    name = "trusted connections make way", file = "core/net/server_connection.c", by = SERVER,
    from = "(found->is_trusted || found->is_cut)", to = "found->is_cut",
    outside = REAL,
  },
  {
    name = "a page begins with the last row of the one before",
    file = "core/kernel/operations/agent_pages.c", by = { "unit:agent_pages_test" },
    from = "bool is_wanted = key > page->after &&", to = "bool is_wanted = key >= page->after &&",
    outside = LOOK,
  },
  {
    name = "a page of open items begins with the last one of the page before",
    file = "core/parts/human/human_look.c", by = { "unit:agent_pages_test" },
    from = "place_of(item) > after &&", to = "place_of(item) >= after &&",
    outside = LOOK,
  },
  {
    name = "a page of open items keeps those that are the last",
    file = "core/parts/human/human_look.c", by = { "unit:agent_pages_test" },
    from = "        if (!makes_way(shelf, shelf->items[0], item))\n", to = "        if (true)\n",
    outside = LOOK,
  },
  {
    name = "a listener gets the last line twice", file = "core/kernel/tap.c",
    by = { "unit:tap_test" },
    from = "page->lines[first].line <= listener->cursor",
    to = "page->lines[first].line < listener->cursor",
    outside = "a shared page that is on its way, which takes a thread",
  },
  {
    name = "a cursor right below the first line is not gone", file = "core/store/tables/page.c",
    by = { "unit:page_test" },
    from = "query->before <= first &&", to = "query->before < first &&",
    outside = LOOK,
  },
  {
    name = "a look that waits does not look again when a line comes",
    file = "core/kernel/operations/follow.c", by = { "unit:follow_test" },
    from = "    follow->ask(follow);\n}\n\nstatic bool take_lines",
    to = "}\n\nstatic bool take_lines",
    outside = LOOK,
  },
  {
    name = "any name of a host is let in", file = "core/bridge/http/door_head.c", by = ENTRY,
    from = "if (!check_names(door, request) || respond_publicly", to = "if (respond_publicly",
    outside = REAL,
  },
  {
    name = "a cookie alone makes changes", file = "core/bridge/http/door_head.c", by = ENTRY,
    from = "    if (visitor->is_by_cookie && !soc_door_is_look(request) &&",
    to = "    if (visitor->is_by_cookie && soc_door_is_look(request) && false &&",
    outside = REAL,
  },
  {
    name = "scopes of tokens are not looked at", file = "core/bridge/http/door_head.c", by = ENTRY,
    from = "((visitor->scopes & scope) == 0 || is_barred)", to = "is_barred",
    outside = REAL,
  },
  {
    name = "an agent's token may do what others may", file = "core/bridge/http/door_head.c",
    by = { "e2e:agent_token" },
    from = "((visitor->scopes & scope) == 0 || is_barred)", to = "(visitor->scopes & scope) == 0",
    outside = REAL,
  },
  {
    name = "the header Idempotency-Key is not passed on", file = "core/bridge/http/door_exchange.c",
    by = { "e2e:idempotency" },
    from = "    if (has_key)\n        caller.key = key;\n", to = "",
    outside = REAL,
  },
  {
    name = "a stream begins where lines were removed", file = "core/bridge/http/door_exchange.c",
    by = { "e2e:retention" },
    from = "    } else if (exchange->wish.has_after) {",
    to = "    } else if (exchange->wish.has_after && false) {",
    outside = REAL,
  },
  {
    name = "wrong tokens of an address are not counted", file = "core/bridge/http/entry.c",
    by = ENTRY,
    from = "        return count_miss(entry, request);\n    return cookie",
    to = "        return SOC_ENTRY_WRONG;\n    return cookie",
    outside = REAL,
  },
  {
    name = "tokens are read at the start only", file = "core/bridge/http/tokens.c",
    by = { "e2e:entry", "unit:tokens_test" },
    from = "    renew(tokens);\n    if (soc_digest_equal", to = "    if (soc_digest_equal",
    outside = REAL,
  },
  {
    name = "streams of a removed token go on", file = "core/bridge/http/streams.c", by = STREAMS,
    from = "if (!soc_entry_holds(streams->entry, each->visitor))", to = "if (streams->is_stopped)",
    outside = REAL,
  },
  {
    name = "a listener begins again where it first began", file = "core/bridge/http/streams.c",
    by = STREAMS,
    from = "if (fault == NULL && last.length > 0)", to = "if (fault == NULL && last.length > 99)",
    outside = REAL,
  },
  {
    name = "words are kept for whoever does not read", file = "core/bridge/http/streams.c",
    by = { "e2e:deaf_listeners" },
    from = "held(stream) + length > SOC_STREAM_BYTES_MAX", to = "length > SOC_STREAM_BYTES_MAX",
    outside = REAL,
  },
  {
    name = "a WebSocket may owe its answer to a ping", file = "core/net/websocket.c",
    by = { "unit:websocket_test" },
    from = ">= SOC_WEBSOCKET_SILENCE_US", to = "< 0",
    outside = REAL,
  },
  {
    name = "the answer to a ping is overlooked", file = "core/net/websocket.c",
    by = { "unit:websocket_test" },
    from = "    websocket->pinged_us = 0;\n    if", to = "    (void)websocket;\n    if",
    outside = REAL,
  },
  {
    name = "listeners wait for lines that were removed", file = "core/kernel/tap.c",
    by = { "unit:tap_test" },
    from = "        part_listeners(tap);\n", to = "        return;\n        part_listeners(tap);\n",
    outside = LOOK,
  },
  {
    name = "lines overtake the counts of their second", file = "core/kernel/tap.c",
    by = { "unit:tap_test" },
    from = "    if (options->is_summary)\n        put_second(parcel);\n", to = "",
    outside = LOOK,
  },
}

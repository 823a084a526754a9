-- Planted faults of idempotency keys and of answers to callers; see list.lua.

local BY = { "run:callers" }
local FULL = { "run:callers_full" }

return {
  {
    name = "a caller's key is not written", file = "core/kernel/operations/call_keys.c", by = BY,
    from = "    soc_batch_put(host, &record);\n}\n\nvoid soc_call_keys_drop",
    to = "    (void)record;\n}\n\nvoid soc_call_keys_drop",
    law = "callers",
  },
  {
    name = "a restart forgets the keys of callers", file = "core/kernel/operations/call_keys.c",
    by = BY,
    from = "        restore_key(host, &record->call_key);", to = "        return;",
    law = "callers",
  },
  {
    name = "callers share their keys", file = "core/kernel/operations/call_keys.c", by = BY,
    from = "    soc_buf_put_slice(&text, words->caller);\n", to = "",
    law = "callers",
  },
  {
    name = "a key stands for whatever is asked", file = "core/kernel/operations/call_keys.c",
    by = BY,
    from = "(*key)->body != words->body", to = "false",
    law = "callers", says = "another order was done under key",
  },
  {
    name = "keys of callers are forgotten at once", file = "core/kernel/operations/call_keys.c",
    by = BY,
    from = "keys->first->time_ms <= until_ms", to = "keys->first->time_ms >= until_ms",
    law = "callers",
  },
  {
    name = "a repeated order gets an empty answer", file = "core/kernel/operations/call_keys.c",
    by = BY,
    from = "    set_answer(key, answer);\n    link_last(host, key);\n    struct soc_record",
    to = "    set_answer(key, SOC_SLICE(\"[]\"));\n    link_last(host, key);\n"
      .. "    struct soc_record",
    law = "callers", says = "answered differently",
  },
  {
    name = "a repeated order shows its reply otherwise", file = "core/parts/human/human_intake.c",
    by = BY,
    from = "        put_envelope(&answer, reply);\n",
    to = "        (void)put_envelope;\n        soc_buf_put_slice(&answer, reply);\n",
    law = "callers", says = "has another reply than before",
  },
  {
    name = "an order that waits keeps no key", by = BY,
    file = "core/parts/human/human_intake.c",
    from = "        keep_receipt(given);\n", to = "",
    law = "callers",
  },
  {
    name = "callers are answered before it is durable", by = BY,
    file = "core/kernel/operations/call.c",
    from = "    *list = (struct soc_buf){0};\n"
      .. "    soc_gate_when_durable(call->host, succeed_now, call);",
    to = "    *list = (struct soc_buf){0};\n    succeed_now(call);",
    law = "callers",
  },
  {
    name = "the key of an order is in the batch after it", by = BY,
    file = "core/kernel/operations/call_keys.c",
    from = "    struct soc_record record = {.type = SOC_RECORD_CALL_KEY};",
    to = "    soc_batch_seal(host);\n    struct soc_record record = {.type = SOC_RECORD_CALL_KEY};",
    law = "callers",
  },
  {
    name = "a page of the log leaves out a line", file = "core/kernel/operations/operation.c",
    by = BY,
    from = "        query->after = (uint64_t)line;",
    to = "        query->after = (uint64_t)line + 1;",
    law = "callers", says = "has a gap or a double",
  },
  {
    name = "a page of the log repeats a line", file = "core/kernel/operations/operation.c", by = BY,
    from = "        query->after = (uint64_t)line;",
    to = "        query->after = (uint64_t)line - (line > 0);",
    law = "callers", says = "has a gap or a double",
  },
  {
    name = "a listener that begins again misses a line", file = "core/kernel/tap.c", by = BY,
    from = "soc_journal_durable_line(host->journal) : options->after;",
    to = "soc_journal_durable_line(host->journal)\n"
      .. "                             : options->after + (options->after > 0);",
    law = "callers", says = "listener %d+ heard",
  },
  {
    name = "a listener that begins again hears a line twice", file = "core/kernel/tap.c", by = BY,
    from = "soc_journal_durable_line(host->journal) : options->after;",
    to = "soc_journal_durable_line(host->journal)\n"
      .. "                             : options->after - (options->after > 0);",
    law = "callers", says = "listener %d+ heard",
  },
  {
    name = "a listener with room again hears a line twice", file = "core/kernel/tap.c", by = BY,
    from = "    listener->is_full = false;\n",
    to = "    listener->is_full = false;\n    listener->cursor -= listener->cursor > 0;\n",
    law = "callers", says = "listener %d+ heard",
  },
  {
    name = "a listener without room is handed lines", file = "core/kernel/tap.c", by = BY,
    from = "        each->is_prompt = !each->is_full;\n", to = "",
    law = "callers", says = "has no room and is handed lines",
  },
  {
    name = "shared pages are not filtered", file = "core/kernel/tap.c", by = BY,
    from = "(!is_filtered && !is_wanted(options, line->data))", to = "is_filtered < 0",
    law = "callers", says = "listener %d+ heard",
  },
  {
    name = "a listener with room again is forgotten", file = "core/kernel/tap.c", by = BY,
    from = "    listener->is_full = false;\n", to = "",
    law = "callers", says = "listener %d+ heard lines up to",
  },
  {
    name = "orders are taken while the disk is full", file = "core/kernel/operations/operation.c",
    by = FULL,
    from = "if (soc_host_is_full(host) && !operation->works_if_full) {",
    to = "if (soc_host_is_full(host) && operation->works_if_full) {",
    law = "callers", says = "while the disk was full",
  },
  {
    name = "what waits for a full disk is answered", file = "core/kernel/host.c", by = FULL,
    from = "    host->disk.is_full = is_full;\n",
    to = "    host->disk.is_full = is_full;\n    soc_egress_release(host, UINT64_MAX);\n",
    law = "output commit", says = "was shown before it was durable",
  },
}

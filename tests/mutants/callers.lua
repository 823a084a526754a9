-- Planted faults of idempotency keys and of answers to callers; see list.lua.

local BY = { "run:callers" }

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
}

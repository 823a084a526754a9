-- Faults planted in our own code, each of which a test must catch. `from` stands in
-- the file exactly once and becomes `to`. `by` are the tests that are tried, in order:
-- `sim` is the standard scenario under the default faults, `run:NAME` a run of suite.lua,
-- `unit:NAME`, `spec:NAME` and `e2e:NAME` are single test files. `law` is the law of the
-- checkers that a fault breaks, `says` a pattern their word for it must fit. `also` is a
-- second change, in another file if it names one. `outside` says why the simulator cannot
-- see the fault: run.lua --sim leaves it out.

local SIM = { "sim" }

local M = {
  {
    name = "a mailbox gives the last message first", file = "core/model/mailbox.c", by = SIM,
    from = "    soc_message_list_push(&box->classes[message->priority], message);",
    to = "    soc_message_list_push_first(&box->classes[message->priority], message);",
    law = "order", says = "of the same sender",
  },
  {
    name = "a mailbox gives what is least urgent first", file = "core/model/mailbox.c", by = SIM,
    from = "        struct soc_message *message = soc_message_list_pop(&box->classes[p]);",
    to = "        struct soc_message *message = soc_message_list_pop(&box->classes[3 - p]);",
    law = "order", says = "which is more urgent",
  },
  {
    name = "a message that ends is not counted", file = "core/kernel/mail/router.c", by = SIM,
    from = "    soc_heap_remove(&host->timers, &message->timer);\n" ..
      "    host->totals.outcome[outcome]++;",
    to = "    soc_heap_remove(&host->timers, &message->timer);",
    law = "conservation", says = "messages ended with outcome",
  },
  {
    name = "the end of a message is not written", file = "core/kernel/mail/router.c", by = SIM,
    from = "    soc_batch_put(host, &record);\n    bool is_kept",
    to = "    bool is_kept",
    law = "conservation", says = "has handled %d+ messages",
  },
  {
    name = "lines are shown before they are durable", file = "core/kernel/turns/egress.c", by = SIM,
    from = "host->outbox.first->sequence <= host->outbox.released) {",
    to = "host->outbox.first->sequence <= host->outbox.released + 1) {",
    also = {
      file = "core/kernel/turns/egress.c",
      from = "    if (sequence > host->outbox.released)\n        host->outbox.released = sequence;",
      to = "    if (sequence > host->outbox.released)\n" ..
        "        host->outbox.released = sequence + 9;",
    },
    law = "output commit", says = "was shown before it was durable",
  },
  {
    name = "lines that were shown are not recorded as shown", file = "core/kernel/turns/egress.c",
    by = { "spec:recovery" },
    from = "    if (shown == 0)\n        return;", to = "    if (shown <= 1)\n        return;",
  },
  {
    name = "a turn that raises leaves its records", file = "core/kernel/turns/turn.c", by = SIM,
    from = "    host->batch.length = mark.batch_length;", to = "    (void)mark.batch_length;",
  },
  {
    name = "a turn that raises has sent its messages", file = "core/kernel/turns/turn.c", by = SIM,
    from = "    while (turn->sent.count > mark.sent_count) {",
    to = "    while (false && turn->sent.count > mark.sent_count) {",
    law = "nothing is handled twice", says = "its state says",
  },
  {
    name = "a message taken by a failed turn goes to the back", file = "core/kernel/gate.c",
    by = { "run:takes" },
    from = "    soc_mail_queue(host, message, true);",
    to = "    soc_mail_queue(host, message, false);",
    law = "order", says = "of the same sender",
  },
  {
    name = "a number of a message is given again", file = "core/kernel/turns/batch.c", by = SIM,
    from = "    host->next_key = (uint64_t)numbers[0];", to = "    host->next_key = 1;",
  },
  {
    name = "the clock goes back over a restart", file = "core/kernel/turns/batch.c", by = SIM,
    from = "    return numbers[1];", to = "    return 0;",
  },
  {
    name = "totals are lost over a restart", file = "core/kernel/turns/batch.c", by = SIM,
    from = "    host->totals.sent = (uint64_t)numbers[3];", to = "    host->totals.sent = 0;",
    law = "conservation", says = "were sent, but",
  },
  {
    name = "an answer is not written", file = "core/kernel/turns/waiting.c", by = SIM,
    from = "    soc_batch_put(host, &record);\n" ..
      "    soc_activation_answer(activation, index, answer);",
    to = "    soc_activation_answer(activation, index, answer);",
  },
  {
    name = "a wait never times out", file = "core/kernel/turns/waiting.c",
    by = { "run:timeouts" },
    from = "        soc_heap_add(&host->timers, &activation->timer, wait->deadline_ms);",
    to = "        (void)wait->deadline_ms;",
    law = "waits end", says = "still waits, although its deadline has passed",
  },
  {
    name = "a wait times out too early", file = "core/kernel/turns/waiting.c",
    by = { "run:timeouts" },
    from = "        soc_heap_add(&host->timers, &activation->timer, wait->deadline_ms);",
    to = "        soc_heap_add(&host->timers, &activation->timer, wait->deadline_ms - 5);",
    law = "waits end", says = "timed out %d+ ms early",
  },
  {
    name = "agent.state is not written", file = "core/kernel/gate.c", by = SIM,
    from = "    soc_batch_put(host, &record);\n    if (host->parts.watches_effects)",
    to = "    if (host->parts.watches_effects)",
  },
  {
    name = "a message taken by receive is not written as taken",
    file = "core/kernel/turns/waiting.c",
    by = { "sim", "spec:recovery" },
    from = "    soc_batch_put(host, &record);\n" ..
      "    soc_message_list_push(&activation->taken, message);",
    to = "    soc_message_list_push(&activation->taken, message);",
    law = "nothing is handled twice",
  },
  {
    name = "a contact by first message is lost", file = "core/parts/contacts/acquaintance.c",
    by = { "sim", "spec:contacts" },
    from = "    soc_book_write(host, to, from, SOC_SOURCE_FIRST_MESSAGE, message->time_ms, NULL);",
    to = "    soc_contacts_put(&to->contacts, from, SOC_SOURCE_FIRST_MESSAGE, " ..
      "message->time_ms, NULL);",
  },
  {
    name = "everybody may write to everybody", file = "core/parts/contacts/book.c",
    by = { "run:strangers" },
    from = "    int rc = is_allowed ? SOC_OK : refuse_stranger(error, to, &said);",
    to = "    int rc = is_allowed || to != NULL ? SOC_OK : refuse_stranger(error, to, &said);",
    law = "contacts", says = "which it does not know",
  },
  {
    name = "recorded effects are done again", file = "core/kernel/gate.c", by = SIM,
    from = "kind, false);\n    return SOC_GATE_RECORDED;\n}",
    to = "kind, false);\n    activation->effects_count = index;\n" ..
      "    return add_effect(host, activation, kind, hash.now);\n}",
    law = "nothing is handled twice", says = "sent twice what it must send once",
  },
  {
    name = "a replay does not compare what is asked", file = "core/model/activation.c",
    by = { "run:forgetful", "unit:host_test", "spec:hostile" },
    from = "effect->hash == hash.now", to = "true",
  },
  {
    name = "a restart forgets the last batch", file = "core/store/memory.c", by = SIM,
    from = "    for (size_t i = memory->first; i < memory->count && rc == SOC_OK; i++)",
    to = "    for (size_t i = memory->first; i + 1 < memory->count && rc == SOC_OK; i++)",
  },
  {
    name = "a batch is called durable when it is handed over", file = "core/store/journal.c",
    by = SIM,
    from = "        if (!journal->full_reported && !journal->is_held)\n",
    to = "        if (journal->is_held)\n" ..
      "            journal->events.on_durable(sequence, journal->events.user);\n" ..
      "        if (!journal->full_reported && !journal->is_held)\n",
    law = "nothing is lost", says = "was durable, but is lost",
  },
  {
    name = "a restart gives mail back in the wrong order", file = "core/kernel/recover.c", by = SIM,
    from = "    return x->key < y->key ? -1 : x->key > y->key;",
    to = "    return x->key > y->key ? -1 : x->key < y->key;",
    law = "order", says = "of the same sender",
  },
  {
    name = "a restart forgets which message is being handled", file = "core/kernel/recover.c",
    by = SIM,
    from = "        soc_map_put_number(&loader->handling, r->key, agent);",
    to = "        (void)agent;",
  },
  {
    name = "a restart forgets what was taken", file = "core/kernel/recover.c", by = SIM,
    from = "    soc_map_put_number(&loader->takes, r->key, " ..
      "soc_registry_need(loader->host, r->agent));",
    to = "    (void)loader, (void)r;",
    law = "nothing is handled twice", says = "no longer for it",
  },
  {
    name = "a restart forgets who heard a broadcast", file = "core/parts/group/group.c", by = SIM,
    from = "            soc_broadcasts_restore_end(host, record->broadcast_end.key,\n" ..
      "                                       " ..
      "soc_registry_need(host, record->broadcast_end.agent));",
    to = "            soc_registry_need(host, record->broadcast_end.agent);",
    law = "nothing is handled twice", says = "finished broadcast %d+ twice",
  },
  {
    name = "a checkpoint forgets an answer over a restart", file = "core/parts/group/group.c",
    by = { "sim", "spec:checkpoint_crash" },
    from = "        soc_barriers_restore_seat(host, &record->seat, " ..
      "soc_registry_need(host, record->seat.agent));\n",
    to = "",
  },
  {
    name = "folding forgets the states of agents", file = "core/store/tables/fold.c",
    by = { "unit:store_test" },
    from = "        return set_state(window, record);", to = "        return;",
  },
  {
    name = "the log forgets the end of what is sent again", file = "core/store/tables/fold_mail.c",
    by = { "unit:activity_test", "spec:activity_log" },
    from = "    keep_end(window, item, record->message_again.key);\n", to = "",
    outside = "lines of the activity log, which only people read",
  },
  {
    name = "readers of a broadcast have no line in the log", file = "core/store/line.c",
    by = { "unit:line_test", "unit:activity_test", "spec:activity_log" },
    from = "        return has_reader_line(&record->broadcast_end);\n",
    to = "        return false;\n",
    outside = "lines of the activity log, which only people read",
  },
  {
    name = "an event has the number of the next line", file = "core/store/tables/window.c",
    by = { "unit:line_blocks_test", "spec:activity_log" },
    from = "    sqlite3_bind_int64(statement, 1, (int64_t)window->lines);",
    to = "    sqlite3_bind_int64(statement, 1, (int64_t)window->lines + 1);",
    outside = "lines of the activity log, which only people read",
  },
  {
    name = "a cycle of waits is not found", file = "core/kernel/turns/deadlock.c",
    by = { "unit:deadlock_test", "spec:deadlock" },
    from = "void soc_deadlock_settle(struct soc_host *host)\n{",
    to = "void soc_deadlock_settle(struct soc_host *host)\n{\n    host->waits.changed.length = 0;",
  },
  {
    name = "cancelled mail in transit hides deadlocks", file = "core/kernel/mail/transit.c",
    by = { "run:laws", "spec:wait_graph_kinds", "spec:transit" },
    from = "    soc_wait_note(host, message->to);\n",
    to = "",
  },
  {
    name = "an answer in transit to a checkpoint does not count", file = "core/parts/group/group.c",
    by = { "run:laws", "spec:wait_graph_kinds", "spec:transit" },
    from = "    return seat == NULL ? 0 : seat->question;",
    to = "    return seat == NULL ? 0 : 0;",
  },
  {
    name = "a request that has timed out stays open", file = "core/kernel/mail/requests.c",
    by = { "spec:request", "spec:reply" },
    from = "    soc_request_close(host, activation->wait.request_key);\n",
    to = "    (void)host, (void)activation;\n",
  },
  {
    name = "an error is cut before the key is taken out", file = "lua/society/llm/answer.lua",
    by = { "e2e:canary" },
    from = "host.scrub and host.scrub(err.message) or err.message", to = "err.message",
    outside = "a simulation has no keys",
  },
  {
    name = "random numbers depend on more than the seed", file = "core/env/rng.c",
    by = { "unit:rng_test" },
    from = "void soc_rng_init(struct soc_rng *rng, uint64_t seed)\n{",
    to = "void soc_rng_init(struct soc_rng *rng, uint64_t seed)\n{\n    seed ^= (uintptr_t)rng;",
    outside = "one process cannot see it; e2e:sim compares two",
  },
}

for _, name in ipairs({ "disk", "keys", "callers", "outside", "silent", "times", "rings", "undone",
  "folded", "promised", "attacks", "http", "hosts", "sandbox" }) do
  for _, mutant in ipairs(dofile("tests/mutants/" .. name .. ".lua")) do
    M[#M + 1] = mutant
  end
end

return M

-- Planted faults of keys, doors, letters and restarts; see list.lua.

local LAWS = { "run:laws" }
local OUTSIDE = { "run:outside" }

return {
  {
    name = "keys count for half their window", file = "core/model/delivery/dedupe.c", by = LAWS,
    from = "    return now_ms - entry->since_ms >= window_ms;",
    to = "    return now_ms - entry->since_ms >= window_ms / 2;",
    law = "keys", says = "has a key that was used",
  },
  {
    name = "keys count a millisecond too short", file = "core/model/delivery/dedupe.c", by = LAWS,
    from = "    return now_ms - entry->since_ms >= window_ms;",
    to = "    return now_ms - entry->since_ms >= window_ms - 1;",
    law = "keys", says = "has a key that was used",
  },
  {
    name = "a restart forgets keys", file = "core/parts/duplicates/duplicates.c", by = LAWS,
    from = "    if (record->type == SOC_RECORD_SENT_KEY && !",
    to = "    if (record->type == SOC_RECORD_SENT_KEY && host == NULL && !",
    law = "keys", says = "has a key that was used",
  },
  {
    name = "a key is not written", file = "core/parts/duplicates/duplicates.c", by = LAWS,
    from = "    soc_batch_put(host, &record);\n    static const struct soc_undo_ops ops",
    to = "    static const struct soc_undo_ops ops",
    law = "keys", says = "not in the same batch",
  },
  {
    name = "a list has one key for all its receivers", file = "core/model/delivery/dedupe.c",
    by = LAWS,
    from = "    if (words->kind >= SOC_DEDUPE_LIST) {",
    to = "    if (words->kind > SOC_DEDUPE_LIST) {",
    law = "keys",
  },
  {
    name = "senders share their keys", file = "core/model/delivery/dedupe.c",
    by = { "unit:dedupe_test" },
    from = "    soc_buf_put_slice(out, words->sender);\n", to = "",
    law = "keys",
  },
  {
    name = "keys are forgotten with the time of their turn",
    file = "core/parts/duplicates/duplicates.c", by = LAWS,
    from = "        .sent_keys_end = {.until_ms = (uint64_t)(now_ms - of(host)->window_ms)},",
    to = "        .sent_keys_end = {.until_ms = (uint64_t)now_ms},",
    law = "keys",
  },
  {
    name = "the position of a refused line is not stored", file = "core/parts/outside/outside_in.c",
    by = LAWS,
    from = "            return rc;\n        soc_outside_keep(host, position);\n        if (rc < 0)",
    to = "            return rc;\n        if (rc < 0)",
    law = "lines",
  },
  {
    name = "the position of an accepted line is not stored",
    file = "core/parts/outside/outside_in.c", by = LAWS,
    from = "    soc_gate_put_receipt(host, message, answer);\n    soc_outside_keep(host, " ..
      "position);\n",
    to = "    soc_gate_put_receipt(host, message, answer);\n",
    law = "lines",
  },
  {
    name = "the position of a line commits after the line",
    file = "core/parts/outside/outside_in.c", by = LAWS,
    from = "    soc_outside_keep(host, position);\n    soc_commit_turn(host);\n",
    to = "    soc_commit_turn(host);\n    soc_batch_seal(host);\n" ..
      "    soc_outside_keep(host, position);\n",
    also = {
      file = "core/parts/outside/outside_in.c",
      from = "#include \"kernel/turns/commit.h\"\n",
      to = "#include \"kernel/turns/batch.h\"\n#include \"kernel/turns/commit.h\"\n",
    },
    law = "lines",
  },
  {
    name = "a restart forgets places of doors", file = "core/parts/outside/outside_mail.c",
    by = LAWS,
    from = "    set_position(host, record->name, record->value);\n",
    to = "    (void)host, (void)record;\n",
    law = "lines",
  },
  {
    name = "the position of a door is not stored", file = "core/parts/outside/outside_mail.c",
    by = LAWS,
    from = "    soc_batch_put(host, &record);\n    set_position(host, position.name",
    to = "    set_position(host, position.name",
    law = "lines",
  },
  {
    name = "a directory is never synced", file = "core/store/sqlite/sqlite.c", by = { "run:disk" },
    from = "    int rc = soc_disk_sync(sqlite->disk);\n",
    to = "    int rc = SOC_OK;\n",
    law = "nothing is lost",
  },
  {
    name = "names are not synced when a store is opened", file = "core/store/sqlite/sqlite.c",
    by = { "run:disk" },
    from = "    if (rc == SOC_OK && !sqlite->is_read_only)\n" ..
      "        rc = sync_names(sqlite, directory, detail);\n",
    to = "    (void)directory;\n",
    law = "nothing is lost",
  },
  {
    name = "the mark is not synced", file = "core/store/sqlite/mark.c", by = { "unit:disk_test" },
    from = "    if (rc == SQLITE_OK && is_synced)", to = "    if (rc != SQLITE_OK && is_synced)",
    outside = "harmless unless a copied log is lost as well; unit:disk_test ends at every call",
  },
  {
    name = "a processed ack does not finish a letter", file = "core/parts/outside/outside_in.c",
    by = OUTSIDE,
    from = "    if (ack == SOC_ACK_PROCESSED) {",
    to = "    if (ack == SOC_ACK_PROCESSED && host == NULL) {",
  },
  {
    name = "a received ack finishes a letter", file = "core/parts/outside/outside_in.c",
    by = { "spec:outside" },
    from = "    if (ack == SOC_ACK_PROCESSED) {", to = "    if (ack != SOC_ACK_NONE) {",
  },
  {
    name = "unacked letters are not sent again", file = "core/parts/outside/outside_mail.c",
    by = { "run:doors" },
    from = "letter->ladder.step == 0)\n        soc_outside_climb(letter);",
    to = "letter->ladder.step == 0)\n        (void)letter;",
  },
  {
    name = "a letter of an agent that is held leaves", file = "core/parts/outside/outside_mail.c",
    by = { "spec:pause", "spec:outside" },
    from = "!outsider->agent->is_ended && outsider->agent->hold == 0;",
    to = "!outsider->agent->is_ended;",
  },
  {
    name = "urgent letters wait for the others", file = "core/parts/outside/outside_mail.c",
    by = { "spec:outside" },
    from = "    for (int p = 0; p < SOC_PRIORITY_COUNT; p++) {\n        struct soc_letter *next;",
    to = "    for (int p = SOC_PRIORITY_COUNT - 1; p >= 0; p--) {\n        struct " ..
      "soc_letter *next;",
  },
  {
    name = "an answer from outside does not end its letter",
    file = "core/parts/outside/outside_in.c", by = { "spec:outside_answers" },
    from = "    end_answered(outsider, reply_to, task_key);\n",
    to = "    (void)reply_to, (void)task_key;\n",
  },
  {
    name = "what arrives twice from outside is taken twice", file = "core/kernel/mail/router.c",
    by = OUTSIDE,
    from = "    bool has_key = send->texts[SOC_TEXT_EXTERNAL_ID].data != NULL ||\n" ..
      "                   send->texts[SOC_TEXT_DEDUPE_KEY].data != NULL;",
    to = "    bool has_key = send->texts[SOC_TEXT_DEDUPE_KEY].data != NULL;",
    law = "keys",
  },
  {
    name = "a restart forgets open tasks", file = "core/parts/tasks/tasks_life.c",
    by = { "run:exact" },
    from = "    if (record->type == SOC_RECORD_TASK)\n",
    to = "    if (record->type == SOC_RECORD_TASK && host == NULL)\n",
  },
  {
    name = "a restart forgets the state of agents", file = "core/kernel/recover.c",
    by = { "run:exact" },
    from = "        soc_agent_set_state(soc_registry_need(host, record->state.agent), " ..
      "record->state.state);\n        break;",
    to = "        break;",
    law = "nothing is handled twice",
  },
  {
    name = "a restart forgets who is held", file = "core/parts/supervision/supervision.c",
    by = { "spec:hold_property", "spec:pause" },
    from = "    if (record->type == SOC_RECORD_STANDING)\n",
    to = "    if (record->type == SOC_RECORD_STANDING && host == NULL)\n",
  },
  {
    name = "a restart offers nobody the mail it waits for", file = "core/kernel/recover.c",
    by = { "spec:recovery" },
    from = "        offer_mail(host, activation);\n", to = "        (void)offer_mail;\n",
  },
  {
    name = "a result does not end the wait for its task", file = "core/parts/tasks/tasks_result.c",
    by = { "run:exact" },
    from = "    struct soc_activation *waiter = is_final ? soc_tasks_waiter(message->to, " ..
      "key) : NULL;",
    to = "    struct soc_activation *waiter = is_final ? NULL : NULL;",
  },
  {
    name = "a failed task is never retried", file = "core/parts/tasks/tasks_result.c",
    by = { "spec:task_retry" },
    from = "        if (delay_ms >= 0) {", to = "        if (delay_ms > 100000000) {",
  },
  {
    name = "cancelled tasks go on", file = "core/parts/tasks/tasks_result.c",
    by = { "run:exact" },
    from = "    soc_tasks_cut(host, task, message->from, reason, true);",
    to = "    (void)reason;",
  },
  {
    name = "an answered call is made again", file = "core/kernel/gate.c",
    by = { "run:models" },
    from = "    if (index >= activation->effects_count)\n        return add_effect",
    to = "    if (index + 1 >= activation->effects_count && kind == SOC_EFFECT_CHAT)\n" ..
      "        activation->effects_count = index;\n" ..
      "    if (index >= activation->effects_count)\n        return add_effect",
  },
}

-- Planted faults of the store and of what leaves before it is durable; see list.lua.

return {
  {
    name = "a commit is not synced", file = "core/store/sqlite/sqlite.c", by = { "run:disk" },
    from = "        return \"PRAGMA synchronous = FULL\";",
    to = "        return \"PRAGMA synchronous = NORMAL\";",
  },
  {
    name = "a batch that finds no room is dropped", file = "core/store/journal.c",
    by = { "run:disk" },
    from = "        report_full(journal, true);\n        return false;",
    to = "        report_full(journal, true);\n        rc = SOC_OK;",
  },
  {
    name = "nothing is synced at all", file = "core/store/sqlite/sqlite.c",
    by = { "unit:disk_test" },
    from = "        return \"PRAGMA synchronous = FULL\";",
    to = "        return \"PRAGMA synchronous = OFF\";",
  },
  {
    name = "a log that was left behind is taken for synced", file = "core/store/sqlite/sqlite.c",
    by = { "unit:disk_test" },
    from = "sqlite->is_read_only ? SOC_OK : renew_log(sqlite, path, detail);",
    to = "SOC_OK;",
  },
  {
    name = "the checksum of a page is not looked at", file = "core/store/sqlite/pages.c",
    by = { "unit:damage_test" },
    from = "    if (rc == SQLITE_OK && !is_whole(out, number))",
    to = "    if (rc != SQLITE_OK && !is_whole(out, number))",
    outside = "damaged files; the simulated disk flips no bits",
  },
  {
    name = "a log that has become shorter is not noticed", file = "core/store/sqlite/mark.c",
    by = { "unit:damage_test" },
    from = "    if (!is_needed || log.is_empty ||", to = "    if (log.frames == log.frames ||",
    outside = "damaged files; the simulated disk flips no bits",
  },
  {
    name = "the key of a message is not in its transaction",
    file = "core/parts/duplicates/duplicates.c",
    by = { "unit:host_disk_test" },
    from = "    if (host->options.keys_apart)\n",
    to = "    if (true)\n",
  },
  {
    name = "lines are shown at once",
    file = "core/kernel/turns/egress.c", by = { "unit:host_disk_test" },
    from = "    if (host->options.shows_early)", to = "    if (!host->options.shows_early)",
  },
}

-- Planted faults: the mends of attacks, taken out one by one; see list.lua.

local REAL = "real files, servers and processes, which a simulation does not have"
local BUILT = "how the program is built and run, not what it does"

local GONE = { "e2e:gone" }
local STATE = { "e2e:state_directory" }
local HARDENED = { "e2e:hardened" }
local BOUNDS = { "unit:lines_bounds_test" }
local JUNK = { "spec:llm_junk" }

return {
  -- No look, file or server stops the loop.
  {
    name = "holes of a file are read", file = "core/bridge/files/lines.c", by = BOUNDS,
    from = "    off_t data = offset < end ? lseek(file, offset, SEEK_DATA) : offset;",
    to = "    off_t data = offset < end && file < 0 ? lseek(file, offset, SEEK_DATA) : offset;",
    outside = REAL,
  },
  {
    name = "a look at a file has no bound of bytes", file = "core/bridge/files/lines.c",
    by = BOUNDS,
    from = "    look->bytes_left = most == 0 ? INT64_MAX : most < line ? line : most;",
    to = "    look->bytes_left = most < line ? INT64_MAX : INT64_MAX;",
    outside = REAL,
  },
  {
    name = "a look at a file has no end in time", file = "core/bridge/files/lines.c", by = BOUNDS,
    from = "(until_us > 0 && soc_clock_monotonic_us() >= until_us);",
    to = "(until_us < 0 && soc_clock_monotonic_us() >= until_us);",
    outside = REAL,
  },
  {
    name = "lines of a look count, but not their bytes", file = "core/bridge/files/lines.c",
    by = BOUNDS,
    from = "           (is_first || !is_spent(look))) {", to = "           (is_first || true)) {",
    outside = REAL,
  },
  {
    name = "a body may be compressed more than once", file = "core/net/http.c",
    by = { "unit:http_test" },
    from = "    return !is_second;", to = "    return !is_second || is_second;",
    outside = REAL,
  },
  {
    name = "a body is handed out in one step", file = "core/net/http.c", by = { "unit:http_test" },
    from = "    if (has_waiting(transfer) || soc_clock_monotonic_us() >= " ..
      "transfer->http->until_us) {",
    to = "    if (has_waiting(transfer)) {",
    outside = REAL,
  },
  {
    name = "comments of a stream are read for ever", file = "lua/society/llm/sse.lua", by = JUNK,
    from = "M.idle_bytes_max = 256 * 1024", to = "M.idle_bytes_max = 1 << 40",
    outside = REAL,
  },
  {
    name = "an event of a stream has no bound", file = "lua/society/llm/sse.lua", by = JUNK,
    from = "M.bytes_max = 3 * 1024 * 1024", to = "M.bytes_max = 1 << 40",
    outside = REAL,
  },
  {
    name = "an answer has any number of values", file = "lua/society/llm/letters.lua", by = JUNK,
    from = "  return count > M.values_max", to = "  return count < 0",
    outside = REAL,
  },
  {
    name = "a tool's name grows for ever", file = "lua/society/llm/pieces.lua", by = JUNK,
    from = "      return \"a tool call whose name is too long\"",
    to = "      call.name = call.name",
    outside = REAL,
  },
  {
    name = "an answer that is no stream has no bound", file = "lua/society/llm/body.lua", by = JUNK,
    from = "M.bytes_max = 3 * 1024 * 1024", to = "M.bytes_max = 1 << 40",
    outside = REAL,
  },
  {
    name = "a server's usage is believed", file = "lua/society/llm/usage.lua", by = JUNK,
    from = "  used.output_tokens = math.min(used.output_tokens, asked)",
    to = "  used.output_tokens = math.max(used.output_tokens, 0 * asked)",
    outside = REAL,
  },
  {
    name = "a request to the socket has no bound", file = "core/bridge/control/control.c",
    by = { "unit:control_test", "e2e:stalls" },
    from = "#define LINE_BYTES_MAX    (2u << 20)", to = "#define LINE_BYTES_MAX    (200u << 20)",
    outside = REAL,
  },

  -- A state that is gone is noticed.
  {
    name = "files that are gone are not noticed", file = "core/store/sqlite/presence.c", by = GONE,
    from = "        if (is_there && status.st_dev == file->device && " ..
      "status.st_ino == file->inode)\n            continue;",
    to = "        if (!is_there || (status.st_dev == file->device && " ..
      "status.st_ino == file->inode))\n            continue;",
    outside = REAL,
  },
  {
    name = "files that are replaced are not noticed", file = "core/store/sqlite/presence.c",
    by = GONE,
    from = "        if (is_there && status.st_dev == file->device && " ..
      "status.st_ino == file->inode)\n",
    to = "        if (is_there)\n",
    outside = REAL,
  },
  {
    name = "an idle society does not look at its files", file = "core/store/writer.c", by = GONE,
    from = "    if (soc_store_check(writer->store, &detail) < 0)\n" ..
      "        fail(writer, &detail);\n    pthread_mutex_lock",
    to = "    pthread_mutex_lock",
    outside = REAL,
  },

  -- Memory does not follow history.
  {
    name = "dead letters stay in memory", file = "core/kernel/mail/router.c",
    by = { "unit:memory_test" },
    from = "    if (!is_kept)\n", to = "    if (!is_kept && outcome == SOC_OUTCOME_PROCESSED)\n",
    outside = "memory, which a simulation does not measure",
  },
  {
    name = "a key takes much memory", file = "core/model/delivery/dedupe.h",
    by = { "unit:memory_test" },
    from = "    int64_t since_ms; /* when the key was remembered */\n",
    to = "    int64_t since_ms; /* when the key was remembered */\n    char text[200];\n",
    outside = "memory, which a simulation does not measure",
  },
  {
    name = "a log stays as long as a reader made it", file = "core/store/sqlite/sqlite.c",
    by = { "unit:wal_test" },
    from = "        rc = limit_log(sqlite, detail);\n", to = "        (void)limit_log;\n",
    outside = REAL,
  },

  -- A state directory that others can write.
  {
    name = "the lock follows a link", file = "core/store/directory.c", by = STATE,
    from = "    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | " ..
      "O_CLOEXEC, 0600);",
    to = "    int file = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);",
    outside = REAL,
  },
  {
    name = "the lock may have a second name", file = "core/store/directory.c", by = STATE,
    from = " && status.st_nlink <= 1)", to = ")",
    outside = REAL,
  },
  {
    name = "SQLite follows a link in the state", file = "core/store/directory.c", by = STATE,
    from = "        if (lstat(path.data, &status) == 0 && !S_ISREG(status.st_mode))",
    to = "        if (stat(path.data, &status) == 0 && !S_ISREG(status.st_mode))",
    outside = REAL,
  },
  {
    name = "a state that others can write is used", file = "core/store/directory.c", by = STATE,
    from = "    if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0)\n",
    to = "    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 1)\n",
    outside = REAL,
  },
  {
    name = "a client talks to any user's socket", file = "core/bridge/control/client.c", by = STATE,
    from = "    if (!is_trusted(number, directory)) {",
    to = "    if (!is_trusted(number, directory) && number < 0) {",
    outside = REAL,
  },
  {
    name = "a queue may have a second name", file = "core/bridge/files/workdir.c",
    by = { "e2e:files_faults" },
    from = "    return info->st_nlink > 1 ? -EMLINK : 0;", to = "    return 0;",
    outside = REAL,
  },

  -- Built hardened, and ends as documented.
  {
    name = "the program is linked without full RELRO", file = "Makefile", by = HARDENED,
    from = "-Wl,-z,relro,-z,now,-z,noexecstack", to = "-Wl,-z,lazy",
    outside = BUILT,
  },
  {
    name = "the stack is not protected", file = "Makefile", by = HARDENED,
    from = "HARD_TRY   = -fstack-protector-strong",
    to = "HARD_TRY   = -fno-stack-protector",
    outside = BUILT,
  },
  {
    name = "buffers are not checked", file = "Makefile", by = HARDENED,
    from = "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))", to = "-U_FORTIFY_SOURCE))",
    outside = BUILT,
  },
  {
    name = "there is no shadow stack", file = "Makefile", by = HARDENED,
    from = "-fcf-protection=return", to = "-fcf-protection=none",
    outside = BUILT,
  },
  {
    name = "a core file holds the keys", file = "core/main/main.c", by = HARDENED,
    from = "    leave_no_core();\n", to = "    (void)leave_no_core;\n",
    outside = BUILT,
  },
  {
    name = "a terminal gets escape sequences", file = "core/main/show.c", by = HARDENED,
    from = "        put_visible(&line, text);",
    to = "        soc_buf_put_slice(&line, text), (void)put_visible;",
    outside = BUILT,
  },
  {
    name = "a full disk is waited for when interrupted", file = "core/embed/society.c",
    by = { "e2e:exit_codes" },
    from = "            give_up_full(society);", to = "            (void)give_up_full;",
    outside = BUILT,
  },
  {
    name = "a signal ends a run that storage has ended", file = "core/main/cmd_run.c",
    by = { "e2e:exit_codes" },
    from = "        hold_signals();\n", to = "        (void)hold_signals;\n",
    outside = BUILT,
  },
  {
    name = "a database that is locked is not named so", file = "core/store/tables/database.c",
    by = { "unit:store_test" },
    from = "    if ((sqlite_rc & 0xff) == SQLITE_BUSY)\n        return soc_fail",
    to = "    if (sqlite_rc < 0)\n        return soc_fail",
    outside = BUILT,
  },
}

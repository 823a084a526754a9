-- The architecture, as a table. Each folder of core/ lists the folders it may
-- include besides itself; each restricted outside header lists the folders that may
-- include it. A header directly in core/ is a layer by its own name.

return {
  core = {
    society = {},
    base = {},
    env = { "base" },
    model = { "base" },
    loop = { "base", "env" },
    store = { "base", "env", "model", "loop" },
    check = { "base", "store" },
    net = { "base", "env", "loop" },
    kernel = { "base", "env", "model", "loop", "store" },
    parts = { "base", "env", "model", "loop", "store", "kernel" },
    sim = { "base", "env", "model", "loop", "store", "net", "kernel", "parts" },
    lualib = { "base" },
    sandbox = { "base", "lualib" },
    worker = { "base", "loop", "lualib", "sandbox" },
    script = {
      "base", "env", "model", "store", "check", "net", "kernel", "parts", "sim", "lualib",
      "sandbox", "worker",
    },
    bridge = { "base", "env", "loop", "net", "kernel", "parts" },
    -- society.new is a whole society in one object: it opens its own store and has its
    -- history checked, as `embed` does for a real one.
    world = {
      "base", "env", "model", "loop", "store", "check", "net", "kernel", "parts", "sim", "lualib",
      "sandbox", "script", "bridge",
    },
    embed = {
      "society", "base", "env", "model", "loop", "store", "check", "net", "kernel", "parts", "sim",
      "lualib", "sandbox", "worker", "script", "bridge", "world",
    },
    main = {
      "society", "base", "env", "model", "loop", "store", "check", "net", "kernel", "parts", "sim",
      "lualib", "sandbox", "worker", "script", "bridge", "world", "embed",
    },
  },

  -- Below core/parts each folder is a part. It may include the public headers of the parts
  -- listed here, never a `_state.h`. Everything else goes through the kernel's questions.
  parts = {
    contacts = { "human" }, -- introductions asked of the person
    duplicates = {},
    expiry = {},
    group = { "supervision" }, -- full mailboxes
    history = {},
    -- full mailboxes; which task a result ends; children elsewhere are contacts; broadcasts
    hosts = { "supervision", "tasks", "contacts", "group" },
    human = { "tasks" }, -- who helped with a task
    models = { "history" }, -- conversations grow differently in a replay
    outside = { "duplicates", "group", "tasks" }, -- whom an answer from outside belongs to
    policies = {},
    queries = {},
    supervision = {},
    tasks = {},
    telemetry = { "models" }, -- what a model call asked
  },

  -- The folders of core/script, in order: each may include itself and those before it.
  script = { "turns", "policies", "answers", "calls", "history", "bindings" },

  -- Prefixes of public functions that bear another name than their header's. Those of base
  -- and env are used everywhere and read as verbs; `refusal.h` is named by what it makes.
  names = {
    ["base/err.h"] = { "soc_fail" },
    ["base/json.h"] = { "soc_utf8" },
    ["base/json_scan.h"] = { "soc_utf8" },
    ["base/mem.h"] = { "soc_alloc", "soc_realloc", "soc_copy_text" },
    ["env/clock.h"] = { "soc_time" },
    ["env/ids.h"] = { "soc_message_id", "soc_item_id", "soc_checkpoint_id", "soc_ack_id" },
    ["kernel/mail/envelope.h"] = { "soc_receiver_id" },
    ["kernel/refusal.h"] = { "soc_refuse" },
    ["kernel/state.h"] = { "soc_part_state", "soc_part_timer", "soc_sender_id" },
    ["main/command.h"] = { "soc_cmd", "soc_complain" },
    ["model/agent.h"] = { "soc_text_set" },
    ["model/mailbox.h"] = { "soc_mail_fits" },
    ["parts/contacts/acquaintance.h"] = { "soc_acquaint" },
  },

  outside = {
    -- The control socket and the terminal are streams, which the loop layer does not wrap;
    -- they use the loop they are given.
    ["uv.h"] = { "loop", "bridge" },
    ["sqlite3.h"] = { "store" },
    ["curl/curl.h"] = { "net" },
    ["microhttpd.h"] = { "net" },
    ["wslay/wslay.h"] = { "net" },
    ["histedit.h"] = { "main" },
    ["openssl/evp.h"] = { "net" },
    ["openssl/sha.h"] = { "net" },
    ["hiredis/async.h"] = { "net" },
    ["hiredis/hiredis.h"] = { "net" },
    -- Whoever makes the Lua state: `embed` for a society, `main` for `test` and `check`.
    ["lua.h"] = { "lualib", "sandbox", "worker", "script", "world", "embed", "main" },
    ["lauxlib.h"] = { "lualib", "sandbox", "worker", "script", "world", "embed", "main" },
    ["lualib.h"] = { "lualib", "sandbox", "worker", "script", "world", "embed", "main" },
    ["seccomp.h"] = { "worker" },
    ["time.h"] = { "env", "worker" }, -- the CPU time of another process
    ["sys/time.h"] = { "env" },
    ["sys/random.h"] = { "env" },
  },

  -- What is left of an older tree. These numbers may only fall.
  ratchet = {
    in_cycles = 0, -- modules of core/ that reach themselves by includes
    up = 0,         -- includes that go up
  },

  -- Hard limits. CONTRIBUTING.md has the guides.
  lines_max = { c = 900, h = 300, lua = 300 },
  function_lines_max = { c = 100, h = 100, lua = 50 },
  columns_max = 100,

  -- Lua patterns, written so that they do not match themselves. Plans belong to
  -- the issue list, and no place of one machine belongs anywhere.
  words = {
    "%f[%w]TO[D]O%f[%W]",
    "%f[%w]FIX[M]E%f[%W]",
    "%f[%w]XX[X]%f[%W]",
    "/wor[k]/",
    "[%s\"'=(]/hom[e]/",
    "[%s\"'=(]/roo[t]/",
  },
}

-- Planted faults of the sandbox and of worker processes; see list.lua.

local LUA = "what a hostile script does, which no scenario has"
local REAL = "real processes, which a simulation does not have"

local BUDGETS = { "e2e:budgets" }
local CALLS = { "unit:sandbox_calls_test" }
local APART = { "e2e:hosts_isolated" }
local CELLS = { "spec:isolated_agents" }
local FROZEN = { "spec:frozen" }
local GRANTS = { "spec:grants" }
local GUESTS = { "unit:isolated_test" }
local HARD = { "e2e:hard_limit" }
local PATTERN = { "unit:sandbox_pattern_test" }
local ROLES = { "e2e:isolated_roles" }
local SANDBOX = { "unit:sandbox_test" }
local WORKERS = { "unit:workers_test" }

return {
  {
    name = "ordinary turns of a running society have a count hook",
    file = "core/script/turns/budget.c", by = { "e2e:default_budget" }, outside = REAL,
    from = "    if (budget->counts_steps)\n        lua_sethook(L, budget->hook,",
    to = "    if (budget->timer_ms > 0 || budget->counts_steps)\n" ..
      "        lua_sethook(L, budget->hook,",
  },
  {
    name = "a turn may take twice the CPU time that is documented",
    file = "core/script/turns/budget.c", by = { "e2e:default_budget" }, outside = REAL,
    from = "script->cpu_ms_max = SOC_SCRIPT_CPU_MS_MAX;",
    to = "script->cpu_ms_max = SOC_SCRIPT_CPU_MS_MAX * 2;",
  },
  {
    name = "isolated agents send requests to any server",
    file = "core/script/calls/exchange.c", by = GRANTS, outside = LUA,
    from = "request->use != SOC_KEYS_HTTP || !soc_registry_isolates(script->host, agent)",
    to = "request->use != SOC_KEYS_HTTP || agent != NULL",
  },
  {
    name = "children of isolated agents have all grants of their roles",
    file = "core/script/calls/grants.c", by = GRANTS, outside = LUA,
    from = "        denied |= SOC_ISOLATED_UNGRANTED;", to = "        denied |= 0;",
  },
  {
    name = "isolated agents ask models by way of their children",
    file = "core/script/calls/grants.c", by = GRANTS, outside = LUA,
    from = "        denied |= SOC_ISOLATED_UNTHINKING;", to = "        denied |= 0;",
  },
  {
    name = "a simulated isolated agent is not replaced when it waits",
    file = "core/script/turns/cell.c", by = CELLS, outside = LUA,
    from = "return cell == NULL ? NULL : cell->activation;", to = "return NULL;",
  },
  {
    name = "a simulated isolated agent keeps its world after a failure",
    file = "core/script/turns/run.c", by = CELLS, outside = LUA,
    from = "        soc_cell_drop(thread->cell);", to = "        soc_cell_finish(thread->cell);",
  },
  {
    name = "a replay runs isolated agents among the others",
    file = "core/parts/history/replay.c", by = { "e2e:isolated_replay" }, outside = REAL,
    from = "    agent->isolation = is_true(run, \"isolated\") ? SOC_ISOLATED : 0;\n", to = "",
  },
  {
    name = "a replay loads the modules of strangers",
    file = "core/parts/history/replay.c", by = { "e2e:isolated_replay" }, outside = REAL,
    from = "    role->is_isolated = is_true(row, \"isolated\");\n", to = "",
  },
  {
    name = "an isolated agent's child on another host is not isolated",
    file = "core/parts/hosts/hosts_orders.c", by = APART, outside = REAL,
    from = "birth->is_isolated || soc_registry_isolates(host, host->turn.agent));",
    to = "birth->is_isolated);",
  },
  {
    name = "a role is isolated only while its author is remembered",
    file = "core/kernel/registry.c", by = ROLES, outside = REAL,
    from = "    role->is_isolated = r->is_isolated != 0;\n", to = "",
  },
  {
    name = "the child of an agent whose role became isolated is not",
    file = "core/kernel/agents.c", by = ROLES, outside = REAL,
    from = "soc_registry_isolates(host, parent)", to = "parent->is_isolated",
  },
  {
    name = "a worker may make memory executable", file = "core/worker/guard.c", by = WORKERS,
    from = "SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),",
    to = "SCMP_A2(SCMP_CMP_MASKED_EQ, 0, 0),", outside = REAL,
  },
  {
    name = "a worker may send signals", file = "core/worker/guard.c", by = WORKERS,
    from = "    SCMP_SYS(madvise),", to = "    SCMP_SYS(kill), SCMP_SYS(madvise),",
    outside = REAL,
  },
  {
    name = "a worker keeps the zygote's socket", file = "core/worker/guard.c", by = WORKERS,
    from = "fd == 0 || syscall(SYS_close_range, 0u, fd - 1, 0u) == 0;", to = "true;",
    outside = REAL,
  },
  {
    name = "a worker keeps descriptors above its own", file = "core/worker/guard.c", by = WORKERS,
    from = "    return is_done && syscall(SYS_close_range, fd + 1, ~0u, 0u) == 0;",
    to = "    return is_done;", outside = REAL,
  },
  {
    name = "a worker has the environment", file = "core/worker/zygote.c", by = WORKERS,
    from = "NULL, arguments, environment)",
    to = "NULL, arguments, environment[0] == NULL ? environ : environment)", outside = REAL,
  },
  {
    name = "an empty parcel is taken", file = "core/worker/parcel.c", by = WORKERS,
    from = "if (!is_answer(length) || came > length)", to = "if (came > length)", outside = REAL,
  },
  {
    name = "pcall catches the end of a turn", file = "core/sandbox/sandbox_calls.c", by = CALLS,
    from = "    if (status == LUA_ERRMEM || (fatal != NULL && fatal->number > fatal_count))",
    to = "    if (status == LUA_ERRMEM)",
    also = { from = "    if (now == fatal_count)\n", to = "    if (now >= fatal_count)\n" },
    outside = LUA,
  },
  {
    name = "the collector heeds the weak tables of scripts", file = "core/lualib/lua_weak.c",
    by = { "unit:lua_weak_test" },
    from = "event == MODE_EVENT && *luaH_getint", to = "event < 0 && *luaH_getint", outside = LUA,
  },
  {
    name = "a function of a library orders a list for as long as it takes",
    file = "core/sandbox/sandbox_table.c", by = BUDGETS,
    from = "    if (has_function && lua_iscfunction(",
    to = "    if (!has_function && lua_iscfunction(", outside = LUA,
  },
  {
    name = "unpack as a metamethod reports nothing", file = "core/sandbox/sandbox_table.c",
    by = BUDGETS,
    from = "    if (lua_istable(L, 1))\n        walk = begin_walk(L, 1);\n", to = "",
    also = { from = "        charge_element(L, walk, i + 1);\n        lua_geti(L, 1, first + i);\n"
      .. "    }\n    return", to = "        lua_geti(L, 1, first + i);\n    }\n    return" },
    outside = LUA,
  },
  {
    name = "asking the society costs nothing", file = "core/script/turns/effect.c",
    by = { "spec:effects_budget" },
    from = "    script->hooks.look_at_budget(L, script);", to = "    (void)0;", outside = LUA,
  },
  {
    name = "pack fills up to any size", file = "core/sandbox/sandbox_text.c", by = BUDGETS,
    from = "    soc_sandbox_check_bytes(L, sum_sizes(", to = "    (void)(sum_sizes(", outside = LUA,
  },
  {
    name = "a date is as long as its format wants", file = "core/sandbox/sandbox_os.c",
    by = BUDGETS,
    from = "    soc_sandbox_check_bytes(L, length + count_conversions",
    to = "    (void)(length + count_conversions",
    also = { from = "            if (++count % CONVERSIONS_PER_LOOK == 0)",
      to = "            if (++count == 0)" },
    outside = LUA,
  },
  {
    name = "coroutines close each other without end", file = "core/sandbox/sandbox_coroutine.c",
    by = CALLS,
    from = "    if (state->resume_depth >= SOC_SANDBOX_RESUME_DEPTH_MAX)\n        luaL_error",
    to = "    if (state->resume_depth < 0)\n        luaL_error", outside = LUA,
  },
  {
    name = "rawset changes what is frozen", file = "core/sandbox/sandbox_metatables.c",
    by = FROZEN,
    from = "    soc_sandbox_check_rawset(L);\n", to = "", outside = LUA,
  },
  {
    name = "__gc is taken", file = "core/sandbox/sandbox_metatables.c", by = SANDBOX,
    from = "        refuse_field(L, \"__gc\");\n", to = "", outside = LUA,
  },
  {
    name = "__concat is taken where it corrupts memory",
    file = "core/sandbox/sandbox_metatables.c", by = PATTERN,
    from = "strstr(lua_ident, \"Lua 5.4.4 \") != NULL", to = "lua_ident[0] == '\\0'",
    outside = LUA,
  },
  {
    name = "a __concat set later is taken where it corrupts memory",
    file = "core/sandbox/sandbox_metatables.c", by = PATTERN,
    from = "(has_concat(L, -2) || has_concat(L, -1))", to = "has_concat(L, -2)", outside = LUA,
  },
  {
    name = "tables call each other in any number", file = "core/sandbox/sandbox_metatables.c",
    by = SANDBOX,
    from = "        refuse_call_chain(L);\n", to = "        (void)refuse_call_chain;\n",
    outside = LUA,
  },
  {
    name = "a repeated turn has no budget of its own", file = "core/script/turns/effect.c",
    by = { "spec:renewed_budget" },
    from = "        script->hooks.renew_budget(script); /* several turns are run as one */\n",
    to = "", outside = LUA,
  },
  {
    name = "the end of the program names no activation", file = "core/kernel/turns/halt.c",
    by = HARD,
    from = "        put_note(host, activation, error);\n", to = "        (void)put_note;\n",
    outside = LUA,
  },
  {
    name = "memory beyond the hard limit is refused", file = "core/lualib/lua_heap.c", by = HARD,
    from = "        heap->end_cb(heap->end_user);\n", to = "        (void)heap->end_user;\n",
    outside = LUA,
  },
  {
    name = "a worker hands over any number of values", file = "core/script/turns/seat.c",
    by = GUESTS,
    from = "    if (values > SOC_WORKER_VALUES_MAX || soc_json_check",
    to = "    if (soc_json_check", outside = REAL,
  },
  {
    name = "what a worker says need not be JSON", file = "core/script/turns/seat.c", by = GUESTS,
    from = "soc_json_check(said, &fault) < 0 || said", to = "((void)fault, false) || said",
    outside = REAL,
  },
  {
    name = "a worker may change the society", file = "core/script/turns/isolated.c", by = GUESTS,
    from = "(!is_method && is_change(name))", to = "(!is_method && false && is_change(name))",
    outside = REAL,
  },
  {
    name = "a worker says what its limit was", file = "core/script/turns/isolated.c", by = GUESTS,
    from = "\"memory\", script->memory_bytes_max, 0);\n    return refuse_nonsense",
    to = "\"memory\", question->second.length, 0);\n    return refuse_nonsense",
    outside = REAL,
  },
  {
    name = "a list as the state of an isolated agent is nonsense",
    file = "core/script/turns/isolated.c", by = GUESTS,
    from = " || kind == SOC_JSON_ARRAY;", to = ";",
    outside = REAL,
  },
  {
    name = "another worker may ask for something else", file = "core/script/turns/seat.c",
    by = GUESTS,
    from = "        if (!soc_slice_equal(*said, asked_at(seat, seat->told)))\n"
      .. "            return SOC_SEAT_STRAYED;\n",
    to = "",
    outside = REAL,
  },
  {
    name = "workers that die are replaced for ever", file = "core/script/turns/seat.c",
    by = GUESTS,
    from = "    if (seat->strays > STRAYS_MAX)\n        return SOC_SEAT_DEAD;\n", to = "",
    outside = REAL,
  },
  {
    name = "a turn is done again however long that takes", file = "core/script/turns/seat.c",
    by = BUDGETS,
    from = "    return seat->count >= enough &&",
    to = "    return seat->count > SIZE_MAX - enough &&",
    outside = REAL,
  },
  {
    name = "values handed over in many pieces are not added up",
    file = "core/script/turns/seat.c", by = BUDGETS,
    from = " || seat->values > SOC_WORKER_VALUES_MAX;", to = ";",
    outside = REAL,
  },
  {
    name = "a turn takes more than its budget", file = "core/script/turns/budget.c", by = BUDGETS,
    from = "* 1000000 - budget->margin_ns) {", to = "* 1200000) {",
    outside = REAL,
  },
  {
    name = "garbage of former turns counts as the turn's room", file = "core/script/turns/budget.c",
    by = { "spec:budget_memory" },
    from = "        budget->bytes_begun = used;\n    watch_heap",
    to = "        (void)used;\n    watch_heap",
    outside = LUA,
  },
  {
    name = "a tick runs turns for as long as there are any", file = "core/kernel/host.c",
    by = { "unit:host_test" },
    from = "        if (soc_host_now(host) >= end_ms)\n", to = "        if (end_ms < 0)\n",
    outside = "a tick that takes long, which no simulated one does",
  },
  {
    name = "a file's functions may set _ENV for each other", file = "core/sandbox/sandbox_load.c",
    by = { "unit:sandbox_test", "spec:frozen" },
    from = "\"local _ENV <const> = _ENV \"", to = "\"local _ENV = _ENV \"",
    outside = LUA,
  },
  {
    name = "texts are hashed by what everybody knows", file = "core/embed/assembly.c",
    by = { "unit:assembly_test" },
    from = "    return directory == NULL ? 0 : soc_directory_seed(directory);\n",
    to = "    (void)directory;\n    return 0;\n",
    outside = "state directories, which a simulation does not have",
  },
}

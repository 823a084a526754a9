-- Planted faults of where keys go, and of what scripts can reach; see list.lua.

return {
  {
    name = "a key goes wherever Lua says", file = "core/script/calls/exchange.c",
    by = { "spec:keys_place" },
    from = "    check_secret(script, request, &fault);\n", to = "",
    outside = "a simulation has no keys",
  },
  {
    name = "a key's URL climbs out of its place", file = "core/script/calls/keys.c",
    by = { "unit:keys_test", "spec:keys_place" },
    from = "        if (is_dots(", to = "        if (false && is_dots(",
    outside = "a simulation has no keys",
  },
  {
    name = "a request with a key names another host", file = "core/script/calls/exchange.c",
    by = { "spec:keys_place" },
    from = "        is_good = !is_host && ", to = "        is_good = (!is_host || is_host) && ",
    outside = "a simulation has no keys",
  },
  {
    name = "a key's place is settled and changed", file = "core/script/bindings/settings.c",
    by = { "spec:keys_place" },
    from = "    if (is_of_keys && ", to = "    if (false && is_of_keys && ",
    outside = "a simulation has no keys",
  },
  {
    name = "the settings of models stay the script's own tables",
    file = "core/script/calls/chat_settings.c", by = { "spec:keys_place" },
    from = "    int rc = soc_lua_plain(L, index, \"llm\", detail);",
    to = "    int rc = SOC_OK;\n    lua_pushvalue(L, index);",
    outside = "a simulation has no keys",
  },
  {
    name = "the model client has the modules that scripts have", file = "core/script/calls/chat.c",
    by = { "spec:keys" },
    from = "    soc_environments_require(L, script, \"society.llm.engine\");\n",
    to = "    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);\n"
      .. "    lua_getfield(L, -1, \"require\");\n"
      .. "    lua_pushliteral(L, \"society.llm.engine\");\n    lua_call(L, 1, 1);\n",
    outside = "a simulation has no keys",
  },
  {
    name = "agents that think have the modules that scripts have",
    file = "core/script/turns/behaviour.c", by = { "spec:keys" },
    from = "\"llm\") == 0) {\n        soc_environments",
    to = "\"llm\") == 0) {\n        lua_pushliteral(L, \"society.llm.behaviour\");\n"
      .. "        lua_replace(L, 1);\n    }\n    if (false) {\n        soc_environments",
    outside = "a simulation has no keys",
  },
  {
    name = "a tool can claim to be a verb", file = "lua/society/llm/toolbox.lua",
    by = { "spec:keys_place" },
    from = "run = tool.run })", to = "run = tool.run, is_verb = tool.is_verb })",
    outside = "a simulation has no keys",
  },
}

std = "lua54"
max_line_length = 100
max_code_line_length = 100
max_cyclomatic_complexity = 12

-- What scripts may name in the sandbox, and policies there: they decide, and so
-- have no time, no chance and no voice of their own.
stds.policy = {
  read_globals = {
    "assert", "error", "getmetatable", "ipairs", "math", "next", "pairs", "pcall", "rawequal",
    "rawget", "rawlen", "rawset", "require", "select", "setmetatable", "string", "table",
    "tonumber", "tostring", "type", "utf8", "xpcall",
  },
}
stds.script = {
  read_globals = {
    "_VERSION", "arg", "coroutine", "load", "print",
    os = { fields = { "clock", "date", "time" } },
  },
}

files["policies"] = { std = "policy" }
files["lua"] = { std = "policy+script" }
-- The commands run outside every sandbox.
files["lua/society/command.lua"] = { std = "lua54" }
files["lua/society/command"] = { std = "lua54" }
files["lua/society/cli"] = { std = "lua54" }
files["examples"] = { std = "policy+script" }
files["tests"] = { std = "+busted" }
exclude_files = { "build" }

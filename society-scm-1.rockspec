-- From a checkout: luarocks make society-scm-1.rockspec
rockspec_format = "3.0"
package = "society"
version = "scm-1"
source = {
  url = "git+file://.",
}
description = {
  summary = "A host for societies of agents: durable turns, exact replay, simulation",
  detailed = [[
Runs agents written in Lua. What a turn does is committed as one or not at all,
an agent that waits goes on after a crash, and the same script runs in virtual
time from a seed.
]],
  license = "MIT",
}
dependencies = {
  "lua ~> 5.4",
}
test_dependencies = {
  "busted >= 2.1",
}
external_dependencies = {
  LIBUV = { header = "uv.h" },
  SQLITE = { header = "sqlite3.h" },
  CURL = { header = "curl/curl.h" },
}
build = {
  type = "make",
  build_target = "all",
  install_target = "install",
  install_variables = {
    PREFIX = "$(PREFIX)",
  },
}
test = {
  type = "command",
  command = "make spec",
}

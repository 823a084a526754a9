--- society demo: a small society to look at, with its page.

local arguments = require("society.cli.arguments")
local output = require("society.cli.output")
local program = require("society.program")

local M = {
  summary = "run a small society and show its page",
  options = {
    { "http", value = "PORT", text = "the port of the page; 0 (default): a free one" },
    { "state", value = "DIR", text = "where its state goes (default: .society-demo)",
      completes = "<directory>" },
  },
  notes = "A newsroom talks for some minutes and sometimes asks you something. Its models are "
    .. "scripted: it needs no key and no network. The page is reachable from this machine only. "
    .. "Each run starts over; the state is kept for `society inspect`.",
  example = "society demo --http 8080",
}

-- Where lua/, policies/ and examples/ are.
local function home()
  return assert(package.searchpath("society.command", package.path)):match("^(.*)/lua/society/")
end

function M.run(given)
  local port = given.http or "0"
  if not port:match("^%d+$") then
    return arguments.complain(M, "--http expects a port, as in: %s", M.example)
  end
  local state = given.state or ".society-demo"
  local app = home() .. "/examples/demo/newsroom.lua"
  return program.run({
    app = app, state = state, fresh = true, log = "none", quiet = true,
    http = "127.0.0.1:" .. port, http_open = true, rest = {}, policy = {}, set = {},
    again = output.words("society", "run", app, "--state", state, "--http", port,
      "--http-open"),
    welcome = "A newsroom is at work. See it, and decide what it asks you, at",
  })
end

return M

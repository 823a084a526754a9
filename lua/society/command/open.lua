--- society open: lets a browser in.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local output = require("society.cli.output")
local program = require("society.program")

local M = {
  summary = "open the page of a running society in a browser",
  options = {
    arguments.state,
    { "print", text = "only print the address" },
  },
  notes = "The address can be used once, within a minute.",
  example = "society open --state /var/lib/hello",
}

-- Starts a browser, where there is a desktop and somebody at the terminal.
local function start_browser(url)
  if not program.is_terminal(1) or not (os.getenv("DISPLAY") or os.getenv("WAYLAND_DISPLAY")) then
    return
  end
  os.execute(("xdg-open %s >/dev/null 2>&1 &"):format(output.quote(url)))
end

function M.run(given)
  local url, name, sentence = program.login_url(given.state)
  if not url then
    program.complain(sentence)
    return ask.code_of(name)
  end
  print(url)
  if not given.print then
    start_browser(url)
  end
  return arguments.DONE
end

return M

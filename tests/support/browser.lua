--- browser: the tests of the page that need a real browser, run by node.
--
--     browser.run("views.test.mjs")       -- fails the spec with what failed there
--
-- Pending where there is no Node, no npm or no chromium.

local npm = require("npm")
local program = require("program")
local tree = require("tree")

local M = {}

-- Exactly these: a new release must not fail the tests of a page that has not changed.
local PACKAGES = { "playwright-core@1.65.1", "axe-core@4.14.0" }

local BROWSERS = { "chromium", "chromium-browser", "google-chrome", "google-chrome-stable" }

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  return text, pipe:close()
end

-- The path of a browser, or nil and why not.
local function find_browser()
  local given = os.getenv("CHROMIUM")
  if given then
    return given
  end
  for _, name in ipairs(BROWSERS) do
    local path = output_of("command -v " .. name):match("^[^\n]+")
    if path then
      return path
    end
  end
  return nil, "chromium is not here"
end

-- What runs the tests: environment variables as the shell reads them, or nil and why not.
local function environment()
  local browser, reason = find_browser()
  if not browser then
    return nil, reason
  end
  local folder
  folder, reason = npm.folder(PACKAGES)
  if not folder then
    return nil, reason
  end
  return ("PAGE_NPM=%s CHROMIUM=%s"):format(program.quote(folder), program.quote(browser))
end

--- Runs a file of tests/web. `more` is further environment. Returns what it printed, or nil and
-- why it cannot be run.
function M.run(file, more)
  local variables, reason = environment()
  if not variables then
    return nil, reason
  end
  local command = ("%s %s node --test --test-reporter=tap %s 2>&1"):format(variables, more or "",
    program.quote(tree.path("tests/web/" .. file)))
  local text, is_done = output_of(command)
  assert(is_done and tonumber(text:match("\n# pass (%d+)")) > 0, text)
  return text
end

return M

--- canary: a place where the program has a key that must appear nowhere, and a model server
-- that knows it.
--
--     local place, server = canary.place()
--     … place:run("run app.lua") …
--     canary.assert_clean(text, "what it was")

local program = require("program")
local servers = require("server")

local M = {}

--- In the environment of the program as the key of every provider.
M.key = "sk-canary-5e1f0c1d9a"

--- Makes the place and starts the server. Its program has the key in its environment, and
-- nothing else of this process that concerns models.
function M.place()
  local place = program.place()
  local server = servers.start(place)
  place.bare = place.program
  place.program = place.path .. "/with_key"
  place:write("with_key", ([[#!/bin/sh
unset OPENAI_MODEL ANTHROPIC_MODEL
OPENAI_API_KEY=%s OPENAI_BASE_URL=%s/v1 ANTHROPIC_API_KEY=%s ANTHROPIC_BASE_URL=%s \
  exec %s "$@"
]]):format(M.key, server.url, M.key, server.url, program.quote(place.bare)))
  os.execute("chmod +x " .. program.quote(place.program))
  return place, server
end

--- Runs the program there on a terminal and returns every byte it shows. Lets a gated model
-- continue (model_server.py) once the terminal has shown `text`.
function M.watch(place, arguments, text)
  place:shell("rm -f go")
  local terminal = place:start_terminal(arguments)
  terminal:expect(text)
  place:write("go", ("\n"):rep(1000))
  return terminal:wait().out
end

-- A text with its escapes resolved, to any depth.
local function unescaped(text)
  return (text:gsub("\\+u00(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
    :gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

--- Raises if the text contains the key, or all but two letters of it.
function M.assert_clean(text, what)
  for _, form in ipairs({ text, unescaped(text) }) do
    assert(not form:find(M.key:sub(3), 1, true), what)
    assert(not form:find(M.key:sub(1, -3), 1, true), what)
  end
  -- The part of its base64 that is the same at any offset.
  for _, code in ipairs({ "c2stY2FuYXJ5LTVlMWYwYzFkOW", "NrLWNhbmFyeS01ZTFmMGMxZDlh",
    "zay1jYW5hcnktNWUxZjBjMWQ5Y" }) do
    assert(not text:find(code, 1, true), what)
  end
end

return M

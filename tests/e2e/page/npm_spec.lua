-- Specs that need the same packages at once all get them whole: support/npm.lua, with an npm
-- that takes its time and, like the real one, fails where another is at work.

local program = require("program")
local tree = require("tree")

local NPM = [[#!/bin/sh
[ "$1" = --version ] && exit
mkdir node_modules || exit 1
sleep 0.2
echo whole > node_modules/package
]]

local LOOK = [[
package.path = %q .. "/?.lua"
local folder = assert(require("npm").folder({ "package@1", "@other/package@2" }))
print(assert(io.open(folder .. "/node_modules/package")):read("l"))
]]

describe("packages of npm", function()
  it("are installed whole, however many ask at once", function()
    local place = program.place()
    place:write("npm", NPM)
    place:write("look.lua", LOOK:format(tree.path("tests/support")))
    local pipe = assert(io.popen(([[
      cd %s && chmod +x npm && export PATH="$PWD:$PATH" NPM_PACKAGES="$PWD/packages"
      for i in 1 2 3 4 5 6; do lua5.4 look.lua & done
      wait
      lua5.4 look.lua
      ls packages | wc -l]]):format(program.quote(place.path))))
    local text = pipe:read("a")
    pipe:close()
    place:remove()
    assert.equal(("whole\n"):rep(7) .. "1\n", text)
  end)
end)

-- A state directory that others could tamper with: links are not followed, a directory that
-- others can write is refused, and a client talks only to a society of its own user.

local program = require("program")

local APP = [[
  local society = require("society")
  society.main(function() print("done") end)
]]

-- Listens in .society/socket as another user until somebody says "end"; then .society/heard says
-- how many clients came before, and what they said. The socket gets its name once it listens, so
-- that whoever sees it can connect.
local FAKE = [[
import os, socket
fake = socket.socket(socket.AF_UNIX)
os.chmod(".society", 0o777)
os.setuid(65534)
fake.bind(".society/early")
fake.listen()
os.rename(".society/early", ".society/socket")
clients, heard = 0, b""
while not heard.endswith(b"end"):
    talk, _ = fake.accept()
    clients, heard = clients + 1, heard + talk.recv(65536)
    talk.close()
with open(".society/early", "wb") as file:
    file.write(b"%d before %s" % (clients - 1, heard))
os.rename(".society/early", ".society/heard")
]]

local END = [[
import socket
talk = socket.socket(socket.AF_UNIX)
talk.connect(".society/socket")
talk.send(b"end")
talk.recv(1)
]]

describe("the state directory", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  for _, way in ipairs({ "ln -s ../other", "ln other" }) do
    it("does not empty another file by its lock, with " .. way, function()
      place:write("other", "precious")
      place:shell(("mkdir -m 700 .society && %s .society/lock"):format(way))
      local result = place:run("run app.lua")
      assert.equal(1, result.code)
      assert.matches(".society/lock is a link or not a regular file", result.err, 1, true)
      assert.equal("precious", place:read("other"))
    end)
  end

  for _, name in ipairs({ "society.db", "society.db-wal", "society.db-mark", "society.db.new" }) do
    it("follows no link in the place of " .. name, function()
      place:run("run app.lua")
      place:write("other", "precious")
      place:shell(("rm -f .society/%s && ln -s ../other .society/%s"):format(name, name))
      local result = place:run("run app.lua")
      assert.is_true(result.code ~= 0)
      assert.matches(name .. " is a link or not a regular file", result.err, 1, true)
      assert.equal("precious", place:read("other"))
    end)
  end

  for _, mode in ipairs({ "777", "770", "1777" }) do
    it("is refused with mode " .. mode, function()
      place:shell("mkdir .society && chmod " .. mode .. " .society")
      local result = place:run("run app.lua")
      assert.equal(1, result.code)
      assert.matches("use: chmod go-w .society", result.err, 1, true)
      assert.equal("", place:shell("ls .society").out)
      place:shell("chmod go-w .society")
      assert.equal("done\n", place:run("run app.lua").out)
    end)
  end

  it("is warned of in a directory that everybody can write, however deep", function()
    place:shell("mkdir -p shared/deep && chmod 777 shared && mkdir -m 700 shared/deep/state")
    local result = place:run("run app.lua --state shared/deep/state")
    assert.equal("done\n", result.out)
    assert.matches("warn storage system: everybody can write .*/shared, above", result.err)
    place:shell("chmod +t shared")
    result = place:run("run app.lua --state shared/deep/state")
    assert.is_nil(result.err:find("everybody can write", 1, true))
  end)

  it("may lie in a directory like /tmp, and may be read by others", function()
    place:shell("mkdir tmp && chmod 1777 tmp && mkdir -m 755 tmp/state")
    assert.equal("done\n", place:run("run app.lua --state tmp/state").out)
  end)

  it("has a socket that clients use only if their own user listens there", function()
    if place:shell("id -u").out ~= "0\n" then
      return -- only root can pretend to be another user
    end
    place:shell("chmod 755 .")
    place:run("run app.lua")
    place:write("fake.py", FAKE)
    place:write("end.py", END)
    place:shell("python3 fake.py >/dev/null 2>&1 & :")
    program.wait_for("the other user's socket", function()
      return place:shell("test -S .society/socket").code == 0
    end)
    local result = place:run("send --to root hello")
    place:shell("python3 end.py")
    local heard = program.wait_for("what was heard", function()
      return place:read(".society/heard")
    end)
    assert.equal(1, result.code)
    assert.matches("socket belongs to another user; nothing was sent", result.err, 1, true)
    -- Whoever was warned does not ask again.
    assert.equal("1 before end", heard)
  end)
end)

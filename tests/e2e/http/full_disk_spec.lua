-- A disk that is full is answered with 507, and the society goes on when it is not.

local json = require("society.json")
local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.root(function(_, message) return { text = message.payload.text } end)
society.main(function() end)
]]

describe("a full disk", function()
  it("is answered with 507 and Retry-After, and the society goes on later", function()
    local place = program.place()
    place:write("app.lua", APP)
    local door = web.start(place, "run app.lua --http 0 --log warn", nil,
      ("FAULT_DIR=%s FAULT_WHEN=%s LD_PRELOAD=%s"):format(
        program.quote(place.path .. "/.society"), program.quote(place.path .. "/full"),
        program.quote(place:preload("disk_faults"))))
    assert.equal(200, door:post("/api/v1/intake", { text = "before", wait_ms = 60000 }).status)

    place:write("full", "")
    -- The first is in a batch when the disk turns out to be full: its answer waits. Or the
    -- host was writing something else just then: it is refused like all that come later.
    place:write("first", json.encode({ text = "during" }))
    place:shell(([[(curl -sS -i -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
      --data-binary @first %s/api/v1/intake > waited; echo done >> waited) & true]]):format(
      door.token, door.url))
    door.running:expect("the disk is full")
    local refused = door:post("/api/v1/intake", { text = "refused" })
    assert.equal(507, refused.status)
    assert.equal("storage_full", refused.json.error)
    assert.equal("1", refused.headers["retry-after"])
    assert.equal(200, door:curl("/healthz", false).status)
    assert.matches("society_disk_full 1\n", door:curl("/metrics").body, 1, true)

    place:shell("rm full")
    program.wait_for("the answer that had to wait", function()
      return (place:read("waited") or ""):find("done", 1, true)
    end)
    local was_taken = place:read("waited"):find("HTTP/1.1 202", 1, true) ~= nil
    if not was_taken then
      assert.matches("HTTP/1.1 507", place:read("waited"), 1, true)
    end
    local after = door:post("/api/v1/intake", { text = "after", wait_ms = 60000 })
    assert.equal(200, after.status)
    local texts = {}
    for _, row in ipairs(door:curl("/api/v1/messages?agent=root").json.items) do
      texts[#texts + 1] = row.to == "root" and row.payload.text or nil
    end
    door:stop()
    place:remove()
    assert.equal(was_taken and "before during after" or "before after", table.concat(texts, " "))
  end)
end)

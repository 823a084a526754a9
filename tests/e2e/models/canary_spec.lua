-- A key that the server sends back appears nowhere, whoever watches and however it fails.

local canary = require("canary")

local PREFIX = canary.key:sub(1, 6)

describe("the key", function()
  local place, server

  before_each(function() place, server = canary.place() end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  local function app(wish, settings)
    place:write("app.lua", ([[
      local society = require("society")
      society.config { llm = { model = "m", retries_max = 0, %s } }
      society.main(function(user)
        local answer, err = user:chat { messages = { { role = "user", content = %q } } }
        user:log("info", "heard", { answer = answer, err = err })
        print(answer and answer.content or err.error .. ": " .. err.message)
      end)]]):format(settings or "", wish))
  end

  -- Every byte on disk.
  local function disk()
    return place:shell("find .society -type f -exec cat {} +").out
  end

  it("is shown on no terminal while a model says it letter by letter", function()
    for _, form in ipairs({ "letters", "base64_letters", "percent_letters" }) do
      app(("leak %s 18 %s"):format(form, form == "letters" and "0.015" or "0.005"))
      local out = canary.watch(place, "run app.lua --fresh --log debug", "thinking: user")
      canary.assert_clean(out, form)
      assert.is_nil(out:find(PREFIX, 1, true), form)
      assert.is_nil(out:find("c2stY2Fu", 1, true), form)
      assert.is_nil(out:find("%73%6b%2d%63", 1, true), form)
      -- The terminal was updated while it came.
      assert.matches("thinking: user", out, 1, true)
      assert.matches("[secret]", out, 1, true)
      canary.assert_clean(disk(), form)
    end
  end)

  it("does not hide a model's other words from a terminal", function()
    app("gated sk-can words come sk- one by one")
    place:write("go", ("\n"):rep(3))
    local terminal = place:start_terminal("run app.lua --fresh --log warn")
    terminal:expect("): gated sk-can words")
    place:write("go", ("\n"):rep(1000))
    assert.equal(0, terminal:wait().code)
  end)

  it("is in no error that was cut in the middle of it", function()
    for cut = 1, 8 do
      app("detail 401 " .. cut)
      local result = place:run("run app.lua --fresh --log debug")
      assert.matches("invalid_key: the model's server says 401", result.out, 1, true)
      assert.matches("[secret]", result.out, 1, true)
      assert.matches("the rest is left out", result.out, 1, true)
      local all = result.out .. result.err .. disk()
      canary.assert_clean(all, "cut " .. cut)
      assert.is_nil(all:find("\\u0073\\u006b", 1, true))
    end
  end)
end)

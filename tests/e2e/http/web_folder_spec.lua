-- `--web DIR`: the page comes from there, and nothing from outside of it.

local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.root(function() end)
]]

describe("run --web", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    place:write("secret.txt", "nobody's business")
    place:shell("mkdir -p mine/deep && ln -s ../secret.txt mine/link.txt")
    place:write("mine/index.html", "<title>mine</title>")
    place:write("mine/deep/own.js", "export default 1;\n")
    door = web.start(place, "run app.lua --http 0 --log none --web mine")
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  it("serves the files of that folder, with their types and the policy of the page", function()
    local page = door:curl("/", false)
    assert.same({ 200, "<title>mine</title>" }, { page.status, page.body })
    assert.matches("^text/html", page.headers["content-type"])
    assert.matches("default%-src 'self'", page.headers["content-security-policy"])
    local script = door:curl("/deep/own.js", false)
    assert.same({ 200, "export default 1;\n" }, { script.status, script.body })
    assert.matches("^text/javascript", script.headers["content-type"])
    assert.equal(200, door:curl("/api/v1/stats").status)
  end)

  it("serves what has changed meanwhile, and none of the page that is built in", function()
    place:write("mine/deep/own.js", "export default 2;\n")
    assert.equal("export default 2;\n", door:curl("/deep/own.js", false).body)
    assert.equal(404, door:curl("/main.js").status)
  end)

  it("serves nothing from outside", function()
    for _, path in ipairs { "/../secret.txt", "/deep/../../secret.txt", "/%2e%2e/secret.txt",
      "/..%2fsecret.txt", "//secret.txt", "/deep" } do
      local answer = door:curl("--path-as-is " .. path)
      assert.is_true(answer.status >= 400 and answer.status < 500, path .. " " .. answer.status)
      assert.not_matches("business", answer.body)
    end
  end)
end)

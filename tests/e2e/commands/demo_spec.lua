-- society demo: it shows where its page is, the page is there, and the newsroom asks something.

local json = require("society.json")
local program = require("program")

local FETCH = "python3 -c 'import sys, urllib.request as web; "
  .. "print(web.urlopen(sys.argv[1]).read().decode())' "

describe("society demo", function()
  local place

  before_each(function() place = program.place() end)
  after_each(function() place:remove() end)

  it("runs without a key or network, serves the page and asks the person", function()
    local running = place:start("demo --state s", "env -u OPENAI_API_KEY -u ANTHROPIC_API_KEY")
    running:expect("http://127.0.0.1:")
    local url = running:out():match("http://127%.0%.0%.1:%d+")
    local page = place:shell(FETCH .. url .. "/").out
    assert.matches('<script type="module" src="main.js">', page, 1, true)
    local item = program.wait_for("a question", function()
      return json.decode(place:shell(FETCH .. url .. "/api/v1/inbox").out).items[1]
    end)
    assert.matches("Which headline", item.title)
    running:kill("INT")
    local ended = running:wait()
    assert.equal(130, ended.code)
    -- `demo` itself starts over: what is named must go on with this newsroom.
    local again = ended.err:match("resume with: society (run [^\n]+)")
    assert.is_string(again, ended.err)
    running = place:start(again)
    running:expect("listening on")
    assert.equal(0, place:run("call item " .. program.quote(json.encode({ item_id = item.id }))
      .. " --state s").code)
    running:kill("INT")
    assert.equal(130, running:wait().code)
    assert.equal(0, place:run("inspect agents --state s").code)
  end)

  it("refuses a port that is none", function()
    local result = place:run("demo --http here")
    assert.equal(2, result.code)
    assert.matches("expects a port", result.err)
  end)
end)

-- society config: values from flags, variables and society.conf.lua, and where they came from.

local json = require("society.json")
local program = require("program")

local APP = [[
  local society = require("society")
  society.main(function() print("done") end)
]]

local CONF = [[
-- A desk.
state = "desk"
http = 8080
policy = { contacts = "open",
  messages = "society,any" }
set = {
  -- language = "en",
  retention_days = 30,
  language = "zh",
}
]]

describe("society config", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  -- The rows of `society config` by name.
  local function config(arguments, variables)
    local result = place:shell((variables and "export " .. variables .. "; " or "")
      .. "society config --json " .. (arguments or ""))
    assert.equal(0, result.code, result.err)
    local rows = {}
    for line in result.out:gmatch("[^\n]+") do
      local row = json.decode(line)
      rows[row.name] = row
      row.name = nil
    end
    return rows
  end

  it("shows defaults", function()
    local rows = config()
    assert.same({ origin = "default", value = ".society" }, rows.state)
    assert.same({ origin = "default", value = "info" }, rows.log)
    assert.same({ origin = "default", value = false }, rows.json)
    assert.same({ origin = "default" }, rows.http)
    assert.matches("\nquiet +false +default\n", place:run("config").out)
  end)

  it("shows the line of the file, the variable and the flag, in that order of rank", function()
    place:write("society.conf.lua", CONF)
    local rows = config()
    assert.same({ origin = "file", value = "desk", where = "society.conf.lua:2" }, rows.state)
    assert.same({ origin = "file", value = "8080", where = "society.conf.lua:3" }, rows.http)
    assert.equal("society.conf.lua:4", rows["policy.contacts"].where)
    assert.equal("society.conf.lua:5", rows["policy.messages"].where)
    assert.same({ origin = "file", value = "30", where = "society.conf.lua:8" },
      rows["set.retention_days"])
    assert.same({ origin = "file", value = "zh", where = "society.conf.lua:9" },
      rows["set.language"])
    local variables = "SOCIETY_STATE=other SOCIETY_SET_RETENTION_DAYS=4 SOCIETY_QUIET=1 "
      .. "SOCIETY_POLICY_CONTACTS=strict SOCIETY_HTTP="
    rows = config(nil, variables)
    assert.same({ origin = "variable", value = "other", where = "SOCIETY_STATE" }, rows.state)
    assert.same({ origin = "variable", value = "4", where = "SOCIETY_SET_RETENTION_DAYS" },
      rows["set.retention_days"])
    assert.equal("strict", rows["policy.contacts"].value)
    assert.equal("society,any", rows["policy.messages"].value)
    assert.same({ origin = "default", value = "warn" }, rows.log)
    assert.equal("file", rows.http.origin)
    rows = config("--state third --set retention_days=5 --once", variables)
    assert.same({ origin = "flag", value = "third", where = "--state" }, rows.state)
    assert.same({ origin = "flag", value = "5", where = "--set" }, rows["set.retention_days"])
    assert.same({ origin = "flag", value = true, where = "--once" }, rows.once)
    assert.equal("zh", rows["set.language"].value)
  end)

  it("is what run and the other commands use", function()
    place:write("app.lua", APP)
    place:write("society.conf.lua", 'state = "desk"\njson = true\nset = { name = "12" }\n')
    local result = place:run("run app.lua")
    assert.equal('{"print":"done","agent":"user"}\n', result.out, result.err)
    assert.matches('"user"', place:run("inspect agents --json").out, 1, true)
    assert.not_matches("^{", place:run("inspect agents").out)
    assert.equal(0, place:shell("test -e desk/society.db && test ! -e .society").code)
    result = place:shell("SOCIETY_JSON=0 SOCIETY_STATE=second society run app.lua")
    assert.equal("done\n", result.out)
    assert.equal(0, place:shell("test -e second/society.db").code)
    place:write("else.lua", 'state = "third"')
    assert.equal("done\n", place:shell("SOCIETY_CONFIG=else.lua society run app.lua").out)
    assert.equal(0, place:shell("test -e third/society.db").code)
  end)

  it("refuses what it does not know, with a suggestion", function()
    local function refused(sentence, text, variables, command)
      place:write("society.conf.lua", text or "")
      local result = place:shell((variables and "export " .. variables .. "; " or "") .. "society "
        .. (command or "config"))
      assert.same({ code = 2, out = "", err = "society: " .. sentence .. "\n" }, result)
    end
    refused("society.conf.lua:2: unknown name 'stat'; did you mean 'state'?", "\nstat = 'x'")
    refused("society.conf.lua:3: set: unknown name 'retenton_mb'; did you mean 'retention_mb'?",
      "set = {\n  retention_days = 1,\n  retenton_mb = 2,\n}")
    refused("society.conf.lua:1: policy: unknown name 'contact'; did you mean 'contacts'?",
      "policy = { contact = 'open' }")
    refused("unknown variable SOCIETY_STAET; did you mean SOCIETY_STATE?", nil,
      "SOCIETY_STAET=x", "inspect agents")
    refused("unknown variable SOCIETY_SET_RETENTON_MB; did you mean SOCIETY_SET_RETENTION_MB?",
      nil, "SOCIETY_SET_RETENTON_MB=1")
    refused("unknown variable SOCIETY_ZORK; `society config` lists what can be set", nil,
      "SOCIETY_ZORK=1", "run app.lua")
    refused("society.conf.lua:1: json must be true or false", "json = 1")
    refused("SOCIETY_JSON: json must be true or false", nil, "SOCIETY_JSON=maybe")
    refused("society.conf.lua:1: log must be debug, info, warn, error or none", "log = 'loud'")
    refused("society.conf.lua:1: http must be a text or a number", "http = true")
    refused("society.conf.lua:2: 'state' was given on line 1 already", "state = 'a'\nstate = 'b'")
    refused("society.conf.lua:1: policy: a table such as { contacts = … } expected",
      "policy = 'open'")
    refused("society.conf.lua:1: society.conf.lua only holds values; there is no 'os' here",
      "state = os.getenv('HOME')")
    refused("society.conf.lua takes too many steps", "while true do end")
    refused("society.conf.lua must assign values, such as http = 8080, and return nothing",
      "return { state = 'x' }")
    refused("society.conf.lua:1: unexpected symbol near <eof>", "state =")
    refused("nowhere.lua: No such file or directory", nil, "SOCIETY_CONFIG=nowhere.lua")
  end)

  it("does not concern commands that have no state", function()
    place:write("app.lua", APP)
    place:write("society.conf.lua", "zork = 1")
    assert.equal(0, place:run("sim app.lua").code)
    assert.equal(0, place:run("version").code)
    assert.equal(0, place:run("help run").code)
  end)
end)

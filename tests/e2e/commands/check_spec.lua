-- Covers: core/main/cmd_check.c, core/main/lint.c, core/script/policies/policy_audit.c

local program = require("program")

describe("society check of a policy", function()
  local place

  before_each(function()
    place = program.place()
    place:shell("mkdir -p policies/contacts")
  end)

  after_each(function()
    place:remove()
  end)

  local function check(text, name)
    name = place:write(name or "mine.lua", text)
    local result = place:run("check " .. name)
    return result, result.err
  end

  it("prints ok, the kind, and how many examples it ran", function()
    assert.same({ code = 0, err = "", out = "ok: a policy of the kind contacts, 0 examples\n" },
      (check('return { kind = "contacts", version = 1, may_send = function() return true end }')))
    for kind, name in pairs({ briefs = "lenient", presentation = "zh" }) do
      -- the directory the specs run in, before the shell went to the place
      local result = place:run(('check "$OLDPWD/policies/%s/%s.lua"'):format(kind, name))
      assert.equal("", result.err)
      assert.matches("^ok: a policy of the kind " .. kind .. ", %d examples\n$", result.out)
    end
  end)

  it("accepts every shipped policy without a warning", function()
    local count = 0
    for path in place:shell('cd "$OLDPWD" && ls "$PWD"/policies/*/*.lua').out:gmatch("[^\n]+") do
      local result = place:run(("check %q"):format(path))
      assert.same({ 0, "" }, { result.code, result.err })
      count = count + 1
    end
    assert.is_true(count > 15)
  end)

  it("reports everything at once, with file and line", function()
    local result = check([[
-- one with many faults
local M = {
  kind = "briefs",
  version = "1",
  default = { hint = "x" },
}

function M.may_sned(request)
  return io.open(request)
end

function M.may_send(request)
  if request.n == 1 then
    while true do end
  end
  return os.execute(request.x) or print
end

local function unused(list)
  local io2 <const>, b = 1, { assert = list }
  for _, v in ipairs(list) do b[v] = io2 end
  return tostring(b)
end

M.examples = {
  { ask = "may_send", given = { { n = 1 } }, expect = true },
  {
    ask = "may_send", given = { { n = 2 } }, expect = true,
  },
  { ask = "unused", given = {} }, { ask = "may_send" },
  unused,
}

return M
]], "policies/contacts/mine.lua")
    assert.equal(1, result.code)
    assert.equal("", result.out)
    local lines = {}
    for line in result.err:gmatch("[^\n]+") do
      lines[#lines + 1] = line:match("^policies/contacts/mine%.lua:(.*)$")
    end
    local expected = {
      "^9: 'io' does not exist", "^16: 'os.execute' does not exist", "^16: 'print' does not exist",
      '^3: kind must be "contacts"$', "^4: version must be a number$",
      "^5: warning: unknown field 'default'; did you mean 'defaults'%?$",
      "^8: warning: no question .* is called 'may_sned'; did you mean 'may_send'%?$",
      "^14: example 1: the policy ran too many steps",
      "^16: example 2: attempt to call a nil value %(field 'execute'%)$",
      "^30: example 3: the policy has no function 'unused'$", "^30: example 4: { ask = ",
      "^31: example 5: it must be a table$",
    }
    assert.equal(#expected, #lines, result.err)
    for i, pattern in ipairs(expected) do
      assert.matches(pattern, lines[i])
    end
  end)

  it("prints the expected and the actual answer", function()
    local _, err = check([[
local M = { kind = "supervision", version = 1 }
M.retry_after = function() return nil end
M.examples = {
  { ask = "retry_after", given = { {} }, expect = nil },
  { ask = "retry_after",
    given = { {} }, expect = 5 },
}
return M
]])
    assert.equal("mine.lua:5: example 2: expected 5, got null\n", err)
  end)

  it("names the line of a file that does not load", function()
    local function err_of(text)
      local result, err = check(text, "policies/contacts/mine.lua")
      assert.equal(1, result.code)
      return err:gsub("^policies/contacts/mine%.lua:", "")
    end
    assert.matches("^2: unexpected symbol near '='\n$", err_of("local M = {}\nM.x = = 1\nreturn M"))
    assert.matches("^2: on purpose\n$", err_of('\nerror("on purpose")\n'))
    assert.matches("^3: .*too many steps", err_of("\n\nwhile true do end"))
    assert.matches("^2: the file must return a table, not a nil\n$", err_of("local x = 1\nreturn"))
    assert.matches("^1: the file must return a table", err_of("local x = 1"))
    assert.matches("^1: .*'io'", err_of("local f = io.open('x')\nreturn {}"))
    local long = ("long/"):rep(20) .. "policies/contacts"
    place:shell("mkdir -p " .. long)
    local _, err = check("\nx = = 1", long .. "/mine.lua")
    assert.equal(long .. "/mine.lua:2: unexpected symbol near '='\n", err)
  end)

  it("lists the kinds if the kind is unknown", function()
    local result, err = check('\nreturn { kind = "contact", version = 1 }')
    assert.equal(1, result.code)
    assert.matches("^mine%.lua:2: there is no policy kind 'contact'; did you mean 'contacts'%? "
      .. "%(kinds: contacts, briefs, ", err)
  end)

  it("is part of the check of the app that uses it", function()
    place:write("app.lua", [[
      local society = require("society")
      society.policy("contacts", "mine")
    ]])
    check('\nreturn { kind = "contacts" }', "policies/contacts/mine.lua")
    local result = place:run("check app.lua")
    assert.equal(1, result.code)
    assert.matches("app%.lua:2: %./policies/contacts/mine%.lua:2: version must be a number\n$",
      result.err)
    check([[
      local function unused() return io.open("x") end
      return { kind = "contacts", version = 1, hint = unused, may_send = function() end }
    ]], "policies/contacts/mine.lua")
    result = place:run("check app.lua")
    assert.equal(1, result.code)
    assert.matches("mine%.lua:1: 'io' does not exist", result.err)
    assert.matches("mine%.lua:1: warning: no question", result.err)
  end)
end)

-- society.json on many generated values, with lua-cjson as a second opinion. The values are
-- the same on every run.

local cjson = require("cjson")
local json = require("society.json")

-- Equal in type and value, floats bit by bit, lists distinct from objects.
local function is_same(a, b)
  if math.type(a) ~= math.type(b) or type(a) ~= type(b) then
    return false
  elseif math.type(a) == "float" then
    return string.pack("d", a) == string.pack("d", b)
  elseif type(a) ~= "table" then
    return a == b
  end
  for key, value in pairs(a) do
    if not is_same(value, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return next(a) ~= nil or json.encode(a) == json.encode(b)
end

-- Texts are made of these.
local pieces = {
  "a", "Z9", "_", " ", "\n", "\0", "\"", "\\", "\x7f", "é", "你", "😀", "\u{ffff}",
  "plain text of ten words",
}

local function random_text(rng)
  local parts = {}
  for i = 1, rng(0, 6) do
    parts[i] = pieces[rng(1, #pieces)]
  end
  return table.concat(parts)
end

local function random_scalar(rng)
  local kind = rng(1, 7)
  if kind == 1 then
    return rng(0)
  elseif kind == 2 then
    return rng(-1000, 1000)
  elseif kind == 3 then
    return rng(-100000, 100000) / 10 ^ rng(0, 8)
  elseif kind == 4 then
    local number = string.unpack("d", string.pack("i8", rng(0)))
    return number - number == 0 and number or -0.0
  elseif kind == 5 then
    return ({ true, false, json.null })[rng(1, 3)]
  end
  return random_text(rng)
end

local function random_value(rng, depth)
  local kind = depth == 0 and 0 or rng(0, 2)
  if kind == 0 then
    return random_scalar(rng)
  end
  local value = kind == 1 and json.array({}) or {}
  for i = 1, rng(0, depth == 1 and rng(1, 20) == 20 and 90 or 4) do
    value[kind == 1 and i or random_text(rng)] = random_value(rng, depth - 1)
  end
  return value
end

-- The same value built in reverse, so that Lua stores it differently.
local function rebuilt(value)
  if type(value) ~= "table" then
    return value
  end
  local keys = {}
  for key in pairs(value) do
    table.insert(keys, 1, key)
  end
  local copy = getmetatable(value) == false and json.array({}) or {}
  for _, key in ipairs(keys) do
    copy[key] = rebuilt(value[key])
  end
  return copy
end

-- By bytes, not by the locale.
local function is_before(a, b)
  for i = 1, math.min(#a, #b) do
    if a:byte(i) ~= b:byte(i) then
      return a:byte(i) < b:byte(i)
    end
  end
  return #a < #b
end

-- The encoder in its simplest form.
local function plainly(value)
  if type(value) ~= "table" then
    return json.encode(value)
  end
  local parts = {}
  if getmetatable(value) == false then
    for i, element in ipairs(value) do
      parts[i] = plainly(element)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local names = {}
  for name in pairs(value) do
    names[#names + 1] = name
  end
  table.sort(names, is_before)
  for i, name in ipairs(names) do
    parts[i] = json.encode(name) .. ":" .. plainly(value[name])
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

-- Equal as far as lua-cjson can tell: every number is a float to it.
local function is_alike(ours, theirs)
  if type(ours) == "number" then
    return ours + 0.0 == theirs
  elseif type(ours) ~= "table" then
    return ours == theirs
  end
  for key, value in pairs(ours) do
    if not is_alike(value, theirs[key]) then
      return false
    end
  end
  return true
end

describe("json on generated values", function()
  local function each(check)
    local rng = math.random
    math.randomseed(20260105)
    for _ = 1, 3000 do
      check(random_value(rng, 3))
    end
  end

  it("decodes what it encoded to the same value", function()
    each(function(value)
      assert.is_true(is_same(value, json.decode(assert(json.encode(value)))))
    end)
  end)

  it("encodes equal values to equal bytes", function()
    each(function(value)
      local text = json.encode(value)
      assert.equal(text, json.encode(rebuilt(value)))
      assert.equal(text, json.encode(json.decode(text)))
    end)
  end)

  it("writes lists in order and members sorted by bytes", function()
    each(function(value)
      assert.equal(plainly(value), json.encode(value))
    end)
  end)

  it("writes what lua-cjson reads as the same values", function()
    each(function(value)
      assert.is_true(is_alike(value, cjson.decode(json.encode(value))))
    end)
  end)

  it("reads what lua-cjson writes", function()
    each(function(value)
      local text = type(value) == "string" and value or json.encode(value)
      assert.equal(text, json.decode(cjson.encode(text)))
      assert.same({ a = text, b = { true } }, json.decode(cjson.encode({ a = text, b = { true } })))
    end)
  end)

  it("survives any one-byte change of a text", function()
    each(function(value)
      local text = json.encode(value)
      local at = math.random(1, #text)
      local changed = text:sub(1, at - 1) .. string.char(math.random(0, 255)) .. text:sub(at + 1)
      local other, err = json.decode(changed)
      if err then
        assert.is_true(err.position >= 1 and err.position <= #changed + 1)
      else
        assert.is_true(is_same(other, json.decode(json.encode(other))))
      end
    end)
  end)
end)

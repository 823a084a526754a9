-- society.json in detail: it reads exactly what the RFC allows, and refuses anything else
-- with its position.
--
-- Covers: core/lualib/lua_json_decode.c

local json = require("society.json")

local DEPTH_MAX = 64

-- The byte of a text as JSON would show it, for the names of cases.
local function shown(text)
  return (text:gsub("[^\x20-\x7e]", function(c) return ("\\x%02x"):format(c:byte()) end))
end

local function refusal(text)
  local value, err = json.decode(text)
  assert.is_nil(value, shown(text))
  return err
end

local function nested(levels)
  return ("["):rep(levels) .. ("]"):rep(levels)
end

-- Equal in type and value, floats bit by bit: 1 is not 1.0, nor 0.0 -0.0.
local function is_same(a, b)
  if math.type(a) == "float" and math.type(b) == "float" then
    return string.pack("d", a) == string.pack("d", b)
  end
  return math.type(a) == math.type(b) and a == b
end

describe("json.decode", function()
  for _, case in ipairs({
    { "0", 0 }, { "-1", -1 }, { "-0", -0.0 }, { "-0.0", -0.0 }, { "0.0", 0.0 }, { "-0e5", -0.0 },
    { "1.0", 1.0 }, { "1e2", 100.0 }, { "1E+2", 100.0 }, { "25e-1", 2.5 }, { "0.1", 0.1 },
    { "9223372036854775807", math.maxinteger }, { "-9223372036854775808", math.mininteger },
    { "9223372036854775807.0", 2.0 ^ 63 }, { "9223372036854775808.0", 2.0 ^ 63 },
    { "18446744073709551616e0", 2.0 ^ 64 }, { "9007199254740993", 9007199254740993 },
    { "9223372036854775808", 2.0 ^ 63 }, { "-9223372036854775809", -(2.0 ^ 63) },
    { " 18446744073709551616", 2.0 ^ 64 }, { "1" .. ("0"):rep(30), 1e30 },
    { "1.7976931348623157e308", 1.7976931348623157e308 }, { "5e-324", 5e-324 },
    { "1e-400", 0.0 }, { "0e999999999999", 0.0 },
    { "2.2250738585072011e-308", 0x0.fffffffffffffp-1022 },
    { "123456789012345678901234567890.5", 123456789012345678901234567890.5 },
    { "true", true }, { "false", false }, { " \t\r\n1 ", 1 },
    { '""', "" }, { '"\x7f"', "\x7f" }, { [["\"\\\/\b\f\n\r\t"]], "\"\\/\b\f\n\r\t" },
    { [["\u0000\u001f\u00e9\u4F60\uFFFF"]], "\0\x1fé你\u{ffff}" },
    { [["\ud83d\ude00\uD800\uDC00\uDBFF\uDFFF"]], "😀\u{10000}\u{10ffff}" },
    { '"\xc2\x80\xe0\xa0\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"',
      "\u{80}\u{800}\u{10000}\u{10ffff}" },
    { '"\u{feff}\u{2028}"', "\u{feff}\u{2028}" },
  }) do
    it("reads " .. shown(case[1]), function()
      local value = json.decode(case[1])
      assert.is_true(is_same(case[2], value), tostring(value))
    end)
  end

  it("reads null as json.null, which is neither nil nor false", function()
    assert.equal(json.null, json.decode("null"))
    assert.is_truthy(json.null)
    assert.same({ a = json.null }, json.decode('{"a":null}'))
  end)

  for _, case in ipairs({
    { "[1" .. ("0"):rep(400) .. "]", "number out of range", 2 },
    { "1e400", "number out of range", 1 }, { "[0,-1e400]", "number out of range", 4 },
    { "1.8e308", "number out of range", 1 },
    { "01", "a number cannot begin with 0", 1 }, { "-01", "a number cannot begin with 0", 2 },
    { "-", "a digit is expected", 2 }, { "1.", "a digit is expected", 3 },
    { "1.e5", "a digit is expected", 3 }, { "1e+", "a digit is expected", 4 },
    { "-a", "a digit is expected", 2 }, { ".5", "a value is expected", 1 },
    { "+1", "a value is expected", 1 }, { "0x10", "unexpected text after the value", 2 },
    { "NaN", "a value is expected", 1 }, { "nan", "a value is expected", 1 },
    { "-Infinity", "a digit is expected", 2 }, { "nulL", "a value is expected", 1 },
    { "", "a value is expected", 1 }, { "  ", "a value is expected", 3 },
    { "\xef\xbb\xbf1", "a value is expected", 1 },
    { "1 1", "unexpected text after the value", 3 },
    { "1\0", "unexpected text after the value", 2 },
    { "[]]", "unexpected text after the value", 3 },
    { "\0", "a value is expected", 1 }, { "\f1", "a value is expected", 1 },
    { "[1,]", "a value is expected", 4 }, { "[,1]", "a value is expected", 2 },
    { "[1 2]", "a comma or ] is expected", 4 }, { "[1}", "a comma or ] is expected", 3 },
    { '{"a":1]', "a comma or } is expected", 7 }, { '{"a":1,}', "a member name is expected", 8 },
    { "{a:1}", "a member name is expected", 2 }, { "{1:1}", "a member name is expected", 2 },
    { '{"a"}', "a colon is expected", 5 }, { '{"a":}', "a value is expected", 6 },
    { '{"a":1,"b":2,"a":3}', "a member name is repeated", 14 },
    { [[{"a":1,"\u0061":2}]], "a member name is repeated", 8 },
    { '"a\nb"', "a control character must be escaped", 3 },
    { '"\0"', "a control character must be escaped", 2 },
    { '"\x1f"', "a control character must be escaped", 2 },
    { '"abc', "unterminated string", 5 }, { '"abc\\', "unterminated string", 6 },
    { [["\x41"]], [[an escape is not one of \" \\ \/ \b \f \n \r \t \u]], 2 },
    { [["\u12"]], [[\u needs four hexadecimal digits]], 2 },
    { [["\u-123"]], [[\u needs four hexadecimal digits]], 2 },
    { [["a\ud800"]], "unpaired surrogate", 3 }, { [["\udc00\ud800"]], "unpaired surrogate", 2 },
    { [["\ud800\u0041"]], "unpaired surrogate", 2 }, { [["\ud800x"]], "unpaired surrogate", 2 },
    { '"\x80"', "the text is not UTF-8", 2 }, { '"a\xc0\xaf"', "the text is not UTF-8", 3 },
    { '"\xe0\x80\xaf"', "the text is not UTF-8", 2 },
    { '"\xf0\x80\x80\xaf"', "the text is not UTF-8", 2 },
    { '"\xed\xa0\x80"', "the text is not UTF-8", 2 },
    { '"\xed\xbf\xbf"', "the text is not UTF-8", 2 },
    { '"\xf4\x90\x80\x80"', "the text is not UTF-8", 2 }, { '"\xfe"', "the text is not UTF-8", 2 },
    { '"\xe4\xbd"', "the text is not UTF-8", 2 }, { '{"\xff":1}', "the text is not UTF-8", 3 },
  }) do
    it("refuses " .. shown(case[1]):sub(1, 60) .. ", as " .. case[2], function()
      local err = { error = "invalid_json", message = case[2], position = case[3] }
      assert.same(err, refusal(case[1]))
    end)
  end

  it("distinguishes lists and objects, even empty ones", function()
    for _, text in ipairs({ "[]", "{}", "[[],{}]", '{"a":[],"b":{}}', "[1]", '{"1":1}' }) do
      assert.equal(text, json.encode(json.decode(text)))
    end
  end)

  it("accepts the maximum depth and no more", function()
    assert.equal(nested(DEPTH_MAX), json.encode(json.decode(nested(DEPTH_MAX))))
    local err = refusal(nested(DEPTH_MAX + 1))
    assert.same({ "too_large", DEPTH_MAX + 1 }, { err.error, err.position })
    assert.equal("too_large", refusal(("["):rep(1000000)).error)
    assert.equal("too_large", refusal(('{"a":'):rep(1000000)).error)
  end)

  it("refuses a text cut short at any byte, and any extra byte", function()
    local text = [==[{"a":[1,-2.5e+3,"x\u00e9\ud83d\ude00你"],"b":{"c":null,"d":true},"e":[[]]}]==]
    assert.is_table(json.decode(text))
    for length = 0, #text - 1 do
      refusal(text:sub(1, length))
    end
    for byte = 0, 255 do
      if not string.char(byte):find("[ \t\r\n]") then
        assert.equal(#text + 1, refusal(text .. string.char(byte)).position)
      end
    end
  end)

  it("finds a repeated name in a large object", function()
    local members = {}
    for i = 1, 100000 do
      members[i] = ('"name %d":%d'):format(i, i)
    end
    local text = "{" .. table.concat(members, ",")
    local value = json.decode(text .. "}")
    assert.equal(77, value["name 77"])
    assert.same(value, json.decode(json.encode(value)))
    local err = refusal(text .. ',"name 77":0}')
    assert.same({ "a member name is repeated", #text + 2 }, { err.message, err.position })
    local long = ("n"):rep(100)
    assert.is_table(json.decode(('{"%s1":1,"%s2":2}'):format(long, long)))
    refusal(('{"%s":1,"b":2,"%s":2}'):format(long, long))
  end)

  it("gives every list its metatable, which nobody can change", function()
    local list = json.decode("[1]")
    assert.is_false(getmetatable(list))
    assert.has_error(function() setmetatable(list, nil) end)
    list[1] = nil
    assert.equal("[]", json.encode(list))
  end)

  it("raises if the text is not a string", function()
    assert.has_error(function() json.decode(1) end)
    assert.has_error(function() json.decode() end)
  end)
end)

describe("json.encode", function()
  for _, case in ipairs({
    { 1, "1" }, { -1, "-1" }, { 1.0, "1.0" }, { 0.0, "0.0" }, { -0.0, "-0.0" }, { 0.1, "0.1" },
    { 1e15, "1e+15" }, { 1e100, "1e+100" }, { 1 / 3, "0.3333333333333333" }, { 123.456, "123.456" },
    { math.maxinteger, "9223372036854775807" }, { math.mininteger, "-9223372036854775808" },
    { 2.0 ^ 53, "9007199254740992.0" }, { 2.0 ^ 63, "9.223372036854776e+18" }, { 5e-324, "5e-324" },
    { "", '""' }, { "é/\x7f", '"é/\x7f"' }, { "\"\\\b\f\n\r\t", [["\"\\\b\f\n\r\t"]] },
    { "\0\x1f", [["\u0000\u001f"]] }, { true, "true" }, { json.null, "null" }, { {}, "{}" },
    { json.array({}), "[]" }, { { 1, { 2 } }, "[1,[2]]" }, { { [1.0] = "x" }, '["x"]' },
    { { b = 1, a = 2, B = 3, ["a\0"] = 4, [""] = 5, aa = 6, ["é"] = 7 },
      [[{"":5,"B":3,"a":2,"a\u0000":4,"aa":6,"b":1,"é":7}]] },
  }) do
    it("writes " .. shown(case[2]), function()
      assert.equal(case[2], (json.encode(case[1])))
    end)
  end

  local circle = {}
  circle.again = { circle }
  for name, case in pairs({
    ["nil"] = { nil, "value: nil cannot be JSON" },
    ["a function"] = { { a = { 1, print } }, "value.a[2]: a function cannot be JSON" },
    ["a coroutine"] = { { coroutine.create(print) }, "value[1]: a coroutine cannot be JSON" },
    ["a userdata"] = { { x = io.stdout }, "value.x: a userdata cannot be JSON" },
    ["not-a-number"] = { { ["a b"] = 0 / 0 }, 'value["a b"]: not-a-number cannot be JSON' },
    ["infinity"] = { { -math.huge }, "value[1]: an infinite number cannot be JSON" },
    ["broken UTF-8"] = { { x = "\xed\xa0\x80" }, "value.x: the string is not UTF-8" },
    ["a hole"] = { { x = { 1, nil, 3 } }, "value.x: table keys must be strings" },
    ["mixed keys"] = { { 1, x = 2 }, "value: table keys must be strings" },
    ["a key 0"] = { { [0] = 2 }, "value: table keys must be strings" },
    ["a boolean key"] = { { [true] = 2 }, "value: table keys must be strings" },
    ["a marked object"] = { json.array({ x = 1 }), "value: table keys must be strings" },
    ["a circle"] = { circle, "value.again[1].again[1]" },
  }) do
    it("refuses " .. name .. " and names its path", function()
      local text, err = json.encode(case[1])
      assert.is_nil(text)
      assert.equal("invalid_argument", err.error)
      assert.equal(case[2], err.message:sub(1, #case[2]))
    end)
  end

  it("calls no metamethods", function()
    local function bad() error("called") end
    local meta = { __index = bad, __pairs = bad, __len = bad, __tostring = bad, __eq = bad }
    assert.equal('{"a":[1]}', json.encode(setmetatable({ a = setmetatable({ 1 }, meta) }, meta)))
  end)

  it("raises without a value, and for array() of anything but a plain table", function()
    assert.has_error(function() json.encode() end)
    assert.has_error(function() json.array("x") end)
    assert.has_error(function() json.array(setmetatable({}, {})) end)
    local list = json.array({})
    assert.equal(list, json.array(list))
  end)
end)

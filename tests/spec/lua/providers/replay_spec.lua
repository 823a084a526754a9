-- Recorded answers are replayed, and a mismatch fails loudly.
-- tests/e2e/models/record_spec.lua shows that only real runs record.
--
-- Covers: core/script/calls/chat_host.c

local model = require("model")
local replay = require("society.llm.replay")
local scene = require("scene")

local function run(llm, texts, options)
  local results = {}
  local s = scene.troupe({
    root = function(root, message)
      local answer, err = root:chat({ messages = { { role = "user",
        content = message.payload.text } } })
      results[#results + 1] = answer and answer.content or err
    end,
  }, { unexpected_calls = true, config = { llm = llm }, http = options and options.http })
  for _, text in ipairs(texts) do
    scene.tell(s, "root", text)
  end
  return results
end

-- Records that root's call of that number, with that last message, was answered so.
local function record(path, turn, last, content)
  local file = assert(io.open(path, "a"))
  file:write(replay.line({ agent = "root", turn = turn,
    chat = { messages = { { role = "user", content = last } } } }, { content = content }), "\n")
  file:close()
end

describe("a recording", function()
  after_each(scene.close)

  local path

  before_each(function()
    path = scene.folder() .. "/answers.jsonl"
    record(path, 1, "one", "answer 1")
    record(path, 2, "two", "answer 2")
  end)

  it("is not made by a simulation, whoever answers", function()
    local function said() return model.say("of the model") end
    local llm = { provider = "openai", model = "m", record = path .. ".new" }
    assert.same({ "of the model" }, run(llm, { "one" }, { http = said }))
    assert.is_nil(io.open(path .. ".new"))
    assert.same({ "written" }, run({ provider = "scripted", answers = { "written" },
      record = path .. ".new" }, { "one" }))
    assert.is_nil(io.open(path .. ".new"))
  end)

  it("shows a line break in a mismatch as one", function()
    local results = run({ provider = "replay", replay = path }, { "a\nb" })
    assert.matches([[last = "a\nb"]], results[1].message, 1, true)
    results = run({ provider = "scripted", answers = { { expect = "x\ny", content = "" } } },
      { "a\nb" })
    assert.matches([[holds "x\ny"]], results[1].message, 1, true)
    assert.matches([[last = "a\nb"]], results[1].message, 1, true)
  end)

  it("gives the same answers again", function()
    assert.same({ "answer 1", "answer 2" },
      run({ provider = "replay", replay = path }, { "one", "two" }))
  end)

  it("fails loudly where a call does not match, and shows both", function()
    local results = run({ provider = "replay", replay = path }, { "one", "other", "third" })
    assert.equal("answer 1", results[1])
    assert.equal("script_mismatch", results[2].error)
    assert.matches('last = "two"', results[2].message, 1, true)
    assert.matches('last = "other"', results[2].message, 1, true)
    assert.matches("no such call was recorded", results[3].message, 1, true)
  end)

  -- What the host generated in two runs.
  local MADE = {
    { '{"messageId":"msg_20261117_022615_108000000000004"}',
      '{"messageId":"msg_20270101_000000_00000000000abcd"}' },
    { '[{"addedAt":"2026-11-17T02:26:15.074Z","id":"user"}]',
      '[{"addedAt":"2027-01-01T00:00:00Z","id":"user"}]' },
    { "since 2026-11-17T02:26:15+01:00", "since 2027-01-01T00:00:00.5-07:30" },
    { "Task msg_20261117_022615_074000000000001 is still open",
      "Task msg_20270101_000000_000000000000002 is still open" },
    { "item_20261117_022615_074000000000001, chk_20261117_022615_074000000000002",
      "item_20270101_000000_000000000000003, chk_20270101_000000_000000000000004" },
    { "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "00-00000000000000000000000000000001-0000000000000002-00" },
    { [[{"duration_minutes":0.001,"text":"{\\"duration_minutes\\":2}"}]],
      [[{"duration_minutes":0,"text":"{\\"duration_minutes\\":1e-05}"}]] },
  }

  for _, texts in ipairs(MADE) do
    it("matches whatever ids and times the host generated: " .. texts[1], function()
      record(path, 1, texts[1], "the first")
      record(path, 2, texts[1]:gsub("2026", "2025"), "the second")
      assert.same({ "the first", "the second" },
        run({ provider = "replay", replay = path }, { texts[2], texts[1] }))
    end)
  end

  it("does not match if anything else differs", function()
    for _, texts in ipairs({ { "msg_1", "msg_2" }, { "2026-11-17", "2026-11-18" },
      { "item_20261117_022615_074000000000001", "msg_20261117_022615_074000000000001" },
      { "at 2026-11-17T02:26:15.074Z", "at msg_20261117_022615_074000000000001" },
      { "0af7651916cd43dd8448eb211c80319c", "00000000000000000000000000000001" } }) do
      record(path, 1, texts[1], "no")
      local err = run({ provider = "replay", replay = path }, { texts[2] })[1]
      assert.equal("script_mismatch", err.error)
      assert.matches(texts[1], err.message, 1, true)
      assert.matches(texts[2], err.message, 1, true)
    end
  end)

  it("that does not exist is reported", function()
    local results = run({ provider = "replay", replay = path .. ".gone" }, { "one" })
    assert.equal("no_recording", results[1].error)
    assert.matches("No such file", results[1].message, 1, true)
  end)

  it("counts usage as it was recorded last", function()
    record(path, 1, "one", "better")
    assert.same({ "better" }, run({ provider = "replay", replay = path }, { "one" }))
  end)

  for _, case in ipairs({
    { name = "no JSON", line = "{", fault = "it is no JSON object" },
    { name = "no object", line = "7", fault = "it is no JSON object" },
    { name = "nobody", line = '{"turn":1,"last":"one","answer":{}}', fault = "whose call" },
    { name = "an agent that is no text", line = '{"agent":{},"turn":1,"last":"","answer":{}}',
      fault = "whose call" },
    { name = "a turn that is no number", line = '{"agent":"root","turn":"1","last":"","answer":{}}',
      fault = "whose call" },
    { name = "no last message", line = '{"agent":"root","turn":1,"answer":{}}',
      fault = "last, the last message" },
    { name = "no answer", line = '{"agent":"root","turn":1,"last":"one"}',
      fault = "the answer is no table" },
    { name = "a content that is no text",
      line = '{"agent":"root","turn":1,"last":"one","answer":{"content":7}}',
      fault = "'content' is no text" },
    { name = "tool calls that are no list",
      line = '{"agent":"root","turn":1,"last":"one","answer":{"tool_calls":{"a":1}}}',
      fault = "tool_calls is no list" },
    { name = "a tool call without a name",
      line = '{"agent":"root","turn":1,"last":"one","answer":{"tool_calls":[{"id":"a"}]}}',
      fault = "tool call 1: 'name' is no text" },
    { name = "usage in words",
      line = '{"agent":"root","turn":1,"last":"one","answer":{"usage":{"input_tokens":"9"}}}',
      fault = "usage must be" },
  }) do
    it("with " .. case.name .. " is refused, with the line", function()
      local file = assert(io.open(path, "a"))
      file:write(case.line, "\n")
      file:close()
      local err = run({ provider = "replay", replay = path }, { "one" })[1]
      assert.equal("bad_recording", err.error)
      assert.matches("line 3 of the recording", err.message, 1, true)
      assert.matches(case.fault, err.message, 1, true)
    end)
  end
end)

describe("a recorded answer that names ids", function()
  local function id(day, number)
    return ("msg_2026111%d_022615_0740000000000%02x"):format(day, number)
  end

  -- The answer to the last of root's calls: `lasts` is what each saw last.
  local function again(lasts, answer, messages)
    local lines = {}
    for turn, last in ipairs(lasts) do
      lines[turn] = replay.line({ agent = "root", turn = turn,
        chat = { messages = { { content = last } } } }, answer)
    end
    return assert(replay.answer({ agent = "root", turn = #lasts, chat = { messages = messages } },
      {}, { read = function() return table.concat(lines, "\n") end }))
  end

  it("names those of the new run", function()
    local messages = {
      { role = "user", content = "task " .. id(2, 8) }, { role = "assistant", content = "" },
      -- Of two results the last was recorded.
      { role = "tool", content = "sent " .. id(2, 9) },
      { role = "tool", content = "sent " .. id(2, 10) }, { role = "assistant", content = "" },
      { role = "tool", content = "sent " .. id(2, 11) },
    }
    local answer = again({ "task " .. id(1, 1), "sent " .. id(1, 3), "sent " .. id(1, 4) },
      { content = id(1, 1) .. " " .. id(1, 2), tool_calls = { { id = "c", name = "complete",
        arguments = ('{"task_id":"%s","of":"%s"}'):format(id(1, 3), id(1, 4)) } } }, messages)
    assert.equal(id(2, 8) .. " " .. id(1, 2), answer.content)
    assert.equal(('{"task_id":"%s","of":"%s"}'):format(id(2, 10), id(2, 11)),
      answer.tool_calls[1].arguments)
  end)

  it("keeps ids that correspond to nothing shown now", function()
    local answer = again({ "task " .. id(1, 1), "and " .. id(1, 2) },
      { content = id(1, 1) .. " " .. id(1, 2) }, {
        { role = "user", content = "other " .. id(2, 8) }, { role = "assistant", content = "" },
        { role = "user", content = "and " .. id(2, 9) },
      })
    assert.equal(id(1, 1) .. " " .. id(2, 9), answer.content)
  end)

  it("distinguishes them where a message names one twice", function()
    local answer = again({ id(1, 1) .. id(1, 1) .. id(1, 2) }, { content = id(1, 1) .. id(1, 2) },
      { { role = "user", content = id(2, 8) .. id(2, 8) .. id(2, 9) } })
    assert.equal(id(2, 8) .. id(2, 9), answer.content)
  end)
end)

describe("a provider of the app", function()
  after_each(scene.close)

  -- Runs an app whose provider does `body` with the host; returns what it says.
  local function spy(body, llm)
    local folder = scene.files({
      ["secret.txt"] = "open sesame",
      ["spy.lua"] = ([[
        local M = { name = "spy", environment = {}, defaults = { model = "spy" } }
        function M.answer(call, settings, host)
          %s
        end
        return M]]):format(body),
    })
    local app = scene.files({ ["app.lua"] = ([[
      local society = require("society")
      society.config { llm = { provider = "my.spy", %s } }
      society.main(function(user)
        local answer, err = user:chat { messages = { { role = "user", content = "x" } } }
        print(answer and answer.content or err.message)
      end)]]):format(llm:gsub("DIR", folder)) })
    os.execute(("mkdir %s/my && sed s,DIR,%s,g %s/spy.lua >%s/my/spy.lua"):format(
      app, folder, folder, app))
    local s = scene.new({ app = app .. "/app.lua" })
    s:run()
    return s:transcript(), folder
  end

  it("reads no file but the one that is replayed", function()
    local text = spy([[
      require("society.llm.settings").replay = "DIR/secret.txt"
      settings.replay = "DIR/secret.txt"
      return { content = tostring((host.read("DIR/secret.txt"))) .. "|"
        .. select(2, host.read()) }]], "")
    assert.matches("nil|set llm.replay", text, 1, true)
  end)
end)

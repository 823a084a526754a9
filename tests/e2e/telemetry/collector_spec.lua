-- Spans as a collector receives them, and collectors that do not behave.
--
-- Covers: core/bridge/otlp/otlp.c, core/bridge/otlp/otlp_settings.c

local json = require("society.json")
local npm = require("npm")
local program = require("program")
local servers = require("server")
local spans = require("spans")
local tree = require("tree")

local SECRET = "canary-5e1f0c1d9a"

local APP = [[
  local society = require("society")
  society.config { name = "bureau", llm = { provider = "scripted", model = "small-1", answers = {
    { tool_calls = { { name = "weigh", arguments = {} } } }, { content = "12 kg" },
  }, tools = { { name = "weigh", description = "weighs", parameters = { type = "object" },
    run = function(agent)
      agent:sleep(20)
      return "12"
    end } } } }
  society.role { id = "clerk", name = "clerk", prompt = "weigh it", behaviour = "llm" }
  society.root(function(root)
    assert(root:spawn_agent("clerk", { objective = "weigh", constraints = { "-" }, inputs = "-",
      outputs = "-", completion_criteria = "-" }, { id = "ann" }))
    return assert(root:request { to = "ann", payload = "how heavy?" }).payload
  end)
  society.main(function(user)
    print(assert(user:request { to = "root", payload = "go" }).payload.text)
  end)]]

local TREE = {
  "invoke_agent main", "  request root", "    invoke_agent root", "      request clerk",
  "        invoke_agent clerk", "          chat small-1", "          execute_tool weigh",
  "          chat small-1",
}

describe("a collector", function()
  local place, server

  before_each(function()
    place = program.place()
    place:write("mode", "ok")
    place:write("app.lua", APP)
    server = servers.start(place, nil, "otlp_collector.py")
  end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  local PATIENT = "OTEL_BSP_EXPORT_TIMEOUT=120000 OTEL_EXPORTER_OTLP_TIMEOUT=120000 "

  -- Runs the app with telemetry to the collector.
  local function run(more)
    return place:shell(("OTEL_EXPORTER_OTLP_ENDPOINT=%s OTEL_EXPORTER_OTLP_HEADERS=x-key=%s %s "
      .. "society run app.lua --fresh --log info"):format(server.url, SECRET, more or ""))
  end

  -- Every byte that the society wrote.
  local function written(result)
    return result.out .. result.err .. place:shell("find .society -type f -exec cat {} +").out
  end

  local function received()
    local list = {}
    for _, request in ipairs(server:requests()) do
      for _, scope in ipairs(json.decode(request.body).resourceSpans[1].scopeSpans) do
        table.move(scope.spans, 1, #scope.spans, #list + 1, list)
      end
    end
    return list
  end

  local function assert_untouched(result)
    assert.same({ 0, "12 kg\n" }, { result.code, result.out })
    assert.is_nil(written(result):find(SECRET, 1, true))
  end

  it("receives a tree of spans in one trace, with the headers", function()
    assert_untouched(run(PATIENT))
    assert.same(TREE, spans.trees(received()))
    for _, request in ipairs(server:requests()) do
      assert.equal("/v1/traces", request.path)
      assert.equal(SECRET, request.headers["x-key"])
    end
    for _, span in ipairs(received()) do
      assert.equal(received()[1].traceId, span.traceId)
    end
    assert.is_nil(json.encode(received()):find("how heavy", 1, true))
  end)

  it("receives what the definitions of OpenTelemetry describe", function()
    local folder, reason = npm.folder({ "@opentelemetry/otlp-transformer@0.57" })
    if not folder then
      return pending(reason)
    end
    assert_untouched(run(PATIENT .. "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
      .. " OTEL_RESOURCE_ATTRIBUTES=deployment.environment=test OTEL_BSP_MAX_EXPORT_BATCH_SIZE=3"))
    local result = place:shell(("node %s %s <requests"):format(
      program.quote(tree.path("tests/support/otlp.mjs")), program.quote(folder)))
    assert.equal(0, result.code, result.err)
    local decoded = program.rows(result)
    assert.same(received(), decoded)
    assert.same(TREE, spans.trees(decoded))
    assert.is_true(#server:requests() > 1)
  end)

  it("that is busy gets every span once it takes them, each batch unchanged", function()
    place:write("mode", "busy 3")
    assert_untouched(run(PATIENT .. "OTEL_BSP_SCHEDULE_DELAY=1"))
    local bodies, list = {}, {}
    for _, request in ipairs(server:requests()) do
      if not bodies[request.body] then
        bodies[request.body] = true
        local batch = json.decode(request.body).resourceSpans[1].scopeSpans[1].spans
        table.move(batch, 1, #batch, #list + 1, list)
      end
    end
    spans.trees(list) -- no span is in two batches
    assert.same(TREE, spans.trees(list))
  end)

  for _, case in ipairs({
    { mode = "refuse", says = "the collector answered with status 400" },
    { mode = "hang", says = "the society ended before the collector took them" },
    { mode = "flood" },
  }) do
    it("that answers by " .. case.mode .. " changes nothing for the society", function()
      place:write("mode", case.mode)
      local result = run(case.mode ~= "hang" and PATIENT)
      assert_untouched(result)
      if case.says then
        assert.matches(case.says, result.err, 1, true)
      end
    end)
  end

  it("that is down changes nothing for the society", function()
    server:stop()
    local result = run()
    assert_untouched(result)
    assert.matches("the collector cannot be reached", result.err, 1, true)
  end)

  it("is told apart from bad settings, which are named and not quoted", function()
    local result = run("OTEL_EXPORTER_OTLP_HEADERS=" .. SECRET .. " OTEL_TRACES_SAMPLER=odd")
    assert_untouched(result)
    assert.matches("OTEL_EXPORTER_OTLP_HEADERS is ignored", result.err, 1, true)
    assert.matches("OTEL_TRACES_SAMPLER is ignored", result.err, 1, true)
  end)

  it("hears nothing of simulations and of a society without an endpoint", function()
    place:shell("society run app.lua --fresh; OTEL_EXPORTER_OTLP_ENDPOINT=" .. server.url
      .. " society sim app.lua; OTEL_SDK_DISABLED=true OTEL_EXPORTER_OTLP_ENDPOINT=" .. server.url
      .. " society run app.lua --fresh")
    assert.same({}, server:requests())
  end)
end)

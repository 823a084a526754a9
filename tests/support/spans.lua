--- spans: reads spans of OTLP in JSON, as s:spans() returns them and a collector receives them.

local M = {}

--- The attributes of a span as a table: texts, integers, and lists of texts.
function M.attributes(span)
  local values = {}
  for _, attribute in ipairs(span.attributes) do
    local value = attribute.value
    values[attribute.key] = value.stringValue or value.intValue and math.tointeger(value.intValue)
      or value.arrayValue and value.arrayValue.values[1].stringValue
  end
  return values
end

--- The spans by name; those of one name in the order in which they left.
function M.by_name(spans)
  local names = {}
  for _, span in ipairs(spans) do
    names[span.name] = names[span.name] or {}
    table.insert(names[span.name], span)
  end
  return names
end

-- The lines of one span and all below it, indented; children sorted by start, end and name.
local function draw(span, children, depth, lines)
  local failed = span.status.code == 2 and " !" .. M.attributes(span)["error.type"] or ""
  lines[#lines + 1] = ("  "):rep(depth) .. span.name .. failed
  local below = children[span.spanId] or {}
  table.sort(below, function(a, b)
    if a.startTimeUnixNano ~= b.startTimeUnixNano then
      return a.startTimeUnixNano < b.startTimeUnixNano
    elseif a.endTimeUnixNano ~= b.endTimeUnixNano then
      return a.endTimeUnixNano < b.endTimeUnixNano
    elseif a.name ~= b.name then
      return a.name < b.name
    end
    return a.spanId < b.spanId
  end)
  for _, child in ipairs(below) do
    draw(child, children, depth + 1, lines)
  end
end

-- Raises unless the span is well formed.
local function check(span)
  assert(span.traceId:match("^%x+$") and #span.traceId == 32, "trace id")
  assert(span.spanId:match("^%x+$") and #span.spanId == 16, "span id")
  assert(span.startTimeUnixNano:match("^%d+$") and span.endTimeUnixNano:match("^%d+$"), "times")
  assert(#span.startTimeUnixNano == 19, "nanoseconds")
  assert(span.startTimeUnixNano <= span.endTimeUnixNano, "it ends before it begins")
end

--- The trees of the spans as lines, each trace after its roots. Raises if a span is malformed,
-- has left twice, or has a parent that is not there or is in another trace.
-- @tparam table? outside ids of spans of others, which count as roots
function M.trees(spans, outside)
  local by_id, children, lines = {}, {}, {}
  for _, span in ipairs(spans) do
    check(span)
    assert(not by_id[span.spanId], "a span left twice: " .. span.name)
    by_id[span.spanId] = span
  end
  for _, span in ipairs(spans) do
    local id = span.parentSpanId
    if id and not (outside and outside[id]) then
      assert(by_id[id], "no parent of " .. span.name)
      assert(by_id[id].traceId == span.traceId, "another trace: " .. span.name)
      children[id] = children[id] or {}
      table.insert(children[id], span)
    end
  end
  for _, span in ipairs(spans) do
    if not span.parentSpanId or outside and outside[span.parentSpanId] then
      draw(span, children, 0, lines)
    end
  end
  return lines
end

return M

--- society.cli.reference: the reference of the operations, docs/operations.md.

local M = {}

-- A backslash at the end of a line continues it.
local HEAD = [[
# Operations

<!-- Written by `society call --reference`. -->

Everything that can be asked of a society from outside. `society call OP JSON` calls an \
operation with its parameters as a JSON object. A program of the owner can write the same to \
`DIR/socket`, one line per request and answer:

```text
{"id":1,"op":"pause","agent":"planner"}
{"id":1,"ok":[{"count":1,"id":"planner","status":"paused"}]}
```

`id` is any number or string and is repeated in the answer; answers may arrive in another order. \
A line may have up to 2 MB. A failure is answered by `{ id, error, message, … }` with a code and \
a sentence, as in Lua; for invalid parameters the code is `invalid_argument`, and `member` names \
one of them. Unknown members of a line are ignored, except filters that do not apply.

An answer is a list of objects. When an operation answers, its changes are durable, and the same \
batch holds a line `order { by, op, target }` of the activity log; an order without changes \
leaves no line. A parameter that is `null` counts as absent. Times are RFC 3339; parameters may \
also be ms since 1970. Messages are sent, items decided, agents ended and tasks cancelled as \
`user`.

An order (an operation whose scope is not `read`) may have an `idempotency_key` (`society \
call --key`): repeated by the same caller within `dedupe_window_ms`, it does nothing and gets the \
first answer, also after a crash; with other parameters it is refused (`key_reused`). `request` \
takes none.

| operation | scope | |
| --- | --- | --- |
]]

local function bounds_of(param)
  if param.choices then
    return ": " .. table.concat(param.choices, ", ")
  elseif not param.most then
    return ""
  elseif param.kind == "text" then
    return (" of at most %d bytes"):format(param.most)
  elseif param.most == math.maxinteger then
    return (" from %d"):format(param.least)
  end
  return (" from %d to %d"):format(param.least, param.most)
end

local function put_rows(out, title, list)
  out[#out + 1] = ("\n| %s | | |\n| --- | --- | --- |\n"):format(title)
  for _, param in ipairs(list) do
    local name = param.alias and ("`%s`, `%s`"):format(param.name, param.alias)
      or ("`%s`"):format(param.name)
    out[#out + 1] = ("| %s%s | %s%s | %s |\n"):format(name, param.needed and "" or "?", param.kind,
      bounds_of(param), param.summary)
  end
end

local function put_operation(out, operation)
  out[#out + 1] = ("\n## %s\n\nScope `%s`: %s.%s%s\n"):format(operation.name, operation.scope,
    operation.summary,
    operation.needs_running and " Only while the society runs." or "",
    operation.for_agents and " Also for callers that speak as an agent." or "")
  if #operation.params > 0 then
    put_rows(out, "parameter", operation.params)
  end
  if #operation.answer > 0 then
    put_rows(out, "answer", operation.answer)
  end
end

--- The page, as Markdown; `?` marks what may be absent.
function M.make(operations)
  local out = { (HEAD:gsub(" \\\n", " ")) }
  for _, operation in ipairs(operations) do
    out[#out + 1] = ("| [`%s`](#%s) | %s | %s |\n"):format(operation.name, operation.name,
      operation.scope, operation.summary)
  end
  out[#out + 1] = "\nA `?` marks what may be absent.\n"
  for _, operation in ipairs(operations) do
    put_operation(out, operation)
  end
  return table.concat(out)
end

-- A backslash at the end of a line continues it.
local ROUTES_HEAD = [[
# Routes

<!-- Written by `society call --routes`. -->

What can be asked over HTTP. [http.md](http.md) says how to begin; the parameters and the answer \
of a route are those of its operation in [operations.md](operations.md), and `/openapi.json` of a \
running society has all of it in one document.

What stands in braces is a parameter of the operation (`id` is its agent, message, task or item). \
Others go into the query string of GET and DELETE, or into the body, a JSON object, of POST and \
PUT. An answer is the operation's object, or for a list `{ items, next, as_of }`. An error is an \
object `{ error, message, … }`.

| route | operation | scope | success | |
| --- | --- | --- | --- | --- |
]]

local SHAPES = { list = ", a list", text = ", a text", lines = ", JSON Lines" }

--- The page of the HTTP routes, as Markdown.
function M.routes(routes)
  local out = { (ROUTES_HEAD:gsub(" \\\n", " ")) }
  for _, route in ipairs(routes) do
    local operation = route.operation
      and ("[`%s`](operations.md#%s)"):format(route.operation, route.operation) or "–"
    local status = route.done and ("%d; 200 with `%s`"):format(route.status, route.done)
      or tostring(route.status)
    out[#out + 1] = ("| `%s %s` | %s | %s | %s%s | %s |\n"):format(route.method, route.path,
      operation, route.scope or "–", status, SHAPES[route.shape] or "",
      route.summary)
  end
  return table.concat(out)
end

return M

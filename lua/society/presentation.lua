--- society.presentation: what every presentation policy has to do alike.
--
-- A policy of this kind chooses the words around a message; what the message says,
-- and that no line of it passes for such words, is decided here.
--
--     local presentation = require("society.presentation")
--     local content = presentation.content(message, "[Message from")

local json = require("society.json")

local M = {}

local function further_fields(message)
  if message.type == nil or message.type == "general" then
    return nil
  end
  local rest, has_rest = {}, false
  for name, value in pairs(message.payload) do
    if name ~= "text" then
      rest[name], has_rest = value, true
    end
  end
  return has_rest and json.encode(rest) or nil
end

local function plain_content(message)
  local payload = message.payload
  if type(payload) ~= "table" then
    return tostring(payload)
  end
  if type(payload.text) == "string" then
    local more = further_fields(message)
    return more and payload.text .. "\n" .. more or payload.text
  end
  if type(payload.content) == "string" then
    return payload.content
  end
  return json.encode(payload)
end

--- The message's content, with every line that begins as `header` does, in capitals
-- or not, quoted by `> `.
-- @tparam table message an envelope
-- @tparam string header how the policy's own headers begin
-- @treturn string
function M.content(message, header)
  local lines = {}
  for line in (plain_content(message) .. "\n"):gmatch("(.-)\n") do
    if line:sub(1, #header):lower() == header:lower() then
      line = "> " .. line
    end
    lines[#lines + 1] = line
  end
  return table.concat(lines, "\n")
end

return M

--- failure: classifies the errors of a model's server.
--
-- Each error has `retryable` if a retry can help, and `retry_after_ms` if the server asks for
-- a pause.

local json = require("society.json")

local M = {}

local MONTHS = { Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9,
  Oct = 10, Nov = 11, Dec = 12 }

-- Days since 1970 of a Gregorian date.
local function days(year, month, day)
  if month <= 2 then
    year, month = year - 1, month + 12
  end
  return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day
    - 719469
end

local function date_ms(text)
  local day, month, year, hour, minute, second =
    text:match("(%d+) (%a+) (%d+) (%d+):(%d+):(%d+) GMT")
  if not day or not MONTHS[month] then
    return nil
  end
  return ((days(tonumber(year), MONTHS[month], tonumber(day)) * 24 + tonumber(hour)) * 60
    + tonumber(minute)) * 60000 + tonumber(second) * 1000
end

-- An upper bound: no server means more.
local RETRY_AFTER_MS_MAX = 30 * 86400000

--- The pause the server asks for, in ms; nil if it names none.
function M.retry_after(headers, now_ms)
  local ms = tonumber(headers["retry-after-ms"])
  local text = headers["retry-after"]
  if not ms and text and tonumber(text) then
    ms = tonumber(text) * 1000
  elseif not ms and text and date_ms(text) then
    ms = date_ms(text) - now_ms
  end
  if not ms or ms ~= ms then
    return nil
  end
  return math.ceil(math.max(0, math.min(ms, RETRY_AFTER_MS_MAX)))
end

-- The error in a body, in the forms servers use; empty if absent.
local function error_in(body)
  local value = json.decode(body)
  if type(value) == "table" and type(value[1]) == "table" then
    value = value[1] -- Gemini's endpoint has it in a list
  end
  local found = type(value) == "table" and (value.error or value) or {}
  if type(found) == "string" then
    return { message = found }
  end
  return type(found) == "table" and found or {}
end

local BY_STATUS = {
  [401] = "invalid_key", [403] = "invalid_key", [404] = "model_not_found",
  [408] = "model_unavailable", [409] = "model_unavailable", [413] = "context_too_long",
  [429] = "rate_limited",
}

local BY_CODE = {
  context_length_exceeded = "context_too_long", insufficient_quota = "quota_exceeded",
  billing_error = "quota_exceeded", rate_limit_error = "rate_limited",
  rate_limit_exceeded = "rate_limited", overloaded_error = "model_unavailable",
  api_error = "model_unavailable", server_error = "model_unavailable",
  authentication_error = "invalid_key", permission_error = "invalid_key",
  invalid_api_key = "invalid_key", not_found_error = "model_not_found",
  model_not_found = "model_not_found", request_too_large = "context_too_long",
  exceed_context_size_error = "context_too_long",
}

-- Phrases of servers that have no code for it.
local TOO_LONG = { "context length", "context window", "context size", "prompt is too long",
  "input is too long", "maximum number of tokens" }

local RETRYABLE = { rate_limited = true, model_unavailable = true }

-- The name of the error by its code or, failing that, its type.
local function name_by_code(found)
  return BY_CODE[found.code] or BY_CODE[found.type]
end

local function name_by_status(status, text)
  local name = BY_STATUS[status] or (status >= 500 and "model_unavailable" or "bad_request")
  for _, words in ipairs(name == "bad_request" and TOO_LONG or {}) do
    name = text:lower():find(words, 1, true) and "context_too_long" or name
  end
  return name
end

--- The error of an answer with an error status. It quotes the server in full; it is cut once
-- keys have been removed.
function M.of_answer(status, headers, body, now_ms)
  local found = error_in(body)
  local text = type(found.message) == "string" and found.message
    or utf8.len(body) and body or "bytes that are not UTF-8"
  local name = name_by_code(found) or name_by_status(status, text)
  return {
    error = name, message = ("the model's server says %d: %s"):format(status, text),
    status = status, retryable = RETRYABLE[name] or false,
    retry_after_ms = M.retry_after(headers, now_ms),
  }
end

--- An error sent in place of the rest of an answer. Its code may be a status.
function M.of_stream(headers, body, now_ms)
  local status = math.tointeger(tonumber(error_in(body).code))
  if not status or status < 400 or status > 599 then
    status = 500
  end
  return M.of_answer(status, headers, body, now_ms)
end

-- Transfer failures worth a retry.
local PASSING = {
  connect_failed = true, connect_timeout = true, first_byte_timeout = true, idle_timeout = true,
  timeout = true, connection_cut = true, not_http = true, transfer_failed = true,
}

--- The error of an incomplete transfer.
function M.of_transfer(name, message)
  return { error = name, message = message, retryable = PASSING[name] or false }
end

--- The error of an answer that is too large.
function M.too_large(bytes, bytes_max)
  return { error = "answer_too_large", retryable = false,
    message = ("the model's answer has %d bytes; the limit is %d"):format(bytes, bytes_max) }
end

--- The error of a malformed answer.
function M.bad_answer(text)
  return { error = "bad_answer", message = "the model's server sent an invalid answer: " .. text,
    retryable = true }
end

return M

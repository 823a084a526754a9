--- Context: the whole conversation, even if it exceeds the window of the model.

local M = { kind = "context", version = 1 }

function M.keep(request)
  local kept = {}
  for number = 1, #request.units do
    kept[number] = number
  end
  return kept
end

M.examples = {
  { ask = "keep", given = { { tokens_max = 1, units = {
    { first = 1, last = 1, tokens = 9, role = "user" },
    { first = 2, last = 4, tokens = 9, role = "assistant" },
  } } }, expect = { 1, 2 } },
}

return M

--- Introductions: every agent answers for itself, with introduce or decline.

local M = { kind = "introductions", version = 1, defaults = {} }

function M.answer()
  return { leave = true }
end

M.examples = { { ask = "answer", given = { {} }, expect = { leave = true } } }

return M

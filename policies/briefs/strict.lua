--- Briefs: the five required fields must be there, and every field of its kind.
--
-- A field that is nil, JSON null or a blank text is missing; an empty list of constraints
-- is fine. Answers true, or false and the error object.

local json = require("society.json")
local brief_rules = require("society.brief")

local M = { kind = "briefs", version = 1, defaults = brief_rules.WORDS }

local function is_missing(value)
  return value == nil or value == json.null
    or (type(value) == "string" and brief_rules.is_blank(value))
end

function M.check(brief, settings)
  return brief_rules.check(brief, is_missing, settings)
end

local WHOLE = {
  objective = "o", constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c",
}

M.examples = {
  { ask = "check", given = { WHOLE }, expect = true },
  { ask = "check", given = { {} }, expect = false },
  { ask = "check", given = { "text" }, expect = false },
  {
    ask = "check", expect = false,
    given = { { objective = " ", constraints = {}, inputs = "i", outputs = "o",
      completion_criteria = "c" } },
  },
}

return M

--- society check: loads an app or a policy and reports what is wrong with it.

local program = require("society.program")

local M = {
  summary = "load an app or a policy, report problems, run nothing",
  words = "APP.lua | POLICY.lua",
  min = 1, max = 1,
  rest = "arguments",
  completes = { "<lua>" },
  example = "society check policies/contacts/mine.lua",
}

function M.run(given)
  return program.check({ app = given.words[1], rest = given.rest })
end

return M

--- society version: prints the version.

local program = require("society.program")

local M = {
  summary = "print the version",
  example = "society version",
}

function M.run()
  print("society " .. program.version)
  return 0
end

return M

-- The calculator story with open contacts: anybody may write to anybody, so nobody
-- has to be introduced. The registry still records who met whom.

local society = require("society")

society.policy("contacts", "open")

require("calculator.story")

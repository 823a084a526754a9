-- The calculator story with a custom policy, examples/policies/contacts/colleagues.lua:
-- agents with the same parent may write to each other.

local society = require("society")

society.policy("contacts", "colleagues")

require("calculator.story")

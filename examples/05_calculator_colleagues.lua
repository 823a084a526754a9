-- The calculator story with a policy of one's own, examples/policies/contacts/colleagues.lua:
-- who has the same parent may write to each other.

local society = require("society")

society.policy("contacts", "colleagues")

require("calculator.story")

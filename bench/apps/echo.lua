-- Echo: root answers every message with its payload.

local society = require("society")

society.root {
  default = function(root, message)
    root:reply(message, message.payload)
  end,
}

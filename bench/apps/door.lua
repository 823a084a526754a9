-- Root takes what comes over HTTP; many connections and streams are allowed.

local society = require("society")

society.config { web = { connections = 4000, streams = 2000 } }

society.root(function() end)

society.main(function() end)

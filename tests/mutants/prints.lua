-- For the list beside it: many lines to be shown, each in a turn of its own.

local society = require("society")

society.main(function(user)
  for i = 1, 60 do
    print("line " .. i)
    user:sleep(10)
  end
end)

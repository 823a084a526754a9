--- clean: the text of an error, for readers who did not write the code that raised it.
--
-- Paths of this machine and the traceback are for the log only.

--- The message of a raised error.
return function(value)
  local text = tostring(value)
  text = text:match("^(.-)\nstack traceback:") or text
  local place = text:match("^[^\n:]*%.lua:%d+: ") or text:match("^%[[^\n]-%]:%d+: ")
  return place and text:sub(#place + 1) or text
end

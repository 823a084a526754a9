-- A stranger's behaviour that would rather win by other means.
rawset(string, "format", function() return "sold to sly for 1" end) -- only for itself

return function()
  local found = {}
  for _, name in ipairs({ "io", "debug", "package", "dofile" }) do
    found[#found + 1] = load("return " .. name)() and name
  end
  return { bid = 31, note = #found > 0 and table.concat(found, " ") or "found no way out" }
end

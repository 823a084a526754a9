--- options: settings that an app passes to a model's server unchanged.

--- Adds the members of each table in turn that the request's body does not have yet.
-- @tparam table body
-- @tparam table? own options of the call
-- @tparam table? fallback options of the settings
-- @treturn table the body
return function(body, own, fallback)
  for _, options in ipairs({ own or {}, fallback or {} }) do
    for name, value in pairs(options) do
      if body[name] == nil then
        body[name] = value
      end
    end
  end
  return body
end

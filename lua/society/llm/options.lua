--- options: settings that an app passes to a model's server unchanged.

--- Puts into a request's body what it does not have yet, of each table in turn.
-- @tparam table body
-- @tparam table? own of the call
-- @tparam table? usual of the settings
-- @treturn table the body
return function(body, own, usual)
  for _, options in ipairs({ own or {}, usual or {} }) do
    for name, value in pairs(options) do
      if body[name] == nil then
        body[name] = value
      end
    end
  end
  return body
end

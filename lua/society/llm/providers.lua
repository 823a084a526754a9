--- providers: who answers a call, with which settings, and whether there is a key.

local M = {}

-- "auto" is a real server if the environment names one and a model, else the script.
local function name_of(host, name)
  if name ~= "auto" then
    return name
  end
  local names = require("society.llm.openai").environment
  return host.getenv(names.base_url) and host.getenv(names.model) and "openai" or "scripted"
end

--- A provider and its settings: those of the app over the environment over its own. It
-- raises if there is none of that name.
-- @tparam table found those found before, by name
-- @treturn table { provider, settings }
function M.find(found, name, own, host)
  name = name_of(host, name)
  if found[name] then
    return found[name]
  end
  local provider = require(name:find(".", 1, true) and name or "society.llm." .. name)
  local settings = {}
  for key, value in pairs(provider.defaults) do
    settings[key] = value
  end
  for key, variable in pairs(provider.environment) do
    if key ~= "key" then
      settings[key] = host.getenv(variable) or settings[key]
    end
  end
  for key, value in pairs(own) do
    settings[key] = value
  end
  settings.key_env = own.key_env or provider.environment.key
  found[name] = { provider = provider, settings = settings }
  return found[name]
end

--- Without a key a server of one's own may answer; the provider's own never does.
-- @treturn table? the error
function M.check_key(found, host)
  local own = found.provider.defaults.base_url
  local key = found.settings.key_env
  if key and host.has_key(key) == "broken" then
    return {
      error = "no_key", retryable = false,
      message = key .. " holds a line break or another control character; it is no key",
    }
  end
  if not key or host.has_key(key) or found.settings.base_url ~= own then
    return nil
  end
  return {
    error = "no_key", retryable = false,
    message = ("set %s in the environment; or %s for a server that needs no key; or provider "
      .. "\"scripted\""):format(key, found.provider.environment.base_url),
  }
end

return M

--- providers: which provider answers a call, with which settings, and whether it has a key.

local M = {}

-- "auto": a real server if the environment names one and a model, else `scripted`.
local function name_of(host, name)
  if name ~= "auto" then
    return name
  end
  local names = require("society.llm.openai").environment
  return host.getenv(names.base_url) and host.getenv(names.model) and "openai" or "scripted"
end

-- Settings that belong to one provider: with another, a key could go to the wrong server.
local OF_ONE = { base_url = true, model = true, key_env = true, options = true }

-- Whether the app's settings are for that provider. "auto" is one of two.
local function is_set_for(name, own)
  local set = own.provider or "openai"
  return name == set or set == "auto" and (name == "openai" or name == "scripted")
end

-- The provider's defaults, overridden by the environment, then by the app.
local function settings_of(provider, own, is_own, host)
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
    if is_own or not OF_ONE[key] then
      settings[key] = value
    end
  end
  settings.key_env = is_own and own.key_env or provider.environment.key
  return settings
end

-- The part of the host that a custom provider receives: a copy, so that it cannot affect
-- or reach others.
local function host_for_own(host)
  local copy = {}
  for name, value in pairs(host) do
    copy[name] = value
  end
  copy.provider = nil
  return copy
end

-- A custom provider of the app. The host loads it where no script can reach it.
local function find_own(name, own, host)
  local provider = (host.provider or require)(name)
  local settings = settings_of(provider, own, is_set_for(name, own), host)
  return { provider = provider, settings = host.plain and assert(host.plain(settings)) or settings,
    host = host_for_own(host) }
end

--- Finds a provider and its settings. Raises if there is no such provider.
-- @tparam table found cache by name
-- @treturn table { provider, settings, host? }
function M.find(found, name, own, host)
  name = name_of(host, name)
  if not found[name] and name:find(".", 1, true) then
    found[name] = find_own(name, own, host)
  elseif not found[name] then
    local provider = require("society.llm." .. name)
    found[name] = { provider = provider,
      settings = settings_of(provider, own, is_set_for(name, own), host) }
  end
  return found[name]
end

--- Checks for a key. A custom server may work without one; the provider's never does.
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

--- html: the little that the site has to know about HTML as pandoc writes it.

local M = {}

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local ENTITIES = { amp = "&", lt = "<", gt = ">", quot = '"', nbsp = " " }

--- Text as HTML shows it.
function M.escape(text)
  return (text:gsub('[&<>"]', ESCAPES))
end

local function entity(number, name)
  if number ~= "" then
    return utf8.char(tonumber(number:find("^x") and "0" .. number or number))
  end
  return ENTITIES[name]
end

--- The text of a piece of HTML, on one line.
function M.text(html)
  local text = html:gsub("<[^>]*>", ""):gsub("&(#?)(x?%w+);", function(sign, name)
    return entity(sign == "#" and name or "", name)
  end)
  return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

--- The sections of a page: { id, title, text }, one for each heading.
function M.sections(html)
  local heads = {}
  for first, id, title, last in html:gmatch('()<h%d [^>]-id="([^"]*)"[^>]*>(.-)</h%d>()') do
    heads[#heads + 1] = { first = first, last = last, id = id, title = M.text(title) }
  end
  for i, head in ipairs(heads) do
    local stop = heads[i + 1] and heads[i + 1].first - 1 or #html
    head.text = M.text(html:sub(head.last, stop))
  end
  return heads
end

--- The ids of a page, as keys.
function M.ids(html)
  local ids = {}
  for id in html:gmatch('%sid="([^"]*)"') do
    ids[id] = true
  end
  return ids
end

--- Replaces each address in `html`: use(attribute, address) returns the new one.
function M.replace_addresses(html, use)
  return (html:gsub('%f[%w](%a+)="([^"]*)"', function(attribute, address)
    if attribute == "href" or attribute == "src" then
      return ('%s="%s"'):format(attribute, use(attribute, address))
    end
    return nil
  end))
end

--- A JSON text.
function M.json(text)
  return '"' .. text:gsub('[%c"\\<]', function(letter)
    return ("\\u%04x"):format(letter:byte())
  end) .. '"'
end

return M

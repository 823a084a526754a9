--- society.outline: Task Briefs and contacts as text.
--
-- Both are complete: nothing is shortened, and fields without a place in the outline
-- follow as JSON. A presentation policy gives the words and says how its headers
-- begin, so that no line of a brief or an Interface Spec passes for one.
--
--     local outline = require("society.outline")
--     local text = outline.brief(agent.brief, words)

local fields = require("society.fields")
local headers = require("society.headers")
local json = require("society.json")

local M = {}

local function is_given(value)
  return value ~= nil and value ~= json.null
end

local function text_of(value)
  return is_given(value) and fields.text(value) or ""
end

local function is_list(value)
  if type(value) ~= "table" then
    return false
  end
  local count = 0
  for _ in pairs(value) do
    count = count + 1
  end
  return count == #value
end

-- A text below an entry, with its further lines indented.
local function below(text, indent)
  return headers.replace_breaks(text, "\n" .. indent)
end

local function add_list(lines, list, words)
  for _, item in ipairs(list) do
    lines[#lines + 1] = "- " .. text_of(item)
  end
  if #list == 0 then
    lines[#lines + 1] = words.none
  end
end

-- A format filled with nothing, as a title.
local function title_of(format)
  return (format:format(""):gsub(" $", ""))
end

local SPEC_FIELDS = { "services", "input_format", "output_format" }
local SPEC_KNOWN = { services = true, input_format = true, output_format = true, examples = true }

local function add_examples(lines, examples, words)
  if not is_list(examples) then
    lines[#lines + 1] = "  - " .. words.examples:format(below(text_of(examples), "    "))
    return
  end
  if #examples > 0 then
    lines[#lines + 1] = "  - " .. title_of(words.examples)
  end
  for _, example in ipairs(examples) do
    lines[#lines + 1] = "    - " .. below(text_of(example), "      ")
  end
end

-- An Interface Spec below the entry of its owner.
local function add_spec(lines, spec, words)
  if not is_given(spec) then
    return
  end
  if type(spec) ~= "table" or is_list(spec) then
    lines[#lines + 1] = "  " .. words.spec:format(below(text_of(spec), "    "))
    return
  end
  lines[#lines + 1] = "  " .. title_of(words.spec)
  for _, name in ipairs(SPEC_FIELDS) do
    if is_given(spec[name]) then
      lines[#lines + 1] = "  - " .. words[name]:format(below(text_of(spec[name]), "    "))
    end
  end
  if is_given(spec.examples) then
    add_examples(lines, spec.examples, words)
  end
  local rest = fields.rest(spec, SPEC_KNOWN)
  if rest then
    lines[#lines + 1] = "  - " .. rest
  end
end

local COLLABORATOR_KNOWN = { agentId = true, role = true, description = true, interfaceSpec = true }

local function add_collaborators(lines, list, words)
  for _, entry in ipairs(list) do
    if type(entry) ~= "table" then
      lines[#lines + 1] = "- " .. text_of(entry)
    else
      local who = words.who:format(text_of(entry.agentId), headers.one_line(text_of(entry.role)))
      lines[#lines + 1] = "- " .. words.helper:format(who,
        below(text_of(entry.description), "  "))
      add_spec(lines, entry.interfaceSpec, words.interface)
      local rest = fields.rest(entry, COLLABORATOR_KNOWN)
      if rest then
        lines[#lines + 1] = "  - " .. rest
      end
    end
  end
  if #list == 0 then
    lines[#lines + 1] = words.none
  end
end

local BRIEF_FIELDS = {
  "objective", "constraints", "inputs", "outputs", "completion_criteria", "collaborators",
  "references", "priority",
}

--- A complete Task Brief: its fields in their order, then all others as JSON.
-- @tparam table brief
-- @tparam table words
--   header as for headers.guard; title; the titles of the fields by name; further, the
--   title of other fields; none, for an empty list; who, a format of id and role;
--   helper, a format of who and description; interface: { spec, services, input_format,
--   output_format, examples: formats }
-- @treturn string
function M.brief(brief, words)
  local lines, known = { words.title }, {}
  for _, name in ipairs(BRIEF_FIELDS) do
    local value = brief[name]
    known[name] = true
    if is_given(value) then
      lines[#lines + 1] = words[name]
      if not is_list(value) then
        lines[#lines + 1] = text_of(value)
      elseif name == "collaborators" then
        add_collaborators(lines, value, words)
      else
        add_list(lines, value, words)
      end
    end
  end
  local rest = fields.rest(brief, known)
  if rest then
    lines[#lines + 1] = words.further
    lines[#lines + 1] = rest
  end
  return headers.guard(table.concat(lines, "\n"), words.header)
end

local function add_contact(lines, entry, words)
  local who = words.who:format(entry.id, headers.one_line(text_of(entry.role)))
  lines[#lines + 1] = "- " .. words.known:format(who,
    words.sources[entry.source] or text_of(entry.source))
  if is_given(entry.introducedBy) then
    lines[#lines + 1] = "  " .. words.introduced_by:format(headers.one_line(
      text_of(entry.introducedBy)))
  end
  if is_given(entry.via) then
    lines[#lines + 1] = "  " .. words.via:format(headers.one_line(text_of(entry.via)))
  end
  if is_given(entry.usageHint) and words.usage_hint then
    lines[#lines + 1] = "  " .. words.usage_hint:format(below(text_of(entry.usageHint), "    "))
  end
  add_spec(lines, entry.interfaceSpec, words.interface)
end

--- The list of contacts: who, known from where, with Interface Specs.
-- @tparam table list entries of agent:contacts()
-- @tparam table words
--   header, none, who and interface as for brief(); title; known, a format of who and
--   source; sources by name; introduced_by, via and usage_hint, formats
-- @treturn string
function M.contacts(list, words)
  local lines = { words.title }
  for _, entry in ipairs(list) do
    add_contact(lines, entry, words)
  end
  if #list == 0 then
    lines[#lines + 1] = words.none
  end
  return headers.guard(table.concat(lines, "\n"), words.header)
end

return M

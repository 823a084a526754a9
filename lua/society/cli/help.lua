--- society.cli.help: the help texts, made from what the commands declare.

local arguments = require("society.cli.arguments")

local M = {}

local COLUMNS = 96

-- The usage, with its further lines set in; an option stays on one line with its value.
local function print_usage(command)
  local line = "usage:"
  for part in arguments.usage(command):gsub("%[[^%]]*%]", function(option)
    return (option:gsub(" ", "\0"))
  end):gmatch("%S+") do
    if utf8.len(line) + utf8.len(part) >= COLUMNS then
      print(line)
      line = (" "):rep(#"usage: society" + #command.name + 1)
    end
    line = line .. " " .. part:gsub("\0", " ")
  end
  print(line)
end

-- A paragraph that begins with `head`, its lines filled; further ones are set in as deep.
local function print_paragraph(head, text)
  local line, is_empty = head, true
  for word in text:gmatch("%S+") do
    if not is_empty and utf8.len(line) + 1 + utf8.len(word) > COLUMNS then
      print(line)
      line, is_empty = (" "):rep(utf8.len(head)), true
    end
    line = line .. (is_empty and "" or " ") .. word
    is_empty = false
  end
  print(line)
end

local function print_all()
  local commands = require("society.command")
  print("usage: society COMMAND [OPTIONS]\n")
  for _, name in ipairs(commands.names) do
    print(("  %-9s %s"):format(name, commands.find(name).summary))
  end
  print("\n`society help COMMAND` explains a command. Exit codes: 0 success, 1 failure, 2 wrong "
    .. "usage,\n74 disk failure, 130 interrupted.")
end

-- The first column of help, then the text.
local function print_item(name, text)
  print_paragraph(("  %-20s "):format(name), text)
end

local function print_options(command)
  for _, option in ipairs(command.options or {}) do
    print_item("--" .. option[1] .. (option.value and " " .. option.value or ""), option.text)
  end
  if command.rest == "arguments" then
    print_item("-- ARGS", "arguments for the app, as arg and ...")
  end
end

--- Prints how a command is used; nil: which commands there are.
function M.print(command)
  if not command then
    return print_all()
  end
  print(("society %s: %s\n"):format(command.name, command.summary))
  print_usage(command)
  for _, list in ipairs(command.lists or {}) do
    print("\n" .. list.title .. ":")
    for _, item in ipairs(list) do
      print_item(item[1], item[2])
    end
  end
  if command.options or command.rest == "arguments" then
    print("\noptions:")
    print_options(command)
  end
  if command.notes then
    print()
    print_paragraph("", command.notes)
  end
  print("\nexample:")
  for line in command.example:gmatch("[^\n]+") do
    print("  " .. line)
  end
end

return M

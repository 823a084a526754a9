--- shells: what shells offer with the scripts of docs/, as a line of words, for the
-- end-to-end specs.

local program = require("program")

local M = {}

local function docs(place)
  return place.program:match("^(.*)/[^/]+/society$") .. "/docs/"
end

-- The words as bash has them: it takes them apart at = and @, and the society's name at none.
local function split(words)
  local pieces = { program.quote(words[1]) }
  for index = 2, #words do
    local rest = words[index]
    repeat
      local piece = rest:match("^[=@]+") or rest:match("^[^=@]+") or ""
      pieces[#pieces + 1] = program.quote(piece)
      rest = rest:sub(#piece + 1)
    until rest == ""
  end
  return pieces
end

--- What bash offers for the last word, behind `words`. It is without what bash keeps: all up
-- to the last = or @.
function M.bash(place, ...)
  local words = { place.program, ... }
  local pieces = split(words)
  place:write("complete", ([[. %scompletion.bash
    COMP_WORDBREAKS=$' \t\n"\'><=;|&(:@'
    COMP_LINE=%s COMP_WORDS=(%s) COMP_CWORD=%d
    _society
    echo "${COMPREPLY[@]}"]]):format(docs(place), program.quote(table.concat(words, " ")),
    table.concat(pieces, " "), #pieces - 1))
  return (place:shell("bash complete").out:gsub("\n$", ""))
end

--- Tells whether a shell is installed.
function M.has(place, name)
  return place:shell(name .. " -c true").code == 0
end

-- Completion runs inside zsh's editor; compadd and _files are what it calls there.
function M.zsh(place, ...)
  local words = {}
  for index, word in ipairs({ place.program, ... }) do
    words[index] = program.quote(word)
  end
  place:write("complete", ([=[
    compdef() { : }
    source %scompletion.zsh
    compadd() { local name=$@[-1] each
      for each in ${(P)name}; do
        [[ $each == ${words[CURRENT]}* ]] && print -r -- $each
      done
      true
    }
    _files() { print -r -- files "$@" }
    words=(%s) CURRENT=%d
    _society]=]):format(docs(place), table.concat(words, " "), #words))
  return (place:shell("zsh -f complete").out:gsub("\n$", ""):gsub("\n", " "))
end

--- In order of the alphabet.
function M.fish(place, ...)
  place:write("complete", ("source %scompletion.fish\nset PATH %s $PATH\ncomplete -C %s\n")
    :format(docs(place), program.quote(place.program:match("^(.*)/society$")),
    program.quote("society " .. table.concat({ ... }, " "))))
  local list = {}
  for word in place:shell("HOME=$PWD fish complete").out:gmatch("[^\n]+") do
    list[#list + 1] = word:match("^[^\t]+")
  end
  table.sort(list)
  return table.concat(list, " ")
end

return M

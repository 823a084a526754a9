--- pages: the documents, as specs read them.
--
--     for _, page in ipairs(pages.all()) do …               -- paths in the repository
--     for _, block in ipairs(pages.blocks(page)) do …       -- { language, line, text }

local tree = require("tree")

local M = {}

local WHERE = "README*.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/*/*.md policies/README.md "
  .. "examples/README.md tests/README.md bench/README.md"

--- The paths of all documents, sorted.
function M.all()
  local pipe = assert(io.popen(("cd '%s' && ls %s"):format(tree.path("."), WHERE)))
  local list = {}
  for name in pipe:lines() do
    list[#list + 1] = name
  end
  assert(pipe:close())
  table.sort(list)
  return list
end

--- The fenced blocks of a page, in order.
function M.blocks(page)
  local blocks, block, number = {}, nil, 0
  for line in tree.read(page):gmatch("([^\n]*)\n") do
    number = number + 1
    local language = line:match("^```(%w*)$")
    if language and block then
      blocks[#blocks + 1], block = block, nil
    elseif language then
      block = { language = language, line = number, text = "" }
    elseif block then
      block.text = block.text .. line .. "\n"
    end
  end
  assert(block == nil, page .. ": a block is not closed")
  return blocks
end

--- What stands in `…` on a page outside of blocks, and the lines of its blocks: { text, line,
-- language? }.
function M.code(page)
  local list, language, number = {}, nil, 0
  for line in tree.read(page):gmatch("([^\n]*)\n") do
    number = number + 1
    local fence = line:match("^```(%w*)$")
    if fence then
      language = not language and fence or nil
    elseif language then
      list[#list + 1] = { text = line, line = number, language = language }
    else
      for text in line:gmatch("`([^`]+)`") do
        list[#list + 1] = { text = text, line = number }
      end
    end
  end
  return list
end

--- What `judge(text, language, page)` finds wrong in the code of all documents, as lines
-- `page:line: fault`.
function M.faults(judge)
  local faults = {}
  for _, page in ipairs(M.all()) do
    for _, piece in ipairs(M.code(page)) do
      for _, fault in ipairs({ judge(piece.text, piece.language, page) }) do
        faults[#faults + 1] = ("%s:%d: %s"):format(page, piece.line, fault)
      end
    end
  end
  return faults
end

return M

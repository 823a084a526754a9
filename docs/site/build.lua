-- Builds the documents as a site without a server: docs/site/build.lua OUT, from the top of
-- the repository. Needs pandoc.
--
-- Pages of docs/site/contents.lua become HTML; so does whatever they link to: pages, files of
-- source, folders. Pictures are copied. Nothing is loaded from elsewhere. Fails if a link
-- leads to nothing.

package.path = "docs/site/?.lua;" .. package.path
local contents = require("contents")
local html = require("html")

local out = assert(arg[1], "usage: lua5.4 docs/site/build.lua OUT")

local waiting = {} -- paths of the repository that become pages, in order
local pages = {}   -- by path: { href, title, html, sections, links }
local faults = {}

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function run(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  assert(pipe:close(), "failed: " .. command)
  return text
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  assert(os.execute("mkdir -p " .. quote(out .. "/" .. (path:match("^(.*)/") or ""))))
  local file = assert(io.open(out .. "/" .. path, "wb"))
  file:write(text)
  file:close()
end

-- "file", "folder" or nil.
local function kind_of(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local is_file = file:read(0) or file:seek("end") == 0
  file:close()
  return is_file and "file" or "folder"
end

-- "docs/zh" and "../images/x.png" is "docs/images/x.png".
local function join(folder, path)
  local parts = {}
  for part in (folder .. path):gmatch("[^/]+") do
    if part == ".." then
      table.remove(parts)
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

local function folder_of(path)
  return path:match("^(.*/)") or ""
end

-- Where a path of the repository is in the site.
local function place_of(path)
  if path:find("%.png$") then
    return path
  elseif kind_of(path) == "folder" then
    return path .. "/index.html"
  elseif path:match("[^/]*$") == "README.md" then
    return folder_of(path) .. "index.html"
  end
  return path:gsub("%.md$", "") .. ".html"
end

local function want(path)
  if kind_of(path) == "folder" and kind_of(path .. "/README.md") then
    path = path .. "/README.md"
  end
  if not pages[path] then
    pages[path] = { path = path, href = place_of(path), links = {} }
    waiting[#waiting + 1] = path
  end
  return pages[path]
end

local function up_from(href)
  return ("../"):rep(select(2, href:gsub("/", "")))
end

-- The address in the site for one that stands in a page of the repository.
local function follow(page, attribute, address)
  if address:find("^https?:") or address:find("^mailto:") then
    if attribute == "src" then
      faults[#faults + 1] = ("%s loads %s"):format(page.path, address)
    end
    return address
  end
  local path, anchor = address:match("^([^#]*)(.*)$")
  local target = path == "" and page
  if not target then
    local there = join(folder_of(page.path), path)
    if not kind_of(there) then
      faults[#faults + 1] = ("%s: there is no %s"):format(page.path, address)
      return address
    end
    target = want(there)
  end
  page.links[#page.links + 1] = { target = target, anchor = anchor:sub(2), address = address }
  return path == "" and anchor or up_from(page.href) .. target.href .. anchor
end

local function make_source(page)
  page.title = page.path
  page.html = ('<h1 id="top">%s</h1>\n<pre><code>%s</code></pre>\n'):format(
    html.escape(page.path), html.escape(read(page.path)))
end

local function make_folder(page)
  local rows = {}
  for name in run("ls " .. quote(page.path)):gmatch("[^\n]+") do
    local href = follow(page, "href", page.path:match("[^/]+$") .. "/" .. name)
    rows[#rows + 1] = ('<li><a href="%s">%s</a></li>'):format(href, html.escape(name))
  end
  page.title = page.path
  page.html = ('<h1 id="top">%s</h1>\n<ul>\n%s\n</ul>\n'):format(html.escape(page.path),
    table.concat(rows, "\n"))
end

local function make_text(page)
  local body = run("pandoc --wrap=none -f gfm -t html5 " .. quote(page.path))
  page.html = html.replace_addresses(body, function(attribute, address)
    return follow(page, attribute, address)
  end)
  page.sections = html.sections(page.html)
  page.title = page.sections[1] and page.sections[1].title or page.path
end

local function make(page)
  if page.path:find("%.png$") then
    page.is_picture = true
  elseif page.path:find("%.md$") then
    make_text(page)
  elseif kind_of(page.path) == "folder" then
    make_folder(page)
  else
    make_source(page)
  end
end

local function menu_for(page)
  local lines = {}
  for _, group in ipairs(contents) do
    lines[#lines + 1] = ("<h2>%s</h2>\n<ul>"):format(html.escape(group.title))
    for _, entry in ipairs(group.pages) do
      lines[#lines + 1] = ('<li><a href="%s%s"%s>%s</a></li>'):format(up_from(page.href),
        pages[entry[1]].href, page == pages[entry[1]] and ' aria-current="page"' or "",
        html.escape(entry[2]))
    end
    lines[#lines + 1] = "</ul>"
  end
  return table.concat(lines, "\n")
end

local function is_chinese(path)
  return path:find("/zh/") or path:find("%.zh%.md$")
end

local function write_page(page, template)
  if page.is_picture then
    return write(page.href, read(page.path))
  end
  local values = {
    lang = is_chinese(page.path) and "zh-CN" or "en", title = html.escape(page.title),
    root = up_from(page.href), menu = menu_for(page), body = page.html,
  }
  return write(page.href, (template:gsub("{{(%w+)}}", values)))
end

-- One line for each section: where it is, and all its text.
local function write_index()
  local lines = {}
  for _, path in ipairs(waiting) do
    local page = pages[path]
    for _, section in ipairs(page.sections or {}) do
      lines[#lines + 1] = ('{"href":%s,"page":%s,"title":%s,"text":%s}'):format(
        html.json(page.href .. "#" .. section.id), html.json(page.title),
        html.json(section.title), html.json(section.text))
    end
  end
  write("search-index.js", "window.searchIndex = [\n" .. table.concat(lines, ",\n") .. "\n];\n")
  return #lines
end

local function check_anchors()
  local count = 0
  for _, path in ipairs(waiting) do
    for _, link in ipairs(pages[path].links) do
      local target = link.target
      target.ids = target.ids or html.ids(target.html or "")
      if link.anchor ~= "" and not target.ids[link.anchor] then
        faults[#faults + 1] = ("%s: there is no %s"):format(path, link.address)
      end
      count = count + 1
    end
  end
  return count
end

for _, group in ipairs(contents) do
  for _, entry in ipairs(group.pages) do
    want(entry[1])
  end
end
local next_page = 1
while waiting[next_page] do
  make(pages[waiting[next_page]])
  next_page = next_page + 1
end
local links = check_anchors()
if #faults > 0 then
  io.stderr:write(table.concat(faults, "\n"), "\n")
  os.exit(1)
end
assert(os.execute("rm -rf " .. quote(out)))
local template = read("docs/site/page.html")
for _, path in ipairs(waiting) do
  write_page(pages[path], template)
end
write("style.css", read("docs/site/style.css"))
write("search.js", read("docs/site/search.js"))
local sections = write_index()
print(("%d pages, %d sections, %d links: %s/index.html"):format(#waiting, sections, links, out))

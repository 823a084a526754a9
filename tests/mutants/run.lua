--- Plants each fault of list.lua in a copy of the source, builds it and runs the tests
-- that must catch it. For `make mutants`:
--
--     lua5.4 tests/mutants/run.lua DIRECTORY [WORDS OF A NAME]
--
-- DIRECTORY is made anew for the copy and its build. The last line counts; the exit
-- code is 1 if a fault was not caught, or could not be planted.

local mutants = dofile("tests/mutants/list.lua")

local SEEDS = "1..200"
local SECONDS_MAX = 120 -- for one test: a fault may make it hang, which is caught too

local directory, only = arg[1], arg[2]
assert(directory, "usage: run.lua DIRECTORY [WORDS]")

local function shell(command)
  local ok, how, code = os.execute(command)
  return ok == true, how == "exit" and code or 128 + code
end

local function in_copy(command)
  return shell(("cd '%s' && { %s; } > last.log 2>&1"):format(directory, command))
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function copy_tree()
  assert(shell(("rm -rf '%s' && mkdir -p '%s'"):format(directory, directory)))
  assert(shell(("git ls-files -z -co --exclude-standard | tar --null -T - -cf - | " ..
    "tar -xf - -C '%s'"):format(directory)))
end

-- Replaces the one place where `from` stands.
local function replace(text, change)
  local first, last = text:find(change.from, 1, true)
  if not first then
    return nil, "the text to be changed is not there"
  elseif text:find(change.from, last + 1, true) then
    return nil, "the text to be changed stands there more than once"
  end
  return text:sub(1, first - 1) .. change.to .. text:sub(last + 1)
end

local function plant(mutant)
  local path = directory .. "/" .. mutant.file
  local text, err = replace(read(path), mutant)
  if text and mutant.also then
    text, err = replace(text, mutant.also)
  end
  if not text then
    return nil, err
  end
  write(path, text)
  return true
end

local TESTS = {
  sim = function(app)
    return ("build/society sim %s --seeds %s"):format(app or "tests/scenarios/standard.lua", SEEDS)
  end,
  disk = function()
    return "build/society sim tests/scenarios/standard.lua --seeds 1..60 " ..
      "--faults power,full,io,lag"
  end,
  spec = function(name)
    return ("build/society test tests/spec/%s_spec.lua"):format(name)
  end,
  unit = function(name)
    return ("make -j2 unit TESTS=%s"):format(name)
  end,
}

local function passes(test)
  local kind, name = test:match("^(%a+):?(.*)$")
  local command = TESTS[kind](name ~= "" and name or nil)
  return in_copy(("timeout -s KILL %d %s"):format(SECONDS_MAX, command))
end

-- Returns the first test that fails, or nil.
local function catch(mutant)
  for _, test in ipairs(mutant.by) do
    if not passes(test) then
      return test
    end
  end
  return nil
end

local function try(mutant)
  local planted, err = plant(mutant)
  if not planted then
    return "NOT PLANTED: " .. err, false
  end
  local result, is_caught
  if not in_copy("make -j2 all WERROR=") then
    result, is_caught = "DOES NOT BUILD", false
  else
    local test = catch(mutant)
    result, is_caught = test and "caught by " .. test or "NOT CAUGHT", test ~= nil
  end
  write(directory .. "/" .. mutant.file, read(mutant.file))
  return result, is_caught
end

copy_tree()
assert(in_copy("make -j2 all"), "the source does not build")
local function is_wanted(mutant)
  return not only or mutant.name:find(only, 1, true) ~= nil
end

local passed = {}
for _, mutant in ipairs(mutants) do
  for _, test in ipairs(mutant.by) do
    passed[test] = passed[test] or not is_wanted(mutant) or passes(test)
    assert(passed[test], "this fails before anything is planted: " .. test)
  end
end

local tried, caught = 0, 0
for _, mutant in ipairs(mutants) do
  if is_wanted(mutant) then
    local result, is_caught = try(mutant)
    tried = tried + 1
    caught = caught + (is_caught and 1 or 0)
    print(("%-64s %s"):format(mutant.name, result))
    io.stdout:flush()
  end
end
in_copy("make -j2 all")
print(("%d of %d planted faults caught"):format(caught, tried))
os.exit(caught == tried and 0 or 1)

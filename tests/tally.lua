-- Counts what `make test` has left behind: lua5.4 tests/tally.lua build/results
--
-- The file `stages` there has one line for each stage: its name, exit status and
-- seconds; the folder of a stage holds its TAP files. A stage without any, such as a
-- build, counts as one check; so does one that failed although its checks did
-- not. The last line is the sum, and the exit status says whether all is well.

local results = arg[1]

local function each_line(path, visit)
  local file = io.open(path)
  if file then
    for line in file:lines() do
      visit(line)
    end
    file:close()
  end
end

local function tap_files(stage)
  local files = {}
  local listing = io.popen(("ls %s/%s/*.tap 2>/dev/null"):format(results, stage))
  for path in listing:lines() do
    files[#files + 1] = path
  end
  listing:close()
  return files
end

local function count_stage(stage, status)
  local count = { passed = 0, failed = 0, skipped = 0 }
  local files = tap_files(stage)
  for _, path in ipairs(files) do
    each_line(path, function(line)
      if line:find("^not ok") then
        count.failed = count.failed + 1
      elseif line:find("^ok.*# SKIP") then
        count.skipped = count.skipped + 1
      elseif line:find("^ok") then
        count.passed = count.passed + 1
      end
    end)
  end
  if status ~= 0 and count.failed == 0 then
    count.failed = 1
  elseif status == 0 and #files == 0 then
    count.passed = 1
  end
  return count
end

local passed, failed, stages = 0, 0, 0
each_line(results .. "/stages", function(line)
  local stage, status, seconds = line:match("^(%S+) (%d+) (%d+)$")
  local count = count_stage(stage, tonumber(status))
  passed, failed, stages = passed + count.passed, failed + count.failed, stages + 1
  local skipped = count.skipped > 0 and (", %d skipped"):format(count.skipped) or ""
  print(("%-9s %5d s %5d passed, %d failed%s"):format(stage, tonumber(seconds), count.passed,
    count.failed, skipped))
end)

if stages == 0 then
  failed = 1
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)

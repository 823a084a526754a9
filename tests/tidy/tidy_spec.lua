-- The tidy rules against deliberate faults: each must be found, with its line.

package.path = "tests/tidy/?.lua;" .. package.path
local tidy = require("tidy")
local layers = require("layers")

local HEAD = "/* X: a thing.\n *\n * Layer: model. Thread: loop. */\n"

-- The layers as they are meant, without what the ratchet still allows.
local strict = setmetatable({ ratchet = { in_cycles = 0, up = 0 } }, { __index = layers })

local function check(path, text)
  return tidy.check({ { path = path, text = text } }, strict)
end

describe("tidy", function()
  it("accepts the tree it belongs to", function()
    assert.same({}, tidy.check(tidy.read_tree(), layers))
  end)

  for _, case in ipairs({
    {
      name = "finds an include that goes up",
      path = "core/model/box.c",
      text = '#include "base/err.h"\n#include "kernel/host.h"\n',
      found = "core/model/box.c:2: layer model must not include kernel/",
    },
    {
      name = "finds an outside header in the wrong layer",
      path = "core/model/box.c",
      text = "#include <stdint.h>\n#include <uv.h>\n",
      found = "core/model/box.c:2: layer model must not include <uv.h>",
    },
    {
      name = "reserves libuv to the loop and the streams of doors",
      path = "core/store/box.c",
      text = "#include <uv.h>\n",
      found = "core/store/box.c:1: layer store must not include <uv.h>",
    },
    {
      name = "finds a folder that is not a layer",
      path = "core/attic/box.c",
      text = "\n",
      found = "core/attic/box.c:1: layer attic is not in layers.lua",
    },
    {
      name = "finds a part that includes another one it is not listed for",
      path = "core/parts/group/box.c",
      text = '#include "parts/table.h"\n#include "parts/group/group_state.h"\n'
        .. '#include "parts/supervision/guard.h"\n#include "parts/human/human.h"\n',
      found = "core/parts/group/box.c:4: part group must not include part human",
    },
    {
      name = "keeps the state of a part to its own folder, even from parts that may use it",
      path = "core/parts/outside/box.c",
      text = '#include "parts/tasks/tasks.h"\n#include "parts/tasks/tasks_state.h"\n',
      found = "core/parts/outside/box.c:2: parts/tasks/tasks_state.h belongs to part tasks alone",
    },
    {
      name = "keeps the state of a part from the layers above",
      path = "core/script/box.c",
      text = '#include "parts/tasks/tasks.h"\n#include "parts/tasks/tasks_state.h"\n',
      found = "core/script/box.c:2: parts/tasks/tasks_state.h belongs to part tasks alone",
    },
    {
      name = "finds a part that is not listed",
      path = "core/parts/attic/box.c",
      text = "\n",
      found = "core/parts/attic/box.c:1: part attic is not in layers.lua",
    },
    {
      name = "finds a folder of script that includes a later one",
      path = "core/script/policies/box.c",
      text = '#include "script/turns/box.h"\n#include "script/policies/kinds.h"\n'
        .. '#include "script/answers/answers.h"\n',
      found = "core/script/policies/box.c:3: script/policies must not include "
        .. "script/answers/answers.h",
    },
    {
      name = "keeps the folders of script from what stands above them",
      path = "core/script/bindings/box.c",
      text = '#include "script/history/rerun.h"\n#include "script/script.h"\n',
      found = "core/script/bindings/box.c:2: script/bindings must not include script/script.h",
    },
    {
      name = "finds a folder of script that is not listed",
      path = "core/script/attic/box.c",
      text = "\n",
      found = "core/script/attic/box.c:1: folder script/attic is not in layers.lua",
    },
    {
      name = "finds a public function that does not bear its file's name",
      path = "core/model/bags_of.h",
      text = HEAD .. "\n/* Good. */\nint soc_bags_of_x(int a);\nint soc_bag_open(int a);\n"
        .. "int soc_model_x(void);\nstruct soc_cord {\n    int a;\n};\n"
        .. "int soc_cord_cut(void);\ntypedef void soc_cut_cb(int a);\nint soc_cut(int a);\n",
      found = "core/model/bags_of.h:14: soc_cut does not bear the name of its file",
    },
    {
      name = "finds a public function without a comment",
      path = "core/model/box.h",
      text = HEAD .. "\n/* Opens. */\nint open_box(int a);\nint close_box(int a);\n\n"
        .. "int lose_box(\n  int a);\n",
      found = "core/model/box.h:9: public function without a comment",
    },
    {
      name = "finds a public struct without a comment, but accepts one defined elsewhere",
      path = "core/model/box.h",
      text = HEAD .. "\nstruct lid;\n\n/* A box. */\nstruct box {\n  int a;\n};\n\n"
        .. "struct tin { /* of one's own */\n  int a;\n};\n\n"
        .. "struct crate {\n  int a; /* wood */\n};\n",
      found = "core/model/box.h:16: public type or variable without a comment",
    },
    {
      name = "finds a public enum without a comment",
      path = "core/model/box.h",
      text = HEAD .. "\nenum box {\n  BOX_OPEN,\n};\n",
      found = "core/model/box.h:5: public type or variable without a comment",
    },
    {
      name = "finds a public variable without a comment",
      path = "core/model/box.h",
      text = HEAD .. "\nextern const int box_size;\n",
      found = "core/model/box.h:5: public type or variable without a comment",
    },
    {
      name = "finds a head that names another layer",
      path = "core/kernel/box.h",
      text = HEAD,
      found = "core/kernel/box.h:1: head does not say `Layer: kernel.`",
    },
    {
      name = "finds a forward declaration",
      path = "core/model/box.c",
      text = "static int open_box(int a);\n",
      found = "core/model/box.c:1: forward declaration of a static function",
    },
    {
      name = "finds a mutable global",
      path = "core/model/box.c",
      text = "static const int fixed = 1;\nstatic int loose;\n",
      found = "core/model/box.c:2: mutable global",
    },
    {
      name = "finds a line comment but not a URL in a string",
      path = "core/model/box.c",
      text = 'int a = 1; // one\nconst char *b = "http://x"; /* // */\n',
      found = "core/model/box.c:1: comment that is not /* */",
    },
    {
      name = "finds a function that is too long",
      path = "core/model/box.c",
      text = "int f(void)\n{\n" .. ("    g();\n"):rep(97) .. "}\n\n"
        .. "int h(void)\n{\n" .. ("    g();\n"):rep(98) .. "}\n",
      found = "core/model/box.c:102: function has more than 100 lines",
    },
    {
      name = "finds a Lua function that is too long",
      path = "lua/society/box.lua",
      text = "local function f()\n" .. ("  g()\n"):rep(49) .. "end\n",
      found = "lua/society/box.lua:1: function has more than 50 lines",
    },
    {
      name = "finds a line that is too long, counted in characters",
      path = "core/model/box.c",
      text = "/* " .. ("é"):rep(94) .. " */\n/* " .. ("é"):rep(95) .. " */\n",
      found = "core/model/box.c:2: line has more than 100 columns",
    },
    {
      name = "finds a header that is too long",
      path = "core/model/box.h",
      text = HEAD .. ("\n"):rep(298),
      found = "core/model/box.h:301: file has more than 300 lines",
    },
    {
      name = "finds a plan",
      path = "docs/page.md",
      text = "fine\nTO" .. "DO: more\n",
      found = 'docs/page.md:2: "TO' .. 'DO" does not belong here',
    },
    {
      name = "finds a place of one machine",
      path = ".ci/run",
      text = "cd /wo" .. "rk/tree\n",
      found = '.ci/run:1: "/wo' .. 'rk/" does not belong here',
    },
  }) do
    it(case.name, function()
      assert.same({ case.found }, check(case.path, case.text))
    end)
  end

  it("finds a source file without tests, a test that covers none, and two of one name", function()
    local files = {
      { path = "core/model/by_name.c", text = "\n" },
      { path = "core/model/by_spec.c", text = "\n" },
      { path = "core/model/covered.c", text = "\n" },
      { path = "core/model/in_c.c", text = "\n" },
      { path = "core/model/alone.c", text = "\n" },
      { path = "tests/spec/model/by_spec_spec.lua",
        text = "-- Specs.\n--\n-- Covers: core/model/covered.c, core/model/gone.c\n" },
      { path = "tests/unit/model/by_name_test.c",
        text = "/* Tests.\n *\n * Covers: core/model/in_c.c */\n" },
      { path = "tests/unit/store/by_name_test.c", text = "\n" },
    }
    assert.same({
      "tests/unit/store/by_name_test.c:1: tests/unit/model/by_name_test.c has the same name",
      "core/model/alone.c:1: no test has its name or a line `Covers:` with its path",
      "tests/spec/model/by_spec_spec.lua:3: covers core/model/gone.c, which does not exist",
    }, tidy.check(files, strict))
  end)

  it("finds a cycle between modules even if no file includes itself", function()
    local files = {
      { path = "core/model/a.h", text = HEAD },
      { path = "core/model/a.c", text = '#include "model/b.h"\n' },
      { path = "core/model/b.h", text = HEAD },
      { path = "core/model/b.c", text = '#include "model/c.h"\n' },
      { path = "core/model/c.h", text = HEAD .. '#include "model/a.h"\n' },
      { path = "core/model/d.h", text = HEAD .. '#include "model/a.h"\n' },
    }
    assert.same(
      { "core/model/a:1: include cycle: model/a, model/b, model/c" }, tidy.check(files, strict))
  end)
end)

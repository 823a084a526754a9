-- The calculator story with agents that think: root has a calculator written, the
-- programmer finds a tester by an introduction, and everybody talks through a model.
--
-- The answers of the model are scripted below. With a real one:
--
--     OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_MODEL=gpt-4o-mini OPENAI_API_KEY=… \
--       society run examples/14_calculator_models.lua

local json = require("society.json")
local society = require("society")

local DAY_MS = 24 * 3600 * 1000 -- models may be slow, and the society down for a while
local CONSTRAINTS = { "使用 HTML + JavaScript 实现", "必须是静态网页，不需要后端" }

local function call(name, arguments)
  return { tool_calls = { { name = name, arguments = arguments } } }
end

-- The answer of the last tool call, or of the first.
local function result(request, index)
  return json.decode(request.messages[index or #request.messages].content)
end

local FIRST_RESULT = 3 -- behind the question and the call

local answers = {
  root = {
    { expect = "计算器", tool_calls = { { name = "spawn_agent", arguments = {
      roleId = "programmer", taskBrief = {
        objective = "创建一个简单的计算器程序", constraints = CONSTRAINTS,
        inputs = "用户通过网页界面输入数字和运算符", outputs = "在网页上显示计算结果",
        completion_criteria = "四则运算正确",
      } } } } },
    call("spawn_agent", { roleId = "tester", taskBrief = {
      objective = "测试交付的程序", constraints = CONSTRAINTS, inputs = "代码文件路径",
      outputs = "测试报告", completion_criteria = "每个问题都有重现步骤",
    } }),
    function(request)
      return call("request", { to = result(request, FIRST_RESULT).id,
        payload = { text = "请开始，完成后告诉我。" }, timeout_ms = 600000 })
    end,
    { expect = "测试通过", content = "计算器已经完成并通过测试：/calculator/index.html" },
  },
  programmer = {
    call("request_introduction", { to = "root", reason = "计算器已经写完，需要独立测试",
      required_capability = "代码测试服务" }),
    function(request)
      return call("request", { to = result(request).id,
        payload = { text = "/calculator/index.html" }, timeout_ms = 600000 })
    end,
    { expect = "通过", content = "写完了，测试通过。" },
  },
  tester = { { expect = "/calculator/index.html", content = "通过：四则运算正确。" } },
}

society.config { llm = { provider = "auto", answers = answers } }

society.root("llm")

society.role {
  id = "programmer", name = "程序员", behaviour = "llm",
  prompt = "你写程序。写完后请人测试，再汇报。",
}

society.role {
  id = "tester", name = "测试员", behaviour = "llm", prompt = "你测试交付的程序。",
  interface_spec = {
    services = "代码测试服务", input_format = "代码文件路径", output_format = "测试报告",
  },
}

society.main(function(user)
  local answer = assert(user:request {
    to = "root", payload = { text = "请做一个计算器，要静态网页。" }, timeout_ms = DAY_MS,
  })
  print(answer.payload.text)
  for _, row in ipairs(society.usage()) do
    print(row.agent == "root" and "root" or "a child", row.calls .. " calls")
  end
end)

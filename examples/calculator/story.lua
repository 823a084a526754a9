-- The calculator story: a user wants a calculator, root hires a designer and a
-- programmer with complete briefs, the programmer gets in touch with the designer, and the
-- result goes back to the user. The examples 03 to 05 tell it under different policies.

local society = require("society")

local DAY_MS = 24 * 3600 * 1000 -- longer than anybody leaves it down
local CONSTRAINTS = {
  "使用 HTML + JavaScript 实现", "必须是静态网页，不需要后端", "支持四则运算（加减乘除）",
}

society.role {
  id = "designer", name = "UI设计师", prompt = "设计清晰易用的界面。",
  interface_spec = {
    services = "界面设计", input_format = "要做什么，给谁用", output_format = "颜色和按键布局",
  },
  behaviour = {
    collaboration_request = function(agent, message)
      print(("%s: asked by %s (%s)"):format(agent.role.name, message.from,
        message.payload.self_introduction.role))
      agent:reply(message, { colour = "#335577", keys = "789/456*123-0.=+" },
        { type = "collaboration_response" })
    end,
  },
}

-- Writes to the designer if it may, else asks its parent to be introduced first.
local function find_designer(agent)
  local id = agent.brief.references[1]
  local verdict = agent:can_send(id)
  if verdict.allowed then
    print("程序员: I may write to the designer at once")
    return id
  end
  print("程序员: the designer is a stranger (" .. verdict.error .. "), so I ask my parent")
  local contact, err = agent:request_introduction {
    to = agent.parent, reason = "计算器需要界面", required_capability = "界面设计",
    timeout_ms = DAY_MS,
  }
  if not contact then
    print("程序员: no introduction: " .. err.reason)
    return nil
  end
  print(("程序员: %s introduced me to %s"):format(contact.introducedBy, contact.role))
  return contact.id
end

local function build(design, constraints)
  local keys = design.keys:gsub(".", "<button>%0</button>")
  return ("<!-- %s --><body style='background:%s'>%s</body>"):format(
    table.concat(constraints, "; "), design.colour, keys)
end

society.role {
  id = "programmer", name = "程序员", prompt = "写出符合约束的程序。",
  interface_spec = {
    services = "编写网页", input_format = "任务委托书", output_format = "一个 HTML 文件",
  },
  behaviour = {
    task_assignment = function(agent, message)
      local designer = find_designer(agent)
      if not designer then
        return agent:reply(message, { text = "没有设计，做不了" })
      end
      local answer = assert(agent:request {
        to = designer, type = "collaboration_request", payload = { text = agent.brief.objective },
        timeout_ms = DAY_MS,
      })
      agent:reply(message, { text = "完成", page = build(answer.payload, agent.brief.constraints) })
    end,
  },
}

local function brief_for(objective, references)
  return {
    objective = objective, constraints = CONSTRAINTS, inputs = "用户通过网页界面输入数字和运算符",
    outputs = "在网页上显示计算结果", completion_criteria = "计算器能正确执行加减乘除运算，界面美观易用",
    references = references,
  }
end

society.root {
  default = function(root, message)
    local designer = assert(root:spawn_agent("designer", brief_for("设计计算器的界面", {})))
    local brief = brief_for("创建一个简单的计算器程序", { designer.id })
    local programmer = assert(root:spawn_agent("programmer", brief))
    print("root: hired a designer and a programmer for: " .. message.payload.text)
    local done = assert(root:request {
      to = programmer.id, type = "task_assignment", payload = brief, timeout_ms = DAY_MS,
    })
    root:reply(message, done.payload)
  end,
}

society.main(function(user)
  local answer = assert(user:request {
    to = "root", payload = "做一个计算器", timeout_ms = DAY_MS,
  })
  print("user: " .. answer.payload.text .. "，" .. #(answer.payload.page or "") .. " bytes")
  for _, contact in ipairs(society.contacts("root")) do
    print(("root knows %s (%s)"):format(contact.role, contact.source))
  end
end)

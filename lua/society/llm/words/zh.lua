--- words/zh: what a model is told of the society's verbs, in Chinese. What the protocol's
-- design says of them is said in its words.

return {
  verbs = {
    create_role = "设立岗位。",
    spawn_agent = "在指定岗位上创建智能体实例，必须提供任务委托书（Task Brief）。",
    send_message = "给智能体发消息，不等待答复。",
    request = "给智能体发消息并等待答复。",
    list_contacts = "列出联系人及其接口规格。",
    request_introduction = "请联系人介绍具备某种能力的智能体。",
    introduce = "答复 introduction_request，介绍一位自己的联系人。",
    decline = "拒绝 introduction_request，说明原因。",
    escalate = "把需要用户拍板的事提交给用户并等待决定。",
    complete = "任务达到完成标准后交付结果。",
    fail = "任务无法完成时说明原因。",
  },
  task_open = "任务 %s 尚未结束。请调用 complete 交付结果，或调用 fail 说明原因；若两者都不调用，"
    .. "你接下来说的话将作为结果交付。",
  tasks_open = "任务 %s 尚未结束。请逐一调用 complete（附 task_id 和结果）或 fail（附 task_id 和原因）；"
    .. "若两者都不调用，你接下来说的话将作为所有未结束任务的结果交付。",
  interface_spec = "接口规格说明", services = "提供的服务", input_format = "输入格式",
  output_format = "输出格式", examples = "示例",
  role_id = "岗位ID", role_name = "岗位名称", role_prompt = "岗位提示词",
  task_brief = "任务委托书，包含任务的完整说明",
  objective = "目标描述", constraints = "技术约束（如：使用HTML+JS、Python等）",
  inputs = "输入说明", outputs = "输出要求", completion_criteria = "完成标准",
  collaborators = "预设协作联系人", agent_id = "智能体ID", role = "角色",
  collaboration = "协作说明", references = "参考资料",
  priority = "urgent、high、normal 或 low",
  payload = "消息内容：对象或文本", type = "消息类型，省略时为 general",
  timeout_ms = "最长等待的毫秒数", contact_id = "联系人的智能体ID", reason = "原因",
  required_capability = "所需能力", target = "被介绍者的智能体ID", usage_hint = "合作建议",
  title = "标题", body = "说明", options = "选项", output = "交付内容",
  retryable = "稍后重试是否可能成功", task_id = "任务ID，有多个任务时填写；省略时为最近的未结束任务",
}

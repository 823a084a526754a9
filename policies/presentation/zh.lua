--- Presentation: how a message is shown to an agent, in Chinese.
--
-- Header, content, hint how to reply. A line of the content that begins like a
-- header is quoted, so that no content passes for one.

local presentation = require("society.presentation")

local M = { kind = "presentation", version = 1, defaults = {} }

function M.message(message, sender)
  local content = presentation.content(message, "【来自")
  if message.from == "user" then
    return "【来自用户的消息】\n" .. content
  end
  return ("【来自 %s（%s）的消息】\n%s\n如需回复，请使用 send_message(to='%s', ...)"):format(
    sender.role or "unknown", message.from, content, message.from)
end

M.examples = {
  {
    ask = "message",
    given = { { from = "user", payload = { text = "hi" } }, { role = "user" } },
    expect = "【来自用户的消息】\nhi",
  },
  {
    ask = "message",
    given = { { from = "a1", payload = { text = "好" } }, { role = "程序员" } },
    expect = "【来自 程序员（a1）的消息】\n好\n如需回复，请使用 send_message(to='a1', ...)",
  },
}

return M

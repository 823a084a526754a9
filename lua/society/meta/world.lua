---@meta
-- What an agent says to the world beyond and hears from it. Nothing here is ever run.

---@class society.Request
---@field url string http or https
---@field method? string GET, or POST with a body, if left out
---@field headers? table<string, string>
---@field body? string UTF-8
---@field timeout_ms? number 30000 if left out
---@field idempotent? boolean it may be made twice: it is repeated when in doubt
---@field connect_ms? integer 10000 if left out
---@field first_byte_ms? integer from the start to the first byte of the answer
---@field idle_ms? integer between two pieces of the answer
---@field answer_bytes_max? integer 16 MB if left out, which is the most
---@field secret? string|society.Secret a variable of society.config{ secrets = … } to send

---@class society.Secret
---@field env string the variable
---@field header? string Authorization if left out
---@field prefix? string before the value; "Bearer " if there is no header

---@class society.Response
---@field status integer
---@field headers table<string, string> names in lower case
---@field body? string
---@field body_base64? string instead of body if it is not UTF-8

---@class society.ToolCall
---@field id string
---@field name string
---@field arguments string JSON, as the model wrote it

---@class society.ChatMessage
---@field role "system"|"user"|"assistant"|"tool"
---@field content? string
---@field tool_calls? society.ToolCall[] of an assistant
---@field tool_call_id? string of a tool's result

---@class society.Tool
---@field name string
---@field description? string
---@field parameters? table JSON schema

---@class society.Chat
---@field messages? society.ChatMessage[]
---@field history? integer[][] ranges of the agent's conversation instead: { { first, last }, … }
---@field system? string
---@field tools? society.Tool[]
---@field model? string
---@field provider? string openai, anthropic, scripted, or a module's name
---@field temperature? number
---@field max_tokens? integer
---@field tool_choice? "auto"|"none"|"required"|table { name = a tool }, or as the server has it
---@field response_format? any of OpenAI only
---@field options? table further fields of the request, as the server has them
---@field timeout_ms? number 600000 if left out, tries and pauses included
---@field interruptible? boolean a message that comes meanwhile ends it with `interrupted`

---@class society.ChatAnswer: society.ChatMessage
---@field finish_reason "stop"|"tool_calls"|"length"|"content_filter"
---@field model string
---@field usage { input_tokens: integer, output_tokens: integer, is_estimated: boolean? }
---@field cost_micros integer millionths of a dollar

---Usage of models by one agent, for one task.
---@class society.Usage
---@field agent string
---@field task_id? string
---@field model string
---@field calls integer
---@field input_tokens integer
---@field output_tokens integer
---@field cost number dollars

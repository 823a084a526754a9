--- words/en: what a model is told of the society's verbs, in English.

return {
  verbs = {
    create_role = "Sets up a role.",
    spawn_agent = "Creates an agent in a role. A Task Brief is required.",
    send_message = "Sends a message to an agent and does not wait for an answer.",
    request = "Sends a message to an agent and waits for the answer.",
    list_contacts = "Lists your contacts and their Interface Specs.",
    request_introduction = "Asks a contact to introduce an agent that can do something.",
    introduce = "Answers an introduction_request: introduces one of your contacts.",
    decline = "Declines an introduction_request and says why.",
    escalate = "Puts something before the user to decide, and waits for the decision.",
    complete = "Hands in the result once the task meets its completion criteria.",
    fail = "Says why the task cannot be done.",
  },
  task_open = "Task %s is still open. End it by complete, with its result, or by fail, with the "
    .. "reason. If you call neither, your next words are handed in as its result.",
  tasks_open = "Tasks %s are still open. End each of them by complete, with its task_id and "
    .. "result, or by fail, with its task_id and the reason. If you call neither, your next words "
    .. "are handed in as the result of all that are open then.",
  interface_spec = "Interface Spec", services = "what it does for others",
  input_format = "form of what it is given", output_format = "form of what it gives back",
  examples = "examples",
  role_id = "id of the role", role_name = "name of the role", role_prompt = "prompt of the role",
  task_brief = "Task Brief: all there is to know about the task",
  objective = "what is to be reached",
  constraints = "technical constraints (such as: HTML and JavaScript, Python)",
  inputs = "what there is to work with", outputs = "what is to be delivered",
  completion_criteria = "when it is done",
  collaborators = "contacts it begins with, to work with", agent_id = "id of the agent",
  role = "role", collaboration = "what to work on together", references = "references",
  priority = "urgent, high, normal or low",
  payload = "content of the message: an object or a text",
  type = "type of the message; general if left out",
  timeout_ms = "how long to wait at most, in milliseconds",
  contact_id = "id of the contact", reason = "why",
  required_capability = "what it must be able to do",
  target = "id of the agent that is introduced", usage_hint = "how best to work with it",
  title = "title", body = "explanation", options = "options to choose from",
  task_id = "id of the task, if there are several; the latest open one if left out",
  output = "what is delivered", retryable = "whether trying again later may help",
}

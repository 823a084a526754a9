--- Where two capabilities meet: what holds there, and the tests that show it. criteria_spec.lua
-- checks this table. A file that begins with `e2e:` is below tests/e2e.

return {
  {
    holds = "briefs from models go to the policy",
    { "llm_policies_spec.lua",
      "a brief from a model is refused by the policy, which names what is missing" },
    { "llm_policies_spec.lua", "a brief from a model is repaired by the policy lenient" },
    { "llm_policies_spec.lua",
      "a call of a model is refused by the vocabulary, which names what is missing" },
  },
  {
    holds = "a usage_hint reaches whoever asked",
    { "contact_rules_spec.lua",
      "an introduction brings its usage_hint: with the contact, in the contacts and in "
        .. "the context" },
  },
  {
    holds = "introduction requests that are passed on end",
    { "introduction_ends_spec.lua",
      "a request that two agents pass to each other ends by a hop limit, with a refusal "
        .. "that names who was asked" },
    { "introduction_ends_spec.lua",
      "a request that two agents pass to each other is a bounded amount of work, also in "
        .. "bytes" },
  },
  {
    holds = "answers are acks",
    { "late_answers_spec.lua",
      "an answer from outside to a checkpoint that has timed out stops the ladder" },
    { "late_answers_spec.lua",
      "an answer from outside to a query that required an ack stops the ladder and "
        .. "reaches the asker" },
  },
  {
    holds = "acks go to outside agents, and are waited for inside",
    { "acks_spec.lua",
      "an ack for an outside agent says received when its message is durable, and "
        .. "processed when it was handled" },
    { "wait_ack_spec.lua",
      "wait_ack towards an agent inside returns when the activation that handled it has "
        .. "committed" },
    { "wait_ack_spec.lua",
      "wait_ack towards an agent inside ends with an error when the message does" },
    { "wait_ack_graph_spec.lua",
      "wait_ack in the wait-for graph is an edge: a receiver that asks back closes a "
        .. "cycle" },
    { "wait_ack_graph_spec.lua", "wait_ack across a crash goes on waiting, and is not sent again" },
    { "wait_ack_graph_spec.lua",
      "wait_ack towards an agent outside waits for `processed` past `received`, also "
        .. "across a crash" },
  },
  {
    holds = "contacts keep parents, roles and sources",
    { "contact_rules_spec.lua",
      "a contact that cannot be removed is the parent, though the brief names it as a "
        .. "collaborator" },
    { "contact_rules_spec.lua", "add_contact does not rename a role" },
    { "contact_rules_spec.lua", "mail to the orchestrator needs no contact" },
    { "contact_rules_spec.lua",
      "an introduction becomes the source of somebody known by a first message" },
    { "contact_rules_spec.lua",
      "a refusal for a stranger says how to be introduced, and how to let strangers in" },
  },
  {
    holds = "introductions after the fact are refused, and the person introduces",
    { "introduction_ends_spec.lua",
      "an introduction after the fact is refused after the time-out: introduce" },
    { "introduction_ends_spec.lua", "somebody who ends in the same turn cannot be introduced" },
    { "introduction_user_spec.lua",
      "an introduction asked of the user is made by the choice, across a restart" },
  },
  {
    holds = "nobody borrows authority",
    { "task_authority_spec.lua",
      "a self_introduction names the sender's own role, in any message" },
    { "task_authority_spec.lua", "a result for another's task is refused and changes nothing" },
    { "response_spec.lua", "a response that names no query of the receiver is refused" },
    { "response_spec.lua",
      "a response that is the second to a request is refused, in the same turn and later" },
    { "task_cancel_rules_spec.lua",
      "cancelling a task is reserved to the assigner and its ancestors, and to open tasks" },
  },
  {
    holds = "briefs are checked in full",
    { "brief_priority_spec.lua",
      "the priority of a brief is that of the message, wherever the brief stands" },
    { "brief_priority_spec.lua", "the priority of a brief must be known there as well" },
    { "briefs_spec.lua", "a bad brief is reported with both kinds of fault" },
  },
  {
    holds = "nothing that was sent is hidden from a reader",
    { "presentation_spec.lua", "fields beside the content are shown whatever the type is" },
    { "presentation_spec.lua",
      "a message of the system has its own header and no hint to answer it" },
    { "prompt_contacts_spec.lua",
      "the context of an agent says that strangers are refused only where they are" },
  },
  {
    holds = "numbers beyond 64 bits are read",
    { "json_spec.lua", "json.decode reads 18446744073709551616e0" },
    { "e2e:files_refusals_spec.lua",
      "accepts integers beyond 64 bits, and refuses a number that no double can hold" },
  },
  {
    holds = "queues, loads and the life of tasks are seen from outside",
    { "milestone_spec.lua",
      "the activity has the start and the end of a task with its duration, and who handed "
        .. "it on" },
    { "milestone_spec.lua",
      "the activity has each milestone once, of turns that committed, also after a crash" },
    { "milestone_spec.lua", "the activity has an event for each message that was sent before" },
    { "e2e:call_spec.lua", "shows queues and loads as the samples do, running and stopped" },
    { "e2e:files_reports_spec.lua",
      "writes status.json when what an agent does has changed, before its interval" },
  },
  {
    holds = "options of an escalation can be chosen",
    { "choice_spec.lua",
      "a choice among options returns the option that was chosen, which approves" },
    { "choice_spec.lua",
      "a choice among options takes an option's text for the option, as a command line "
        .. "gives it" },
  },
  {
    holds = "models can be given every verb",
    { "llm_verbs_spec.lua", "the verbs of a model are few unless the app chooses" },
    { "llm_verbs_spec.lua",
      "the verbs of a model have a description and a schema in both languages" },
    { "llm_verbs_spec.lua", "the verbs of a model wait for the ack of a send" },
  },
  {
    holds = "an expired task is reported once, errors are whole, and main acts for the person",
    { "task_expiry_spec.lua",
      "a task that expires is reported to its assigner by one message, its result" },
    { "format_errors_spec.lua",
      "invalid_message_format always has message_type, missing_fields and details" },
    { "orders_spec.lua",
      "in main society.dispatch is a request of the person, also across a crash" },
    { "orders_spec.lua", "in main society.decide decides once, as an effect" },
    { "orders_spec.lua",
      "in main, dead letters are redelivered and dropped by id, once, also across a crash" },
  },
}

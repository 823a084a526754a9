--- Which test proves which acceptance criterion of the protocol's requirements, and
-- which correctness property holds up which criteria. criteria_spec.lua keeps it whole.
--
-- Each criterion has a test of its own that bears its number: in `file`, below
-- describe(`title`). `further` lists tests that go deeper: the number of the criterion, a
-- file and the full name of a test. A file is any spec of that name below tests/spec.

local M = {}

-- The properties in order, each with the criteria it validates.
M.properties = {
  {
    file = "properties_brief_spec.lua",
    validates = { "1.2", "1.4" },
    name = "Property 1: a brief is taken if and only if it has every required field and else all "
      .. "that are missing are named and nobody is made",
  },
  {
    file = "properties_brief_spec.lua",
    validates = { "1.5" },
    name = "Property 2: a child is told its whole brief every field in its context, required, "
      .. "optional and unknown",
  },
  {
    file = "properties_contacts_spec.lua",
    validates = { "2.1", "2.2" },
    name = "Property 3: whoever is born knows its parent at any depth, whatever its role, and "
      .. "after a crash",
  },
  {
    file = "properties_contacts_spec.lua",
    validates = { "2.5" },
    name = "Property 4: a parent knows its children from the moment of birth, with their roles, "
      .. "and after a crash",
  },
  {
    file = "properties_talk_spec.lua",
    validates = { "2.6" },
    name = "Property 5: under the policy open nobody is refused for being unknown and the "
      .. "registry answers truly who is in it",
  },
  {
    file = "properties_contacts_spec.lua",
    validates = { "2.8", "7.1", "7.2", "7.4" },
    name = "Property 6: collaborators of a brief are known from birth all of them, as the brief "
      .. "says, and can be written to at once",
  },
  {
    file = "properties_talk_spec.lua",
    validates = { "5.2" },
    name = "Property 7: a first message makes its sender known to the receiver once, of that "
      .. "source, and only the receiver's list changes",
  },
  {
    file = "properties_message_spec.lua",
    validates = { "9.1", "9.5" },
    name = "Property 8: from is always the sender whatever the caller says, in every way to send",
  },
  {
    file = "properties_message_spec.lua",
    validates = { "9.2", "9.3", "10.1", "10.2", "10.3", "10.4", "10.5", "10.6" },
    name = "Property 9: a message is shown with its source, its content and how to reply exactly, "
      .. "whoever writes whatever",
  },
  {
    file = "properties_types_spec.lua",
    validates = { "8.2", "8.3", "8.4", "8.5" },
    name = "Property 10: what is sent fits its type else what is missing is named and nothing has "
      .. "changed",
  },
}

M.requirements = {
  {
    file = "acceptance_people_spec.lua", title = "Requirement 1, the Task Brief:",
    criteria = {
      "spawn_agent asks for a Task Brief",
      "a brief has objective, constraints, inputs, outputs and completion_criteria",
      "it may have collaborators, references and priority",
      "without a required field nobody is made, and the field is named",
      "the whole brief stands in the child's first context",
    },
    further = {
      { "1.1", "briefs_spec.lua", "a bad brief misses all five fields if there is none at all" },
      { "1.3", "briefs_spec.lua", "a good brief may have values of any kind, and keeps fields "
        .. "nobody knows" },
      { "1.4", "briefs_spec.lua", "a bad brief uses no id: the next agent is called as if "
        .. "nothing had been" },
      { "1.5", "prompts_spec.lua", "the context of an agent is the same after a crash" },
    },
  },
  {
    file = "acceptance_people_spec.lua", title = "Requirement 2, the Contact Registry:",
    criteria = {
      "every agent has one from its birth",
      "it holds the parent",
      "root's holds the user alone",
      "the user's holds root alone",
      "the parent's gains the child",
      "a message to somebody who is not in it is refused with unknown_contact",
      "an entry has id, role, Interface Spec and where it comes from",
      "the brief's collaborators are added to the child's",
    },
    further = {
      { "2.3", "contacts_spec.lua", "contacts start with user and root knowing each other, and "
        .. "nobody else" },
      { "2.4", "contacts_spec.lua", "contacts start with user and root knowing each other, and "
        .. "nobody else" },
      { "2.6", "contacts_spec.lua", "the contacts policy strict refuses a stranger, with a "
        .. "hint, and nothing changes" },
      { "2.7", "contacts_spec.lua", "contacts have id, role, source and time" },
    },
  },
  {
    file = "acceptance_talk_spec.lua", title = "Requirement 3, introductions:",
    criteria = {
      "an agent asks its parent, or anybody else it knows, for an introduction",
      "a request has reason and required_capability",
      "who is asked looks for somebody who fits among its contacts",
      "if it knows one it answers with its id and Interface Spec",
      "if it knows none it may ask others: its parent, its children",
      "what it learns from others it passes on to who asked first",
      "the target is among the requester's contacts before the response is read",
      "a response has the target's id, role, Interface Spec and a hint for use",
    },
    further = {
      { "3.1", "introductions_spec.lua", "an introduction comes from a parent who knows a "
        .. "match" },
      { "3.3", "introductions_spec.lua", "an introduction is refused with a reason if nobody "
        .. "matches" },
      { "3.5", "introductions_spec.lua", "an introduction ends in a cycle of agents that know "
        .. "only each other" },
      { "3.6", "introductions_spec.lua", "an introduction is asked onward through two agents, "
        .. "and everybody on the way gains a contact" },
      { "3.7", "introduction_rules_spec.lua", "an unsolicited response is refused and changes "
        .. "nothing" },
    },
  },
  {
    file = "acceptance_people_spec.lua", title = "Requirement 4, the Interface Spec:",
    criteria = {
      "create_role takes an interface_spec, or none",
      "it has services, input_format, output_format and examples",
      "an introduction brings the target's Interface Spec along",
      "who writes to an agent is shown its formats and told to keep to them",
    },
    further = {
      { "4.1", "roles_spec.lua", "society.role raises on a bad interface_spec" },
      { "4.2", "roles_spec.lua", "create_role inside a turn refuses a bad interface_spec" },
      { "4.3", "introductions_spec.lua", "an introduction comes from a parent who knows a "
        .. "match" },
    },
  },
  {
    file = "acceptance_talk_spec.lua", title = "Requirement 5, writing to whom one has met:",
    criteria = {
      "who was introduced may write first",
      "the first message makes the sender known to the receiver",
      "it says who writes: role, duty, reason",
      "the receiver may reply or just do what is asked",
      "a message has its sender's id in from",
      "what is sent to that from reaches the sender",
      "a receiver that keeps no contact can reply all the same",
    },
    further = {
      { "5.1", "introductions_spec.lua", "an introduction lets the requester write, which "
        .. "makes the two mutual contacts" },
      { "5.3", "self_introduction_spec.lua", "self_introduction is filled in from role and "
        .. "brief, in the first message only" },
      { "5.6", "reply_spec.lua", "reply reaches the sender, whether a contact or not" },
      { "5.7", "add_contact_spec.lua", "remove_contact removes a contact; replying is still "
        .. "possible" },
    },
  },
  {
    file = "acceptance_messages_spec.lua", title = "Requirement 6, the prompts:",
    criteria = {
      "root is told the required fields of a Task Brief",
      "everybody is told about the Contact Registry and introductions",
      "whoever can make agents is told to give a whole Task Brief",
      "it is said how to ask for an introduction and how to answer",
      "it is stressed that technical constraints are passed on",
    },
    further = {
      { "6.1", "prompt_texts_spec.lua", "the prompts name the required fields and say that "
        .. "constraints are passed on in full" },
      { "6.2", "prompt_texts_spec.lua", "the prompts say how to meet others, how to be met and "
        .. "how to write to them" },
      { "6.4", "prompt_texts_spec.lua", "the prompts have every tool and every type of message "
        .. "with an example" },
    },
  },
  {
    file = "acceptance_people_spec.lua", title = "Requirement 7, collaborators:",
    criteria = {
      "a brief takes a list of collaborators",
      "they are the child's contacts from its birth",
      "each has agentId, role and description, and may have an interfaceSpec",
      "the child writes to them without an introduction",
      "a role's prompt may say whom to turn to, by id; the agent reads it as it is",
      "such guidance may come with create_role as rolePrompt, and is no contact",
    },
    further = {
      { "7.2", "contacts_spec.lua", "collaborators survive a crash unchanged" },
      { "7.3", "contacts_spec.lua", "collaborators get a missing interfaceSpec from their role" },
    },
  },
  {
    file = "acceptance_messages_spec.lua", title = "Requirement 8, types of messages:",
    criteria = {
      "a payload may name one of six types in message_type",
      "a task_assignment has a Task Brief",
      "an introduction_request has reason and required_capability",
      "an introduction_response says who, with an Interface Spec",
      "what does not fit its type, or has a type nobody knows, is refused",
    },
    further = {
      { "8.1", "envelope_spec.lua", "an envelope with fields in its payload accepts "
        .. "message_type as the type" },
      { "8.5", "vocabulary_property_spec.lua", "a generated message passes if it fits, else "
        .. "what is wrong is named and nothing changes" },
    },
  },
  {
    file = "acceptance_messages_spec.lua", title = "Requirement 9, who a message is from:",
    criteria = {
      "the host writes from",
      "a message is shown with where it comes from",
      "shown are the sender's id, its role if known, and the content",
      "to write to the sender is send_message with its id as to",
      "nobody has to give from, and giving one changes nothing",
    },
    further = {
      { "9.5", "send_spec.lua", "send_message ignores a from set by the caller" },
    },
  },
  {
    file = "acceptance_messages_spec.lua", title = "Requirement 10, how a message is shown:",
    criteria = {
      "what is delivered has a form of its own",
      "it is a line of source, the content, and a hint how to reply",
      "the line of source is 【来自 role（id）的消息】",
      "the user's is 【来自用户的消息】",
      "the hint is 如需回复，请使用 send_message(to='id', ...)",
      "an agent gets its messages in this form, however they reach it",
    },
    further = {
      { "10.6", "envelope_spec.lua", "message.text is set on replies and received messages as "
        .. "well" },
    },
  },
}

return M

--- Which test proves which acceptance criterion of the protocol's requirements, and which
-- correctness property validates which criteria. criteria_spec.lua checks this table.
--
-- Each criterion has a test of its own that bears its number: in `file`, below
-- describe(`title`). `further` lists tests that go deeper: the number of the criterion, a
-- file and the full name of a test. A file is any spec of that name below tests/spec.

local M = {}

-- The table of what holds where two capabilities meet, and of the tests that show it.
M.seams = "tests/seams.lua"

-- The properties in order, each with the criteria it validates.
M.properties = {
  {
    file = "properties_brief_spec.lua",
    validates = { "1.2", "1.4" },
    name = "Property 1: a brief is accepted if and only if it has every required field and "
      .. "otherwise all missing ones are named and no agent is spawned",
  },
  {
    file = "properties_brief_spec.lua",
    validates = { "1.5" },
    name = "Property 2: a child gets its whole brief with every field in its context, "
      .. "required, optional and unknown",
  },
  {
    file = "properties_contacts_spec.lua",
    validates = { "2.1", "2.2" },
    name = "Property 3: every agent knows its parent at any depth, whatever its role, and "
      .. "after a crash",
  },
  {
    file = "properties_contacts_spec.lua",
    validates = { "2.5" },
    name = "Property 4: a parent knows its children from the moment of spawning, with their "
      .. "roles, and after a crash",
  },
  {
    file = "properties_talk_spec.lua",
    validates = { "2.6" },
    name = "Property 5: under the policy open no stranger is refused and the registry reports "
      .. "its contacts correctly",
  },
  {
    file = "properties_contacts_spec.lua",
    validates = { "2.8", "7.1", "7.2", "7.4" },
    name = "Property 6: collaborators of a brief are contacts from the start all of them, as "
      .. "the brief says, and can be written to immediately",
  },
  {
    file = "properties_talk_spec.lua",
    validates = { "5.2" },
    name = "Property 7: a first message adds its sender to the receiver's contacts once, with "
      .. "that source, and only the receiver's list changes",
  },
  {
    file = "properties_message_spec.lua",
    validates = { "9.1", "9.5" },
    name = "Property 8: from is always the sender whatever the caller says, in every way to send",
  },
  {
    file = "properties_message_spec.lua",
    validates = { "9.2", "9.3", "10.1", "10.2", "10.3", "10.4", "10.5", "10.6" },
    name = "Property 9: a message is shown with its source, its content and how to reply "
      .. "exactly, for any sender and content",
  },
  {
    file = "properties_types_spec.lua",
    validates = { "8.2", "8.3", "8.4", "8.5" },
    name = "Property 10: a sent message fits its type otherwise the missing fields are named "
      .. "and nothing has changed",
  },
}

M.requirements = {
  {
    file = "acceptance_people_spec.lua", title = "Requirement 1, the Task Brief:",
    criteria = {
      "spawn_agent requires a Task Brief",
      "a brief has objective, constraints, inputs, outputs and completion_criteria",
      "it may have collaborators, references and priority",
      "without a required field no agent is spawned, and the field is named",
      "the whole brief is in the child's first context",
    },
    further = {
      { "1.1", "briefs_spec.lua", "a bad brief lacks all five fields if there is none at all" },
      { "1.3", "briefs_spec.lua", "a good brief has optional fields, and keeps unknown ones of "
        .. "any kind" },
      { "1.3", "brief_priority_spec.lua", "the priority of a brief is that of the message, "
        .. "wherever the brief stands" },
      { "1.4", "briefs_spec.lua", "a bad brief uses up no id" },
      { "1.4", "llm_policies_spec.lua", "a brief from a model is refused by the policy, which "
        .. "names what is missing" },
      { "1.5", "prompts_spec.lua", "the context of an agent is the same after a crash" },
    },
  },
  {
    file = "acceptance_people_spec.lua", title = "Requirement 2, the Contact Registry:",
    criteria = {
      "every agent has one when it is spawned",
      "it contains the parent",
      "root's contains only the user",
      "the user's contains only root",
      "the parent's gains the child",
      "a message to an agent that is not in it is refused with unknown_contact",
      "an entry has id, role, Interface Spec and source",
      "the brief's collaborators are added to the child's",
    },
    further = {
      { "2.2", "contact_rules_spec.lua", "a contact that cannot be removed is the parent, "
        .. "though the brief names it as a collaborator" },
      { "2.3", "contacts_spec.lua", "contacts start with user and root knowing each other, and "
        .. "nobody else" },
      { "2.4", "contacts_spec.lua", "contacts start with user and root knowing each other, and "
        .. "nobody else" },
      { "2.6", "contacts_spec.lua", "the contacts policy strict refuses a stranger, with a "
        .. "hint, and nothing changes" },
      { "2.6", "contact_rules_spec.lua", "a refusal for a stranger says how to be introduced, "
        .. "and how to let strangers in" },
      { "2.7", "contacts_spec.lua", "contacts have id, role, source and time" },
    },
  },
  {
    file = "acceptance_talk_spec.lua", title = "Requirement 3, introductions:",
    criteria = {
      "an agent asks its parent, or any other contact, for an introduction",
      "a request has reason and required_capability",
      "the agent asked looks for a match among its contacts",
      "if it knows a match it answers with its id and Interface Spec",
      "if it knows none it may ask others: its parent, its children",
      "it passes on what it learns to the original requester",
      "the target is among the requester's contacts before the response is read",
      "a response has the target's id, role, Interface Spec and a usage hint",
    },
    further = {
      { "3.1", "introductions_spec.lua", "an introduction comes from a parent who knows a "
        .. "match" },
      { "3.1", "introduction_user_spec.lua", "an introduction asked of the user is made by the "
        .. "choice, across a restart" },
      { "3.5", "introduction_ends_spec.lua", "a request that two agents pass to each other ends "
        .. "by a hop limit, with a refusal that names who was asked" },
      { "3.4", "contact_rules_spec.lua", "an introduction brings its usage_hint: with the contact, "
        .. "in the contacts and in the context" },
      { "3.3", "introductions_spec.lua", "an introduction is refused with a reason if nobody "
        .. "matches" },
      { "3.5", "introductions_spec.lua", "an introduction ends in a cycle of agents that know "
        .. "only each other" },
      { "3.6", "introductions_spec.lua", "an introduction is asked onward through two agents, "
        .. "and everybody on the way gains a contact" },
      { "3.7", "introduction_ends_spec.lua", "somebody who ends in the same turn cannot be "
        .. "introduced" },
      { "3.7", "introduction_rules_spec.lua", "an unsolicited response is refused and changes "
        .. "nothing" },
    },
  },
  {
    file = "acceptance_people_spec.lua", title = "Requirement 4, the Interface Spec:",
    criteria = {
      "create_role accepts an optional interface_spec",
      "it has services, input_format, output_format and examples",
      "an introduction includes the target's Interface Spec",
      "an agent is shown the formats of whom it writes to, and told to follow them",
    },
    further = {
      { "4.1", "roles_spec.lua", "society.role raises on a bad interface_spec" },
      { "4.2", "roles_spec.lua", "create_role inside a turn refuses a bad interface_spec" },
      { "4.3", "introductions_spec.lua", "an introduction comes from a parent who knows a "
        .. "match" },
    },
  },
  {
    file = "acceptance_talk_spec.lua", title = "Requirement 5, writing to agents one has met:",
    criteria = {
      "an agent that was introduced may write first",
      "the first message adds the sender to the receiver's contacts",
      "it introduces the sender: role, duty, reason",
      "the receiver may reply or just do what is asked",
      "a message has its sender's id in from",
      "a message to that from reaches the sender",
      "a receiver that keeps no contact can still reply",
    },
    further = {
      { "5.1", "introductions_spec.lua", "an introduction lets the requester write, which "
        .. "makes the two mutual contacts" },
      { "5.3", "task_authority_spec.lua", "a self_introduction names the sender's own role, in "
        .. "any message" },
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
      "every agent is told about the Contact Registry and introductions",
      "agents that can spawn are told to give a complete Task Brief",
      "the prompt explains how to request an introduction and how to answer",
      "the prompt stresses that technical constraints are passed on",
    },
    further = {
      { "6.1", "prompt_texts_spec.lua", "the prompts name the required fields and say that "
        .. "constraints are passed on in full" },
      { "6.2", "prompt_texts_spec.lua", "the prompts say how to meet others, how to be met and "
        .. "how to write to them" },
      { "6.2", "prompt_contacts_spec.lua", "the context of an agent says that strangers are "
        .. "refused only where they are" },
      { "6.4", "llm_verbs_spec.lua", "the verbs of a model are described in the prompt where "
        .. "the app has chosen them" },
      { "6.4", "prompt_texts_spec.lua", "the prompts have an example of every tool and every "
        .. "message type" },
    },
  },
  {
    file = "acceptance_people_spec.lua", title = "Requirement 7, collaborators:",
    criteria = {
      "a brief accepts a list of collaborators",
      "they are the child's contacts from the start",
      "each has agentId, role and description, and may have an interfaceSpec",
      "the child writes to them without an introduction",
      "a role's prompt may say whom to ask, by id; the agent reads it unchanged",
      "such guidance may come with create_role as rolePrompt, and adds no contact",
    },
    further = {
      { "7.2", "contacts_spec.lua", "collaborators survive a crash unchanged" },
      { "7.3", "contacts_spec.lua", "collaborators get a missing interfaceSpec from their role" },
    },
  },
  {
    file = "acceptance_messages_spec.lua", title = "Requirement 8, message types:",
    criteria = {
      "a payload may name one of six types in message_type",
      "a task_assignment has a Task Brief",
      "an introduction_request has reason and required_capability",
      "an introduction_response names the target, with an Interface Spec",
      "a message that does not fit its type, or has an unknown type, is refused",
    },
    further = {
      { "8.1", "envelope_spec.lua", "an envelope with fields in its payload accepts "
        .. "message_type as the type" },
      { "8.5", "vocabulary_property_spec.lua", "a generated message passes if it is valid, "
        .. "otherwise the error names the field and nothing changes" },
    },
  },
  {
    file = "acceptance_messages_spec.lua", title = "Requirement 9, the sender of a message:",
    criteria = {
      "the host sets from",
      "a message is presented with its source",
      "the sender's id, its role if known, and the content are shown",
      "send_message with the sender's id as to writes to the sender",
      "nobody has to give from, and giving one has no effect",
    },
    further = {
      { "9.4", "llm_reply_verbs_spec.lua", "the verbs by which a model answers can reply in a "
        .. "later activation by the id that was shown, after a crash as well" },
      { "9.5", "send_spec.lua", "send_message ignores a from set by the caller" },
    },
  },
  {
    file = "acceptance_messages_spec.lua", title = "Requirement 10, the presentation of a "
      .. "message:",
    criteria = {
      "a delivered message has a form of its own",
      "it has a source line, the content, and a hint how to reply",
      "the source line is 【来自 role（id）的消息】",
      "the user's source line is 【来自用户的消息】",
      "the hint is 如需回复，请使用 send_message(to='id', ...)",
      "an agent gets its messages in this form, however they reach it",
    },
    further = {
      { "10.2", "presentation_spec.lua", "fields beside the content are shown whatever the type "
        .. "is" },
      { "10.2", "presentation_spec.lua", "a message of the system has its own header and no "
        .. "hint to answer it" },
      { "10.6", "envelope_spec.lua", "message.text is set on replies and received messages as "
        .. "well" },
    },
  },
}

return M

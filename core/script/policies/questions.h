/* Questions: what policies are asked, kind by kind.
 *
 * A policy of a kind has a function for each of the kind's questions. One that
 * leaves an optional one out, fails, or answers nonsense is helped out by the
 * kind's usual policy, the one that is in force at first.
 * Layer: script. Thread: any. */
#ifndef SOC_SCRIPT_POLICIES_QUESTIONS_H
#define SOC_SCRIPT_POLICIES_QUESTIONS_H

/*  K(tag, folder, the usual one): every kind whose policies answer questions.
 *  `messages` stands apart: several vocabularies are in force at once
 *  (script/policies/messages.h). */
#define SOC_POLICY_MAP(K)                                                                          \
    K(CONTACTS, "contacts", "strict")                                                              \
    K(BRIEFS, "briefs", "strict")                                                                  \
    K(CONTEXT, "context", "recent")                                                                \
    K(DEADLOCK, "deadlock", "earliest")                                                            \
    K(INTRODUCTIONS, "introductions", "capability")                                                \
    K(PRESENTATION, "presentation", "zh")                                                          \
    K(SUPERVISION, "supervision", "backoff")                                                       \
    K(PROMPTS, "prompts", "zh")                                                                    \
    K(GATEKEEPER, "gatekeeper", "root")                                                            \
    K(TASKS, "tasks", "default")                                                                   \
    K(DELIVERY, "delivery", "default")

/* The kinds of policies. */
enum soc_policy_kind {
#define K(tag, folder, usual) SOC_POLICY_##tag,
    SOC_POLICY_MAP(K) SOC_POLICY_COUNT
#undef K
};

/*  Q(tag, kind, function, is required, what a sensible first result is) */
#define SOC_QUESTION_MAP(Q)                                                                        \
    Q(MAY_SEND, CONTACTS, "may_send", true, SOC_ANSWER_BOOLEAN)                                    \
    Q(MAY_BROADCAST, CONTACTS, "may_broadcast", false, SOC_ANSWER_BOOLEAN)                         \
    Q(CHECK_BRIEF, BRIEFS, "check", true, SOC_ANSWER_VERDICT)                                      \
    Q(KEEP, CONTEXT, "keep", true, SOC_ANSWER_TABLE)                                               \
    Q(VICTIM, DEADLOCK, "victim", true, SOC_ANSWER_TEXT)                                           \
    Q(INTRODUCE, INTRODUCTIONS, "answer", true, SOC_ANSWER_TABLE)                                  \
    Q(UNSOLICITED, INTRODUCTIONS, "takes_unsolicited", false, SOC_ANSWER_BOOLEAN)                  \
    Q(SHOW_MESSAGE, PRESENTATION, "message", true, SOC_ANSWER_TEXT)                                \
    Q(SHOW_BRIEF, PRESENTATION, "brief", false, SOC_ANSWER_TEXT)                                   \
    Q(SHOW_CONTACTS, PRESENTATION, "contacts", false, SOC_ANSWER_TEXT)                             \
    Q(RETRY_AFTER, SUPERVISION, "retry_after", true, SOC_ANSWER_DELAY)                             \
    Q(SYSTEM, PROMPTS, "system", true, SOC_ANSWER_TEXT)                                            \
    Q(CHILDREN, SUPERVISION, "children", false, SOC_ANSWER_FATE)                                   \
    Q(IS_FAILED, SUPERVISION, "is_failed", false, SOC_ANSWER_BOOLEAN)                              \
    Q(ROUTE, GATEKEEPER, "route", true, SOC_ANSWER_TABLE)                                          \
    Q(RETRY_TASK, TASKS, "retry_after", true, SOC_ANSWER_DELAY)                                    \
    Q(TASK_LIMIT, TASKS, "limit", false, SOC_ANSWER_DELAY)                                         \
    Q(RUNG, DELIVERY, "rung", true, SOC_ANSWER_RUNG)

/* The questions, of all kinds. */
enum soc_question {
#define Q(tag, kind, function, is_required, answer) SOC_ASK_##tag,
    SOC_QUESTION_MAP(Q) SOC_QUESTION_COUNT
#undef Q
};

/* What counts as an answer; anything else is nonsense. */
enum soc_answer_kind {
    SOC_ANSWER_BOOLEAN,
    SOC_ANSWER_VERDICT, /* true, false, or a table to be used instead */
    SOC_ANSWER_TEXT,
    SOC_ANSWER_DELAY, /* ms from 0 to 10^14, or nil */
    SOC_ANSWER_TABLE,
    SOC_ANSWER_RUNG, /* nil, or a table { at_ms, action } */
    SOC_ANSWER_FATE, /* "end" or "adopt" */
};

#endif

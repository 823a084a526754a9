/* Kinds: the kinds of policies and their questions.
 *
 * A policy has a function for each question of its kind. If it leaves out an optional
 * one, fails, or returns a value of the wrong form, the kind's default policy answers:
 * the shipped one that is active unless an app chooses another.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_KINDS_H
#define SOC_SCRIPT_POLICIES_KINDS_H

#include <stdbool.h>

#include <lua.h>

#include "base/buf.h"

/*  K(tag, folder, default policy): every kind whose policies answer questions. */
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
    K(DELIVERY, "delivery", "default")                                                             \
    K(HOSTS, "hosts", "local")

/* The kinds of policies. */
enum soc_policy_kind {
#define K(tag, folder, fallback) SOC_POLICY_##tag,
    SOC_POLICY_MAP(K) SOC_POLICY_COUNT
#undef K
};

/* Vocabularies are a kind apart, because several are active at once
 * (script/policies/messages.h). */
#define SOC_MESSAGES "messages"

/*  Q(tag, kind, function, is required, form of its first result) */
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
    Q(RUNG, DELIVERY, "rung", true, SOC_ANSWER_RUNG)                                               \
    Q(PLACE, HOSTS, "place", true, SOC_ANSWER_NAME)                                                \
    Q(ACCEPT, HOSTS, "accept", false, SOC_ANSWER_BOOLEAN)

/* The questions of all kinds. */
enum soc_policy_question {
#define Q(tag, kind, function, is_required, answer) SOC_ASK_##tag,
    SOC_QUESTION_MAP(Q) SOC_QUESTION_COUNT
#undef Q
};

/* The form of an answer; anything else is a failure. */
enum soc_answer_form {
    SOC_ANSWER_BOOLEAN,
    SOC_ANSWER_VERDICT, /* true, false, or a table to use instead */
    SOC_ANSWER_TEXT,
    SOC_ANSWER_NAME,  /* a text, or nil */
    SOC_ANSWER_DELAY, /* ms from 0 to 10^14, or nil */
    SOC_ANSWER_TABLE,
    SOC_ANSWER_RUNG, /* nil, or a table { at_ms, action } */
    SOC_ANSWER_FATE, /* "end" or "adopt" */
};

/* What a policy of some kind must look like. */
struct soc_policy_shape {
    const char *kind;
    const char *name; /* of the policy itself, for messages */
    struct {
        const char *name; /* terminated by NULL */
        bool is_required;
    } functions[8];
    const char *path;          /* of its file; NULL: made by the app */
    const char *const *fields; /* other fields its table may have, NULL-terminated; NULL: none */
    bool has_own_examples;     /* of another form, run by vocabulary.c */
};

/* Lends the name of kind `number`, from 0, with SOC_MESSAGES last; NULL after it. */
const char *soc_kind_name(int number);

/* Returns the number of a kind that answers questions; -1 for any other name. */
int soc_kind_find(const char *kind);

/* Lends the name of the kind's default policy. */
const char *soc_kind_fallback(enum soc_policy_kind kind);

/* Return the kind that answers the question, and lend the name of its function. */
enum soc_policy_kind soc_kind_of(enum soc_policy_question question);
const char *soc_kind_function(enum soc_policy_question question);

/* Finds the question that policies of that kind answer with that function. */
bool soc_kind_find_question(const char *kind, const char *function,
                            enum soc_policy_question *question);

/* Returns true if the value at `index` is a valid form of answer to the question. */
bool soc_kind_is_answer(lua_State *L, int index, enum soc_policy_question question);

/* Describes what a policy of that kind must look like; false if there is no such kind. */
bool soc_kind_shape(const char *kind, const char *name, const char *path,
                    struct soc_policy_shape *shape);

/* Appends that the kind does not exist, a suggestion, and the list of kinds. */
void soc_kind_put_unknown(struct soc_buf *out, const char *kind);

/* Replaces the function at `index` with a policy of that kind whose first question it
 * answers. The settings at `settings_index` (0: none) become its defaults. */
void soc_kind_wrap(lua_State *L, const char *kind, int index, int settings_index);

#endif

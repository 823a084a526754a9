/* Kinds: the kinds of policies there are, and what each is asked.
 *
 * A policy of a kind has a function for each of the kind's questions. Where it leaves an
 * optional one out, fails, or gives an answer of the wrong form, the kind's default
 * policy answers instead: the shipped one that is in force unless an app chooses another.
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
    K(DELIVERY, "delivery", "default")

/* The kinds of policies. */
enum soc_policy_kind {
#define K(tag, folder, fallback) SOC_POLICY_##tag,
    SOC_POLICY_MAP(K) SOC_POLICY_COUNT
#undef K
};

/* The kind of vocabularies stands apart, because several of them are in force at once
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
    Q(RUNG, DELIVERY, "rung", true, SOC_ANSWER_RUNG)

/* The questions of all kinds. */
enum soc_policy_question {
#define Q(tag, kind, function, is_required, answer) SOC_ASK_##tag,
    SOC_QUESTION_MAP(Q) SOC_QUESTION_COUNT
#undef Q
};

/* The form of an answer; anything else counts as a failure. */
enum soc_answer_form {
    SOC_ANSWER_BOOLEAN,
    SOC_ANSWER_VERDICT, /* true, false, or a table to be used instead */
    SOC_ANSWER_TEXT,
    SOC_ANSWER_DELAY, /* ms from 0 to 10^14, or nil */
    SOC_ANSWER_TABLE,
    SOC_ANSWER_RUNG, /* nil, or a table { at_ms, action } */
    SOC_ANSWER_FATE, /* "end" or "adopt" */
};

/* What a policy of some kind must look like. */
struct soc_policy_shape {
    const char *kind;
    const char *name; /* of this one, for messages */
    struct {
        const char *name; /* NULL ends the list */
        bool is_required;
    } functions[8];
    const char *path;          /* of its file; NULL: the app made it */
    const char *const *fields; /* what its table may hold besides, then NULL; NULL: nothing */
    bool has_own_examples;     /* of another form, which vocabulary.c runs */
};

/* Returns the name of kind `number`, from 0, SOC_MESSAGES last; NULL behind it. */
const char *soc_kind_name(int number);

/* Returns the number of a kind that answers questions; -1 if it is none. */
int soc_kind_find(const char *kind);

/* Returns the name of the kind's default policy. */
const char *soc_kind_fallback(enum soc_policy_kind kind);

/* Returns which kind is asked that question, and by which function. */
enum soc_policy_kind soc_kind_of(enum soc_policy_question question);
const char *soc_kind_function(enum soc_policy_question question);

/* Finds the question that policies of that kind answer by that function. */
bool soc_kind_find_question(const char *kind, const char *function,
                            enum soc_policy_question *question);

/* Tells whether the value at `index` has the form of an answer to the question. */
bool soc_kind_is_answer(lua_State *L, int index, enum soc_policy_question question);

/* Says what a policy of that kind must look like; false if there is no such kind. */
bool soc_kind_shape(const char *kind, const char *name, const char *path,
                    struct soc_policy_shape *shape);

/* Appends that there is no such kind, which one was probably meant, and which there are. */
void soc_kind_put_unknown(struct soc_buf *out, const char *kind);

/* Replaces the function at `index` by a policy of that kind whose first question it
 * answers. The settings at `settings_index` (0: none) become its defaults. */
void soc_kind_wrap(lua_State *L, const char *kind, int index, int settings_index);

#endif

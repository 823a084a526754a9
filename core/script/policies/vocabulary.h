/* Vocabulary: the message types one policy of the kind `messages` knows.
 *
 * A vocabulary is read from its table once. What its types say as data becomes
 * shapes, checked without Lua; a `check` function says what data cannot.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_VOCABULARY_H
#define SOC_SCRIPT_POLICIES_VOCABULARY_H

#include "base/map.h"
#include "model/shape.h"
#include "script/policies/kinds.h"
#include "script/policies/policy.h"
#include "script/turns/box.h"

/* What a vocabulary says of one type. */
struct soc_message_type {
    struct soc_vocabulary *vocabulary; /* lent */
    char *name;                        /* owned */
    struct soc_shape *shape;           /* of the payload, owned; NULL: any */
    struct soc_shape *shape_in_task;   /* if the envelope has the task_id; NULL: `shape` */
    int check_ref;                     /* its function, or LUA_NOREF */
    bool wants_ack;                    /* by its own word */
    bool requires_ack;                 /* by its word and the settings */
    bool is_hosts;                     /* nobody but the host sends it */
};

/* Types of messages, and what each must hold. */
struct soc_vocabulary {
    struct soc_policy policy;           /* who it is, its settings */
    struct soc_vocabulary_shelf *shelf; /* where it waits for the next society; NULL: nowhere */
    struct soc_map types;               /* name -> soc_message_type, owned */
    struct soc_message_type *rest; /* of every type it does not name; NULL: it knows no other */
    bool is_lax;                   /* mode "warn": what does not fit is sent all the same */
    bool is_new;                   /* it was put in force last */
};

/* Pushes a vocabulary made of the table at `index`, checked and its examples run;
 * the settings are at `settings_index`, nil: none. Raises a sentence if it is none.
 * What is pushed owns it until soc_vocabulary_take. */
struct soc_vocabulary *soc_vocabulary_push(lua_State *L, struct soc_script *script, int index,
                                           const struct soc_policy_source *source,
                                           int settings_index);

/* Takes the vocabulary pushed to `index`; release with soc_vocabulary_free(). */
struct soc_vocabulary *soc_vocabulary_take(lua_State *L, int index);

/* Gives back one that is not in force any more. That of a shipped policy with the
 * settings it comes with is kept for the next society of the Lua state, since it would
 * read the same table to the same end; any other is freed. Needs no memory. */
void soc_vocabulary_give(lua_State *L, struct soc_vocabulary *vocabulary);

/* Frees it. NULL is allowed. */
void soc_vocabulary_free(lua_State *L, struct soc_vocabulary *vocabulary);

/* Tells whether the message fits the type, and why not in `report`, empty at first.
 * A check that fails is reported once and what the type says as data holds alone.
 * A check costs some of the steps of the turn under way. */
bool soc_vocabulary_fits(lua_State *L, struct soc_script *script,
                         const struct soc_message_type *type, const struct soc_candidate *candidate,
                         struct soc_shape_report *report);

#endif

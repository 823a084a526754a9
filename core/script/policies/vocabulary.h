/* Vocabulary: the message types that one policy of the kind `messages` defines.
 *
 * It is read from its table once. Declarative parts become shapes, which are checked
 * without Lua; a `check` function covers the rest.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_VOCABULARY_H
#define SOC_SCRIPT_POLICIES_VOCABULARY_H

#include "base/map.h"
#include "model/shape.h"
#include "script/policies/kinds.h"
#include "script/policies/policy.h"
#include "script/turns/box.h"

/* One message type. */
struct soc_message_type {
    struct soc_vocabulary *vocabulary; /* lent */
    char *name;                        /* owned */
    struct soc_shape *shape;           /* of the payload, owned; NULL: any */
    struct soc_shape *shape_in_task;   /* if the envelope has the task_id; NULL: `shape` */
    int check_ref;                     /* its function, or LUA_NOREF */
    bool wants_ack;                    /* as declared */
    bool requires_ack;                 /* as declared, or set by the settings */
    bool is_hosts;                     /* only the host sends it */
};

/* A set of message types. */
struct soc_vocabulary {
    struct soc_policy policy;           /* its identity and settings */
    struct soc_vocabulary_shelf *shelf; /* where it waits for the next society; NULL: nowhere */
    struct soc_map types;               /* name -> soc_message_type, owned */
    struct soc_message_type *rest;      /* for every other type; NULL: they are unknown */
    bool is_lax; /* mode "warn": a message that does not fit is sent anyway */
    bool is_new; /* it was activated last */
};

/* Pushes a vocabulary made from the table at `index`, checked and with its examples
 * run; the settings are at `settings_index`, nil: none. Raises if it is invalid. The
 * pushed value owns it until soc_vocabulary_take. */
struct soc_vocabulary *soc_vocabulary_push(lua_State *L, struct soc_script *script, int index,
                                           const struct soc_policy_source *source,
                                           int settings_index);

/* Takes the vocabulary pushed to `index`. Release with soc_vocabulary_free(). */
struct soc_vocabulary *soc_vocabulary_take(lua_State *L, int index);

/* Returns one that is no longer active. That of a shipped policy with its default
 * settings is kept for the next society of the Lua state, which would build the same
 * one; any other is freed. Allocates no memory. */
void soc_vocabulary_give(lua_State *L, struct soc_vocabulary *vocabulary);

/* Frees it. NULL is allowed. */
void soc_vocabulary_free(lua_State *L, struct soc_vocabulary *vocabulary);

/* Returns true if the message fits the type; if not, `report`, initially empty, says
 * why. A check function that fails is reported once, and only the declarative part
 * counts. A check costs some of the current turn's steps. */
bool soc_vocabulary_fits(lua_State *L, struct soc_script *script,
                         const struct soc_message_type *type, const struct soc_candidate *candidate,
                         struct soc_shape_report *report);

#endif

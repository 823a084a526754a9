/* Effect: the kinds of requests a script makes to the host.
 * Layer: model. Thread: any. */
#ifndef SOC_MODEL_EFFECT_H
#define SOC_MODEL_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* X(tag, name): every kind of effect. Names are stored: never change them. */
#define SOC_EFFECT_MAP(X)                                                                          \
    X(SEND, "send")                                                                                \
    X(REPLY, "reply")                                                                              \
    X(REQUEST, "request")                                                                          \
    X(RECEIVE, "receive")                                                                          \
    X(SLEEP, "sleep")                                                                              \
    X(SPAWN, "spawn")                                                                              \
    X(CREATE_ROLE, "create_role")                                                                  \
    X(CONTACTS, "contacts")                                                                        \
    X(CONTACT, "contact")                                                                          \
    X(KNOWS, "knows")                                                                              \
    X(CAN_SEND, "can_send")                                                                        \
    X(ADD_CONTACT, "add_contact")                                                                  \
    X(REMOVE_CONTACT, "remove_contact")                                                            \
    X(NOW, "now")                                                                                  \
    X(RANDOM, "random")                                                                            \
    X(PRINT, "print")                                                                              \
    X(LOG, "log")                                                                                  \
    X(LOOK, "look")                                                                                \
    X(REQUEST_INTRODUCTION, "request_introduction")                                                \
    X(INTRODUCE, "introduce")                                                                      \
    X(DECLINE, "decline")                                                                          \
    X(TERMINATE, "terminate")                                                                      \
    X(STOP, "stop")                                                                                \
    X(ESCALATE, "escalate")                                                                        \
    X(DECIDE, "decide")                                                                            \
    X(COMPLETE, "complete")                                                                        \
    X(FAIL, "fail")                                                                                \
    X(CANCEL, "cancel")                                                                            \
    X(LOAD, "load")                                                                                \
    X(BROADCAST, "broadcast")                                                                      \
    X(CHECKPOINT, "checkpoint")                                                                    \
    X(PAUSE, "pause")                                                                              \
    X(RESUME, "resume")                                                                            \
    X(HTTP, "http")                                                                                \
    X(CHAT, "chat")                                                                                \
    X(REMEMBER, "remember")                                                                        \
    X(RECALL, "recall")                                                                            \
    X(USAGE, "usage")                                                                              \
    X(CHOOSE, "choose")                                                                            \
    X(RESOLVE, "resolve")                                                                          \
    X(MILESTONE, "milestone")                                                                      \
    X(REDELIVER, "redeliver")                                                                      \
    X(DROP, "drop")                                                                                \
    X(RUN_LUA, "run_lua")                                                                          \
    X(VERSION, "version")

/* The kinds of effects. */
enum soc_effect_kind {
#define X(tag, name) SOC_EFFECT_##tag,
    SOC_EFFECT_MAP(X) SOC_EFFECT_COUNT
#undef X
};

/* Hash of the arguments of an effect, by which a replay recognizes it. */
struct soc_effect_hash {
    uint64_t now;   /* without `timeout_ms`, so that a changed script may wait longer */
    uint64_t older; /* as older versions recorded it, with `timeout_ms`; else equal to `now` */
};

/* Lends the name of an effect. */
const char *soc_effect_name(enum soc_effect_kind kind);

/* Tells whether effects of that kind are asides: a script that runs again may leave some out
 * or have others (activation.h). */
bool soc_effect_is_aside(enum soc_effect_kind kind);

/* Parses the name of an effect; false if it is unknown. */
bool soc_effect_parse(struct soc_slice name, enum soc_effect_kind *kind);

#endif

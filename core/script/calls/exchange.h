/* Exchange: one request to the world beyond and what comes back, for a call.
 *
 * Run for real it is a transfer of net/http.h. In a simulation there is no network: a
 * Lua function stands for the world (society.new{ http = … }, society.config{ http = … }),
 * is handed the request and says what comes back, when, and in which pieces.
 *
 * A secret is named, never passed: its value is added here and goes to the transfer alone.
 * It is added only if keys.h lets it go to the URL of the request; otherwise the request
 * does not leave and ends with `no_secret`.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_EXCHANGE_H
#define SOC_SCRIPT_CALLS_EXCHANGE_H

#include "parts/models/calls.h"
#include "script/calls/keys.h"
#include "script/turns/box.h"

struct soc_exchange;
struct soc_loop;

/* Prepares the script, and releases what that took. `loop` is lent; NULL: simulated. Every
 * exchange has ended before. */
void soc_exchange_open(struct soc_script *script, struct soc_loop *loop);
void soc_exchange_fini(struct soc_script *script);

/* Makes the function at `index` the world of a simulation. */
void soc_exchange_set_world(lua_State *L, struct soc_script *script, int index);

/* What a server is asked. */
struct soc_exchange_request {
    struct soc_slice json; /* { method?, url, headers?, body? }, checked */
    struct soc_slice id;   /* sent as Idempotency-Key; absent: not */
    enum soc_keys_use use;
    const char *secret_env; /* a variable of the environment; NULL: no secret */
    const char *secret_header;
    const char *secret_prefix;
    int64_t connect_ms; /* these as in net/http.h */
    int64_t first_byte_ms;
    int64_t idle_ms;
    int64_t total_ms;
    size_t body_bytes_max;
};

/* What an exchange tells; after `end` it is gone. In `head` and `body` it must not be
 * cancelled. */
struct soc_exchange_events {
    void (*head)(void *user, int status, struct soc_slice headers); /* a JSON object */
    void (*body)(void *user, struct soc_slice bytes);
    /* `error` NULL: the answer is whole. */
    void (*end)(void *user, const char *error, const char *message);
    void *user;
};

/* Begins it for `call`, whose timer it may use until it ends. */
struct soc_exchange *soc_exchange_start(struct soc_script *script, struct soc_outcall *call,
                                        const struct soc_exchange_request *request,
                                        const struct soc_exchange_events *events);

/* The call's time has come. */
void soc_exchange_due(struct soc_exchange *exchange);

/* Ends it; nothing more is told. */
void soc_exchange_cancel(struct soc_exchange *exchange);

#endif

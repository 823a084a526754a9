/* Exchange: one HTTP request of a call, and its response.
 *
 * In production it is a transfer of net/http.h. In a simulation there is no network: a
 * Lua function (society.new{ http = … }, society.config{ http = … }) gets the request
 * and returns the response, its delay and its pieces.
 *
 * A secret is passed by name. Its value is added here and goes to the transfer only,
 * and only if keys.h allows it for the URL of the request. Otherwise nothing is sent
 * and the exchange ends with `no_secret`.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_EXCHANGE_H
#define SOC_SCRIPT_CALLS_EXCHANGE_H

#include "parts/models/calls.h"
#include "script/calls/keys.h"
#include "script/turns/box.h"

struct soc_exchange;
struct soc_loop;

/* Prepare the script, and release it. `loop` is lent; NULL: simulated. All exchanges
 * must have ended. */
void soc_exchange_open(struct soc_script *script, struct soc_loop *loop);
void soc_exchange_fini(struct soc_script *script);

/* Sets the function at `index` as the network of a simulation. */
void soc_exchange_set_world(lua_State *L, struct soc_script *script, int index);

/* A request. */
struct soc_exchange_request {
    struct soc_slice json; /* { method?, url, headers?, body? }, checked */
    struct soc_slice id;   /* sent as Idempotency-Key; absent: not sent */
    enum soc_keys_use use;
    const char *secret_env; /* an environment variable; NULL: no secret */
    const char *secret_header;
    const char *secret_prefix;
    int64_t connect_ms; /* as in net/http.h */
    int64_t first_byte_ms;
    int64_t idle_ms;
    int64_t total_ms;
    size_t body_bytes_max;
};

/* Events of an exchange, which is gone after `end`. It must not be cancelled in `head`
 * and `body`. */
struct soc_exchange_events {
    void (*head)(void *user, int status, struct soc_slice headers); /* a JSON object */
    void (*body)(void *user, struct soc_slice bytes);
    /* `error` NULL: the response is complete. */
    void (*end)(void *user, const char *error, const char *message);
    void *user;
};

/* Starts one for `call`, whose timer it may use until it ends. */
struct soc_exchange *soc_exchange_start(struct soc_script *script, struct soc_outcall *call,
                                        const struct soc_exchange_request *request,
                                        const struct soc_exchange_events *events);

/* The timer of the call has fired. */
void soc_exchange_due(struct soc_exchange *exchange);

/* Cancels it; no more events. */
void soc_exchange_cancel(struct soc_exchange *exchange);

#endif

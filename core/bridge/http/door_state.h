/* Door state: what the files of the door share. Nobody else includes it.
 *
 * door_head.c lets a request in, door_exchange.c does what it asks for, door_answers.c
 * responds, door_opening.c has the door as a whole.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_DOOR_STATE_H
#define SOC_BRIDGE_HTTP_DOOR_STATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "bridge/http/door.h"
#include "bridge/http/entry.h"
#include "bridge/http/hosts.h"
#include "bridge/http/metrics.h"
#include "bridge/http/routes.h"
#include "bridge/http/streams.h"
#include "bridge/http/website.h"
#include "net/server.h"

/* A request that was let in, until its answer has left. */
struct soc_exchange {
    struct soc_call base; /* first: answer_call casts back */
    struct soc_exchange *previous;
    struct soc_exchange *next;
    struct soc_door *door;
    struct soc_server_request *request; /* NULL: the client has left */
    const struct soc_route *route;
    const struct soc_operation *operation; /* of the route; NULL: it has none */
    struct soc_visitor visitor;
    struct soc_stream_wish wish; /* of a stream */
    struct soc_stream *stream;   /* NULL: it is none, or not begun */
    bool is_running;             /* the operation has not answered yet */
    bool is_answered;            /* the response has not left yet */
};

/* A door. */
struct soc_door {
    struct soc_door_options options;
    struct soc_server *server;
    struct soc_entry *entry;
    struct soc_website *pages;
    struct soc_streams *streams;
    struct soc_hosts hosts;
    struct soc_metrics metrics;
    struct soc_exchange *exchanges;
    struct soc_buf url;
    struct soc_buf out; /* one answer at a time */
    int directory;
    bool is_ending;  /* the society waits for its disk, then ends */
    bool is_stopped; /* no more requests */
};

/* ---- responses ---- */

/* Counts one, for the metrics. */
void soc_door_count(struct soc_door *door, int status);

/* Responds with a body of that type; `more` is one more header, or its name is NULL. */
void soc_door_respond_as(struct soc_door *door, struct soc_server_request *request, int status,
                         const char *type, struct soc_server_header more, struct soc_slice body);

/* Responds with JSON. */
void soc_door_respond(struct soc_door *door, struct soc_server_request *request, int status,
                      struct soc_server_header more, struct soc_slice body);

/* Responds with an error object, given without its end. */
void soc_door_respond_error(struct soc_door *door, struct soc_server_request *request, int status,
                            struct soc_slice error);

/* Responds with the error of that name. */
void soc_door_refuse(struct soc_door *door, struct soc_server_request *request, int status,
                     const char *error, const char *message);

/* What the door answers by itself. */
void soc_door_respond_health(struct soc_door *door, struct soc_server_request *request);
void soc_door_respond_login(struct soc_door *door, struct soc_server_request *request);
void soc_door_respond_metrics(struct soc_door *door, struct soc_server_request *request);
void soc_door_respond_openapi(struct soc_door *door, struct soc_server_request *request);

/* Responds with a file of the page; false if the path names none. */
bool soc_door_respond_page(struct soc_door *door, struct soc_server_request *request);

/* ---- requests ---- */

/* Tells whether the request has that method. */
bool soc_door_is_method(const struct soc_server_request *request, const char *method);

/* Tells whether the method changes nothing. */
bool soc_door_is_look(const struct soc_server_request *request);

/* For the server: the head of a request is there; its body; its client has left. */
void soc_door_on_head(void *user, struct soc_server_request *request);
void soc_door_on_body(void *user, struct soc_server_request *request);
void soc_door_on_gone(void *user, struct soc_server_request *request);

/* ---- exchanges ---- */

/* Begins one with a request that was let in. It frees itself. */
void soc_exchange_new(struct soc_door *door, struct soc_server_request *request,
                      const struct soc_route *route, const struct soc_operation *operation,
                      const struct soc_visitor *visitor);

/* Tells whether there are answers that have not left. */
bool soc_exchange_has_answers(const struct soc_door *door);

/* The host is gone: those that it has not answered are refused. */
void soc_exchange_end_running(struct soc_door *door);

#endif

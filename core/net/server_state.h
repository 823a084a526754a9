/* Server state: what the files of the server share. Nobody else includes it.
 *
 * server_connection.c has the connections with their deadlines, server_request.c the way of
 * one request, server_stream.c streams and tunnels, server_daemon.c the server as a whole.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_SERVER_STATE_H
#define SOC_NET_SERVER_STATE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

#include "base/buf.h"
#include "loop/alarm.h"
#include "loop/descriptor.h"
#include "net/head.h"
#include "net/listener.h"
#include "net/server.h"

/* What a connection is doing; each has its deadline. */
enum soc_server_phase {
    SOC_SERVER_PHASE_HEAD, /* a request is arriving, or the first one is awaited */
    SOC_SERVER_PHASE_BODY,
    SOC_SERVER_PHASE_WORK, /* the answer is being made or sent: no deadline */
    SOC_SERVER_PHASE_IDLE,
};

/* A connection, from accept to close. */
struct soc_server_connection {
    struct soc_server *server;
    struct soc_server_connection *next; /* in order of age, oldest first */
    struct soc_server_connection *previous;
    struct soc_server_request *request; /* NULL: between two */
    enum soc_server_phase phase;
    int64_t since_us; /* of the phase */
    int socket;
    bool is_trusted;
    bool is_cut; /* shut down; libmicrohttpd will notice */
    char peer[INET6_ADDRSTRLEN];
};

/* How far a request has come. */
enum soc_server_stage {
    SOC_SERVER_STAGE_HEAD,
    SOC_SERVER_STAGE_BODY,
    SOC_SERVER_STAGE_WORK,      /* the body is complete; an answer is awaited */
    SOC_SERVER_STAGE_ANSWERED,  /* `response` is to be queued */
    SOC_SERVER_STAGE_QUEUED,    /* it is libmicrohttpd's now */
    SOC_SERVER_STAGE_STREAMING, /* the same, and the stream is open */
};

/* A request, from its line until its response has left. */
struct soc_server_request {
    struct soc_server_connection *connection;
    struct MHD_Connection *mhd;
    enum soc_server_stage stage;
    struct soc_buf target; /* path and query as sent; NUL-terminated */
    size_t path_length;
    const char *method; /* lent by libmicrohttpd */
    const char *uri;    /* the target where it was received, until the head is there */
    struct soc_head head;
    struct soc_buf body;
    size_t body_bytes_max;
    size_t surplus_bytes;
    void *user;
    bool is_known;  /* `head` was called, so `gone` has to be */
    bool is_inside; /* the access handler is running: it queues by itself */
    bool is_suspended;
    bool closes;
    bool is_watch_due;
    bool is_pipelined; /* the client has sent more, so it cannot be seen to leave */

    struct MHD_Response *response; /* until it is queued */
    int status;

    /* stream */
    struct soc_buf stream;
    size_t stream_sent; /* bytes of `stream` that have left */
    void (*drained)(void *user);
    void *drained_user;
    bool is_stream; /* or a tunnel; it counts as one */
    bool is_ended;

    /* tunnel */
    void (*opened)(void *user, struct soc_server_tunnel *tunnel, int socket,
                   struct soc_slice early);
    void *opened_user;

    struct soc_descriptor *watch; /* of the socket while suspended, to see a client leave */
};

/* A connection that was handed over. */
struct soc_server_tunnel {
    struct MHD_UpgradeResponseHandle *handle;
    struct soc_server_connection *connection;
};

/* A server. */
struct soc_server {
    struct soc_server_options options;
    struct MHD_Daemon *mhd;
    struct soc_listener *listener; /* NULL: stopped */
    int port;
    struct soc_descriptor *polling; /* libmicrohttpd's epoll descriptor */
    struct soc_alarm *sweeper;      /* set while there are connections */
    struct soc_alarm *timer;        /* libmicrohttpd's own time-outs */
    struct soc_server_connection *oldest;
    struct soc_server_connection *newest;
    int connection_count;
    int stream_count;
    bool is_stopping;
    bool is_closing;
    bool is_sweeping;
    int waker;
    bool is_run_due; /* run_soon was called */
};

/* ---- server_connection.c ---- */

/* Runs libmicrohttpd, now or soon: it does not notice what changes between its runs. */
void soc_server_run(struct soc_server *server);
void soc_server_run_soon(struct soc_server *server);

/* Begins a phase, with its deadline. */
void soc_server_enter_phase(struct soc_server_connection *connection, enum soc_server_phase phase);

/* Ends a connection from our side: libmicrohttpd reads its end and closes it. */
void soc_server_cut(struct soc_server_connection *connection);

/* Makes the oldest connection that is not trusted give way; false if there is none. */
bool soc_server_make_room(struct soc_server *server);

/* Compares the deadlines of all connections; `user` is the server. */
void soc_server_sweep(void *user);

/* Suspends and resumes the connection of a request. */
void soc_server_suspend(struct soc_server_request *request);
void soc_server_resume(struct soc_server_request *request);

/* Stops watching the socket of a suspended request. */
void soc_server_drop_watch(struct soc_server_request *request);

/* libmicrohttpd: a connection begins or ends. */
void soc_server_on_connection(void *user, struct MHD_Connection *mhd, void **context,
                              enum MHD_ConnectionNotificationCode code);

/* ---- server_request.c ---- */

/* The response is complete: has it queued, now or when libmicrohttpd asks again. */
void soc_server_answer(struct soc_server_request *request, int status);

/* Adds headers to a response. */
void soc_server_add_headers(struct MHD_Response *response, const struct soc_server_header *headers);

/* libmicrohttpd: the request line is there. Returns the request. */
void *soc_server_on_line(void *user, const char *uri, struct MHD_Connection *mhd);

/* libmicrohttpd: a request moves on. It is called after the head, for each piece of the
 * body, at its end, and after a resume. */
enum MHD_Result soc_server_on_access(void *user, struct MHD_Connection *mhd, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *size, void **context);

/* libmicrohttpd: a request is over, in one way or another. */
void soc_server_on_completed(void *user, struct MHD_Connection *mhd, void **context,
                             enum MHD_RequestTerminationCode code);

#endif

/* Telemetry state: private to the part `telemetry`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_TELEMETRY_TELEMETRY_STATE_H
#define SOC_PARTS_TELEMETRY_TELEMETRY_STATE_H

#include "kernel/state.h"
#include "parts/table.h"
#include "parts/telemetry/traceparent.h"

/* A tool that an activation runs, or has run in the open turn. */
struct soc_tool {
    struct soc_tool *next;
    uint64_t span_id;
    char *name;
    char *id; /* NULL: none */
    struct soc_buf arguments;
    struct soc_buf result;
    int64_t start_ms;
    int64_t end_ms;
    bool is_ended;  /* in the open turn */
    bool is_failed; /* it gave an error */
};

/* What is known of an activation besides the kernel's own. */
struct soc_scope {
    int64_t start_ms;
    int64_t wait_ms;        /* when its last wait began; 0: none */
    struct soc_tool *tools; /* newest first; owned */
    char *provider;         /* of the running model call; NULL: not noted */
    char *model;
};

/* Spans that become durable together. */
struct soc_span_batch {
    struct soc_span_batch *next;
    struct soc_buf spans; /* each with a NUL at its end */
};

/* The part's state. */
struct soc_telemetry {
    uint64_t key[2]; /* of all ids */
    bool has_key;
    bool has_content;
    struct soc_trace_sampler sampler;
    void (*cb)(void *user, struct soc_slice span); /* NULL: nobody listens */
    void *user;
    struct soc_map scopes;        /* agent -> soc_scope, owned: while it has an activation */
    struct soc_buf open;          /* spans since the last settle, each with a NUL at its end */
    struct soc_span_batch *first; /* not durable yet, oldest first; owned */
    struct soc_span_batch *last;
    char text[SOC_TRACEPARENT_BYTES]; /* of the draft at hand */
};

/* The place of an activation in its trace. */
struct soc_trace_place {
    struct soc_traceparent own; /* its span, and whether it is sampled */
    uint64_t parent_id;         /* 0: the trace begins here */
};

/* Lends the part's state; NULL: the society has no telemetry. */
static inline struct soc_telemetry *soc_telemetry_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_TELEMETRY);
}

/* Lends what is known of the agent's activation, made when first needed. */
struct soc_scope *soc_telemetry_scope(struct soc_host *host, const struct soc_agent *agent);

/* Returns the place of the activation. */
struct soc_trace_place soc_telemetry_place(const struct soc_host *host,
                                           const struct soc_activation *activation);

/* Returns the id of a span inside the span `outer`: that of effect `index`, or of the tool that
 * began there with this id. */
uint64_t soc_telemetry_effect_id(const struct soc_host *host, uint64_t outer, uint64_t index);
uint64_t soc_telemetry_tool_id(const struct soc_host *host, uint64_t outer, uint64_t index,
                               struct soc_slice id);

/* Lends the buffer for a span that ends now, NULL if it does not leave; soc_telemetry_emit
 * after it is written. */
struct soc_buf *soc_telemetry_out(const struct soc_host *host, const struct soc_trace_place *place);
void soc_telemetry_emit(const struct soc_host *host);

/* Ends a span with an error object (JSON) or, absent, without. Its message is content. */
void soc_telemetry_end(const struct soc_host *host, struct soc_buf *out, struct soc_slice error);

/* Ends the tools that are still open: their activation ends with `error`, or absent. */
void soc_telemetry_close_tools(struct soc_host *host, const struct soc_activation *activation,
                               struct soc_slice error);

/* Writes the span of a wait that ends with `answer`; absent: abandoned. */
void soc_telemetry_put_wait(struct soc_host *host, const struct soc_activation *activation,
                            struct soc_slice answer);

/* Frees a tool. */
void soc_telemetry_free_tool(struct soc_tool *tool);

#endif

/* Host parts: the steps that parts in a host world consist of.
 *
 * Each step passes the gate as a binding does and tells how it went: > 0 go on,
 * 0 the turn waits, < 0 it is broken. PASS ends the turn where it must.
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_HOST_PARTS_H
#define SOC_TESTS_HOST_PARTS_H

#include "host_world.h"

#define PASS(step)                                                                                 \
    do {                                                                                           \
        int passed = (step);                                                                       \
        if (passed <= 0)                                                                           \
            return passed == 0 ? SOC_TURN_WAITS : SOC_TURN_BROKEN;                                 \
    } while (0)

/* An effect whose answer is `live` when it is done; the answer that counts is
 * copied to `answer`. */
static inline int step_effect(struct world *world, enum soc_effect_kind kind, const char *live,
                              char answer[64], struct soc_buf *error)
{
    struct soc_slice recorded;
    int rc = soc_gate_begin(world->host, kind, 1, &recorded, error);
    if (rc == SOC_GATE_LIVE) {
        world->live++;
        recorded = soc_slice_text(live);
        soc_gate_answer(world->host, recorded);
    }
    if (rc >= 0)
        snprintf(answer, 64, "%.*s", (int)recorded.length, recorded.data);
    return rc < 0 ? rc : 1;
}

/* Sleeps for `ms`. */
static inline int step_sleep(struct world *world, int64_t ms, struct soc_buf *error)
{
    struct soc_slice answer;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_SLEEP, (uint64_t)ms, &answer, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? rc : rc == SOC_GATE_RECORDED;
    struct soc_wait wait = {
        .kind = SOC_WAIT_SLEEP,
        .deadline_ms = soc_clock_now(soc_host_clock(world->host)) + ms,
        .timeout_ms = ms,
    };
    world->live++;
    soc_gate_wait(world->host, &wait);
    return 0;
}

/* Answers an effect that was done with nothing, unless it was refused. */
static inline int end_live(struct world *world, int rc)
{
    if (rc == SOC_OK)
        soc_gate_answer(world->host, SOC_SLICE("[]"));
    return rc < 0 ? rc : 1;
}

/* Prints a line. */
static inline int step_print(struct world *world, const char *text, struct soc_buf *error)
{
    struct soc_slice answer;
    int rc = soc_gate_begin_aside(world->host, SOC_EFFECT_PRINT, 2, &answer, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? rc : 1;
    world->live++;
    soc_gate_print(world->host, soc_slice_text(text));
    return end_live(world, SOC_OK);
}

/* Sends for the running agent inside an effect that is live. */
static inline int send_live(struct world *world, const struct soc_send *send,
                            struct soc_message **message, struct soc_buf *error)
{
    world->live++;
    return soc_router_send(world->host, soc_gate_activation(world->host)->agent, send, message,
                           error);
}

/* Sends a JSON payload. */
static inline int step_send(struct world *world, const char *to, const char *payload,
                            struct soc_buf *error)
{
    struct soc_slice answer;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_SEND, 3, &answer, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? rc : 1;
    struct soc_send send = {.to = soc_slice_text(to), .payload = soc_slice_text(payload)};
    struct soc_message *message;
    rc = send_live(world, &send, &message, error);
    return end_live(world, rc);
}

/* Asks and waits; the reply, a list with its envelope, is lent in `reply`. */
static inline int step_request(struct world *world, const char *to, int64_t timeout_ms,
                               struct soc_slice *reply, struct soc_buf *error)
{
    int rc = soc_gate_begin(world->host, SOC_EFFECT_REQUEST, 4, reply, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? rc : rc == SOC_GATE_RECORDED;
    struct soc_send send = {
        .to = soc_slice_text(to), .payload = SOC_SLICE("\"?\""), .wants_reply = true};
    struct soc_message *message;
    rc = send_live(world, &send, &message, error);
    if (rc < 0)
        return rc;
    struct soc_wait wait = {
        .kind = SOC_WAIT_REPLY,
        .request_key = message->key,
        .request_ms = message->time_ms,
        .on = message->to,
        .deadline_ms = message->time_ms + timeout_ms,
        .timeout_ms = timeout_ms,
    };
    soc_gate_wait(world->host, &wait);
    return 0;
}

/* Answers the message being handled with a JSON payload. */
static inline int step_reply(struct world *world, const char *payload, struct soc_buf *error)
{
    struct soc_activation *activation = soc_gate_activation(world->host);
    struct soc_slice answer;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_REPLY, 5, &answer, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? rc : 1;
    struct soc_send send = {
        .to = soc_agent_id(activation->message->from),
        .payload = soc_slice_text(payload),
        .answers = activation->message,
    };
    struct soc_message *message;
    rc = send_live(world, &send, &message, error);
    return end_live(world, rc);
}

#endif

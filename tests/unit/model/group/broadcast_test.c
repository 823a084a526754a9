/* Broadcasts: who the readers are, and when none is left. */
#include "check.h"
#include "model/group/broadcast.h"

struct world {
    struct soc_role *role;
    struct soc_agent *ann;
    struct soc_agent *bob;
    struct soc_intern types;
};

static struct soc_broadcast *broadcast_of(struct world *w, uint64_t key)
{
    struct soc_message_draft draft = {
        .key = key,
        .time_ms = 5,
        .from = w->ann,
        .type = soc_intern(&w->types, SOC_SLICE("broadcast")),
        .priority = SOC_PRIORITY_HIGH,
        .payload = SOC_SLICE("{\"a\":1}"),
        .texts = {[SOC_TEXT_TASK_ID] = SOC_SLICE("t")},
    };
    return soc_broadcast_new(soc_message_new(&draft));
}

static void open_world(struct world *w)
{
    *w = (struct world){0};
    w->role = soc_role_new(SOC_SLICE("r"), SOC_SLICE("r"));
    w->ann = soc_agent_new(SOC_SLICE("ann"), w->role, NULL, 0);
    w->bob = soc_agent_new(SOC_SLICE("bob"), w->role, NULL, 0);
}

static void close_world(struct world *w, struct soc_broadcast *broadcast)
{
    soc_message_free(broadcast->message);
    soc_broadcast_free(broadcast);
    soc_agent_free(w->ann);
    soc_agent_free(w->bob);
    soc_role_free(w->role);
    soc_intern_fini(&w->types);
}

static void it_is_for_earlier_agents_except_its_sender(void)
{
    struct world w;
    open_world(&w);
    struct soc_broadcast *broadcast = broadcast_of(&w, 10);
    CHECK(!soc_broadcast_is_for(broadcast, w.ann));
    CHECK(soc_broadcast_is_for(broadcast, w.bob));
    w.bob->news = 9;
    CHECK(soc_broadcast_is_for(broadcast, w.bob));
    w.bob->news = 10; /* it has read it, or was spawned later */
    CHECK(!soc_broadcast_is_for(broadcast, w.bob));
    w.bob->news = 0;
    w.bob->is_ended = true;
    CHECK(!soc_broadcast_is_for(broadcast, w.bob));
    close_world(&w, broadcast);
}

static void settled_readers_are_left_out(void)
{
    struct world w;
    open_world(&w);
    struct soc_broadcast *broadcast = broadcast_of(&w, 10);
    soc_broadcast_settle(broadcast, w.bob);
    CHECK(!soc_broadcast_is_for(broadcast, w.bob));
    close_world(&w, broadcast);
}

static void the_last_reader_ends_it(void)
{
    struct world w;
    open_world(&w);
    struct soc_broadcast *broadcast = broadcast_of(&w, 10);
    broadcast->left = 2;
    CHECK(!soc_broadcast_done(broadcast));
    CHECK(soc_broadcast_done(broadcast));
    close_world(&w, broadcast);
}

static void a_copy_is_the_message_with_a_receiver(void)
{
    struct world w;
    open_world(&w);
    struct soc_broadcast *broadcast = broadcast_of(&w, 10);
    struct soc_message_draft draft = soc_broadcast_draft(broadcast, w.bob);
    struct soc_message *copy = soc_message_new(&draft);
    CHECK(copy->key == 10 && copy->time_ms == 5 && copy->from == w.ann && copy->to == w.bob);
    CHECK(copy->priority == SOC_PRIORITY_HIGH && copy->type == broadcast->message->type);
    CHECK(soc_slice_equal(soc_message_payload(copy), SOC_SLICE("{\"a\":1}")));
    CHECK(soc_slice_equal(soc_message_text(copy, SOC_TEXT_TASK_ID), SOC_SLICE("t")));
    soc_message_free(copy);
    close_world(&w, broadcast);
}

int main(void)
{
    RUN(it_is_for_earlier_agents_except_its_sender);
    RUN(settled_readers_are_left_out);
    RUN(the_last_reader_ends_it);
    RUN(a_copy_is_the_message_with_a_receiver);
    return check_done();
}

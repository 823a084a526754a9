/* The router's checks before a message is created, and their order. */
#include "kernel/mail/router.h"

#include "host_world.h"
#include "kernel/state.h"

/* Sends from a door, the host itself if `from` is NULL; returns the error's code. */
static int send_type(struct world *world, const char *from, const char *to, const char *type)
{
    struct soc_buf answer = {0};
    struct soc_send send = {
        .to = soc_slice_text(to), .type = soc_slice_text(type), .payload = SOC_SLICE("{}")};
    struct soc_agent *agent =
        from == NULL ? NULL : soc_registry_find(world->host, soc_slice_text(from));
    int rc = soc_gate_send_as(world->host, agent, &send, &answer);
    CHECK_INT(soc_json_check(soc_buf_slice(&answer), NULL), SOC_OK);
    soc_buf_fini(&answer);
    return rc;
}

static bool is_kept(const struct world *world, const char *type)
{
    return soc_intern_find(&world->host->types.table, soc_slice_text(type)) != NULL;
}

static const struct soc_message *last_to_root(const struct world *world)
{
    return world->host->registry.root->mailbox.classes[SOC_PRIORITY_NORMAL].last;
}

static void a_refused_type_is_not_interned_and_nothing_changes(void)
{
    struct world world = {0};
    world_open(&world, NULL);
    uint64_t next_key = world.host->next_key;
    size_t batch_length = world.host->batch.length;
    CHECK_INT(send_type(&world, "user", "root", "refused"), SOC_EBADMESSAGE);
    CHECK_INT(send_type(&world, "user", "root", "no/type"), SOC_EBADMESSAGE);
    CHECK(!is_kept(&world, "refused") && !is_kept(&world, "no/type"));
    CHECK_INT(world.host->next_key, next_key);
    CHECK_INT(world.host->batch.length, batch_length);
    CHECK_INT(send_type(&world, "user", "root", "taken"), SOC_OK);
    CHECK(is_kept(&world, "taken"));
    world_close(&world);
}

static void the_receiver_is_checked_first_and_contacts_last(void)
{
    struct world world = {0};
    world_open(&world, NULL);
    struct soc_host *host = world.host;
    soc_contacts_remove(&host->registry.root->contacts, host->registry.user);
    CHECK_INT(send_type(&world, "root", "nobody", "refused"), SOC_ENOAGENT);
    CHECK_INT(send_type(&world, "root", "user", "refused"), SOC_EBADMESSAGE);
    CHECK_INT(send_type(&world, "root", "user", "taken"), SOC_ENOCONTACT);
    world_close(&world);
}

static void messages_of_the_host_are_not_checked(void)
{
    struct world world = {0};
    world_open(&world, NULL);
    CHECK_INT(send_type(&world, NULL, "root", "refused"), SOC_OK);
    CHECK_TEXT(last_to_root(&world)->type->text, "refused");
    world_close(&world);
}

static void a_warning_is_recorded_and_the_message_sent(void)
{
    struct world world = {0};
    struct soc_query query = {.what = "activity", .type = SOC_SLICE("message_warning")};
    struct soc_buf rows = {0};
    world_open(&world, NULL);
    CHECK_INT(send_type(&world, "user", "root", "warned"), SOC_OK);
    CHECK_TEXT(last_to_root(&world)->type->text, "warned");
    soc_batch_seal(world.host);
    CHECK_INT(soc_lookup_run(world.store, &query, &rows, NULL), SOC_OK);
    CHECK(strstr(soc_buf_text(&rows), "\"message_id") != NULL);
    soc_buf_fini(&rows);
    world_close(&world);
}

static void a_type_requires_an_ack_unless_the_sender_says_no(void)
{
    struct world world = {0};
    struct soc_buf answer = {0};
    struct soc_send send = {
        .to = SOC_SLICE("root"), .type = SOC_SLICE("acked"), .payload = SOC_SLICE("{}")};
    world_open(&world, NULL);
    soc_gate_send_as(world.host, world.host->registry.user, &send, &answer);
    CHECK(last_to_root(&world)->flags & SOC_MESSAGE_REQUIRES_ACK);
    send.has_requires_ack = true;
    soc_gate_send_as(world.host, world.host->registry.user, &send, &answer);
    CHECK(!(last_to_root(&world)->flags & SOC_MESSAGE_REQUIRES_ACK));
    send.type = SOC_SLICE("general");
    send.requires_ack = true;
    soc_gate_send_as(world.host, world.host->registry.user, &send, &answer);
    CHECK(last_to_root(&world)->flags & SOC_MESSAGE_REQUIRES_ACK);
    soc_buf_fini(&answer);
    world_close(&world);
}

int main(void)
{
    RUN(a_refused_type_is_not_interned_and_nothing_changes);
    RUN(the_receiver_is_checked_first_and_contacts_last);
    RUN(messages_of_the_host_are_not_checked);
    RUN(a_warning_is_recorded_and_the_message_sent);
    RUN(a_type_requires_an_ack_unless_the_sender_says_no);
    return check_done();
}

/* Starting on records that no host has written. */
#include "host_world.h"

#include "kernel/recover.h"
#include "parts/table.h"

/* Commits `record` to the store of a society that has ended and returns what starting it
 * again returns. */
static int start_after(const struct soc_record *record)
{
    struct world world = {0};
    struct soc_buf batch = {0};
    world_open(&world, NULL);
    soc_batch_seal(world.host);
    soc_host_crash(world.host);
    soc_record_put(&batch, record);
    struct soc_slice bytes = soc_buf_slice(&batch);
    CHECK_INT(soc_store_commit(world.store, soc_store_sequence(world.store) + 1, &bytes, 1, NULL),
              SOC_OK);
    int rc = world_start_as(&world, "test");
    if (rc == SOC_OK) {
        world_settle(&world);
        world_close(&world);
    } else {
        soc_host_crash(world.host);
        soc_store_close(world.store);
    }
    soc_buf_fini(&batch);
    return rc;
}

/* A start on a record that names `id` where an agent belongs. */
static int start_naming(enum soc_record_type type, const char *id)
{
    struct soc_slice name = soc_slice_text(id);
    struct soc_record record = {.type = type};
    switch (type) {
#define CASE(tag, ...)                                                                             \
    case SOC_RECORD_##tag:                                                                         \
        __VA_ARGS__;                                                                               \
        break;
        CASE(AGENT, record.agent.id = name; record.agent.role = SOC_SLICE("worker"))
        CASE(AGENT_END, record.agent_end.id = name)
        CASE(AGENT_ENDING, record.agent_ending.id = name)
        CASE(AGENT_PARENT, record.agent_parent.id = SOC_SLICE("root");
             record.agent_parent.parent = name)
        CASE(STATE, record.state.agent = name; record.state.state = SOC_SLICE("{}"))
        CASE(CONTACT, record.contact.owner = SOC_SLICE("root"); record.contact.id = name)
        CASE(CONTACT_END, record.contact_end.owner = name;
             record.contact_end.id = SOC_SLICE("root"))
        CASE(TAKE, record.take.agent = name)
        CASE(ACTIVATION, record.activation.agent = name)
        CASE(EFFECT, record.effect.agent = name; record.effect.kind = SOC_SLICE("print"))
        CASE(ANSWER, record.answer.agent = name; record.answer.answer = SOC_SLICE("[]"))
        CASE(ACTIVATION_END, record.activation_end.agent = name)
        CASE(ITEM, record.item.agent = name; record.item.title = SOC_SLICE("t"))
        CASE(BROADCAST_END, record.broadcast_end.agent = name)
        CASE(BARRIER, record.barrier.owner = name)
        CASE(SEAT, record.seat.agent = name)
        CASE(STANDING, record.standing.id = name)
        CASE(MESSAGE, record.message.key = 1000; record.message.from = SOC_SLICE("user");
             record.message.to = name; record.message.type = SOC_SLICE("general");
             record.message.payload = SOC_SLICE("1"))
    default:
        CHECK(false);
#undef CASE
    }
    return start_after(&record);
}

static const enum soc_record_type naming[] = {
    SOC_RECORD_AGENT,      SOC_RECORD_AGENT_END, SOC_RECORD_AGENT_ENDING, SOC_RECORD_AGENT_PARENT,
    SOC_RECORD_STATE,      SOC_RECORD_CONTACT,   SOC_RECORD_CONTACT_END,  SOC_RECORD_TAKE,
    SOC_RECORD_ACTIVATION, SOC_RECORD_EFFECT,    SOC_RECORD_ANSWER,       SOC_RECORD_ACTIVATION_END,
    SOC_RECORD_ITEM,       SOC_RECORD_SEAT,      SOC_RECORD_BARRIER,      SOC_RECORD_BROADCAST_END,
    SOC_RECORD_STANDING,   SOC_RECORD_MESSAGE,
};

#define NAMING_COUNT (sizeof(naming) / sizeof(naming[0]))

static void a_record_that_names_system_as_an_agent_is_corrupt(void)
{
    for (size_t i = 0; i < NAMING_COUNT; i++)
        CHECK_INT(start_naming(naming[i], "system"), SOC_ECORRUPT);
}

static void a_record_with_an_impossible_id_is_corrupt(void)
{
    char id[SOC_ID_BYTES_MAX + 2];
    memset(id, 'a', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    for (size_t i = 0; i < NAMING_COUNT; i++) {
        CHECK_INT(start_naming(naming[i], id), SOC_ECORRUPT);
        CHECK_INT(start_naming(naming[i], ""), SOC_ECORRUPT);
    }
}

static void a_record_that_names_an_agent_is_read(void)
{
    CHECK_INT(start_naming(SOC_RECORD_STATE, "root"), SOC_OK);
    CHECK_INT(start_naming(SOC_RECORD_MESSAGE, "root"), SOC_OK);
    CHECK_INT(start_naming(SOC_RECORD_STANDING, "gone"), SOC_OK);
}

static void a_message_of_no_priority_is_corrupt(void)
{
    struct soc_record record = {
        .type = SOC_RECORD_MESSAGE,
        .message = {.key = 1000,
                    .from = SOC_SLICE("system"),
                    .to = SOC_SLICE("root"),
                    .type = SOC_SLICE("general"),
                    .payload = SOC_SLICE("1"),
                    .priority = SOC_PRIORITY_LOW},
    };
    CHECK_INT(start_after(&record), SOC_OK);
    record.message.priority++;
    CHECK_INT(start_after(&record), SOC_ECORRUPT);
}

static void the_error_names_the_record(void)
{
    struct world world = {0};
    struct soc_buf batch = {0};
    struct soc_buf app = {0};
    struct soc_detail detail = {0};
    struct soc_record record = {.type = SOC_RECORD_STATE, .state = {.agent = SOC_SLICE("system")}};
    world.store = soc_memory_open(NULL);
    soc_record_put(&batch, &record);
    struct soc_slice bytes = soc_buf_slice(&batch);
    CHECK_INT(soc_store_commit(world.store, 1, &bytes, 1, NULL), SOC_OK);
    struct soc_host_options options = {
        .parts = soc_part_table, .store = world.store, .seed = 1, .log = {.level = SOC_LOG_NONE}};
    world.host = soc_host_new(&options);
    CHECK_INT(soc_recover(world.host, &app, &detail), SOC_ECORRUPT);
    CHECK_TEXT(detail.text, "invalid record of type 4");
    soc_host_crash(world.host);
    soc_store_close(world.store);
    soc_buf_fini(&batch);
    soc_buf_fini(&app);
}

int main(void)
{
    RUN(a_record_that_names_system_as_an_agent_is_corrupt);
    RUN(a_record_with_an_impossible_id_is_corrupt);
    RUN(a_record_that_names_an_agent_is_read);
    RUN(a_message_of_no_priority_is_corrupt);
    RUN(the_error_names_the_record);
    return check_done();
}

/* Covers: core/parts/subjects.c, core/bridge/control/operations.c
 * Covers: core/bridge/control/address.c */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "bridge/control/address.h"
#include "bridge/control/control.h"
#include "check.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "parts/subjects.h"
#include "parts/table.h"
#include "store/lookup.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

#define STEPS_MAX 2000 /* of waiting for an answer, each a few ms at most */

/* A society without Lua: root echoes what it is sent, unless that says "silent". */
struct world {
    struct soc_store *store;
    struct soc_loop *loop;
    struct soc_host *host;
    struct soc_control *control;
    char directory[64];
    int stops; /* how often a client said stop */
};

static enum soc_turn_end run_root(void *user, struct soc_activation *activation,
                                  struct soc_buf *error)
{
    struct world *world = user;
    const struct soc_message *message = activation->message;
    struct soc_slice answer;
    struct soc_message *sent;
    if (soc_gate_begin(world->host, SOC_EFFECT_REPLY, 1, &answer, error) != SOC_GATE_LIVE)
        return SOC_TURN_BROKEN;
    struct soc_slice payload = soc_message_payload(message);
    struct soc_send send = {
        .to = soc_agent_id(message->from), .payload = payload, .answers = message};
    if (!soc_slice_equal(payload, SOC_SLICE("{\"text\":\"silent\"}")))
        soc_router_send(world->host, activation->agent, &send, &sent, error);
    soc_gate_answer(world->host, SOC_SLICE("[]"));
    return SOC_TURN_DONE;
}

static void drop(void *user, struct soc_activation *activation)
{
    (void)user, (void)activation;
}

static int check_message(void *user, const struct soc_candidate *candidate, bool *requires_ack,
                         struct soc_buf *error)
{
    (void)user, (void)candidate, (void)requires_ack, (void)error;
    return SOC_OK;
}

static bool may_send(void *user, struct soc_agent *from, struct soc_agent *to,
                     const struct soc_contact *contact, struct soc_buf *refusal)
{
    (void)user, (void)from, (void)to, (void)contact, (void)refusal;
    return true;
}

static void forget(void *user, struct soc_message *message)
{
    (void)user, (void)message;
}

static bool is_adopted(void *user, struct soc_agent *agent, struct soc_agent *child, bool is_forced)
{
    (void)user, (void)agent, (void)child, (void)is_forced;
    return false;
}

static int64_t retry_after(void *user, struct soc_agent *agent, uint32_t retries)
{
    (void)user, (void)agent, (void)retries;
    return -1;
}

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    (void)user, (void)stream, (void)agent, (void)text;
    return true;
}

static void failed(void *user, const struct soc_detail *detail)
{
    (void)user;
    CHECK_TEXT(detail->text, "");
}

static void note_stop(void *user)
{
    struct world *world = user;
    world->stops++;
}

static void open_world(struct world *world)
{
    struct soc_detail detail = {{0}};
    *world = (struct world){.directory = "/tmp/society_control_XXXXXX"};
    CHECK(mkdtemp(world->directory) != NULL);
    struct soc_sqlite_options store = {.directory = world->directory};
    CHECK_INT(soc_sqlite_open(&world->store, &store, &detail), SOC_OK);
    world->loop = soc_loop_new();
    struct soc_host_options options = {
        .parts = soc_part_table,
        .store = world->store,
        .loop = world->loop,
        .seed = 1,
        .log = {.level = SOC_LOG_NONE},
        .show = show,
        .failed = failed,
        .user = world,
    };
    struct soc_hooks hooks = {.user = world,
                              .run = run_root,
                              .drop = drop,
                              .may_send = may_send,
                              .forget = forget,
                              .retry_after = retry_after,
                              .is_adopted = is_adopted,
                              .check_message = check_message};
    world->host = soc_host_new(&options);
    soc_host_set_hooks(world->host, &hooks);
    soc_agents_set_runnable(world->host, soc_registry_find_role(world->host, SOC_SLICE("root")));
    CHECK_INT(soc_host_start(world->host, SOC_SLICE("test"), &detail), SOC_OK);
    struct soc_control_options control = {
        .society = {.host = world->host, .stop = note_stop, .user = world},
        .loop = world->loop,
        .directory = world->directory,
    };
    CHECK_INT(soc_control_open(&world->control, &control, &detail), SOC_OK);
}

static void close_world(struct world *world)
{
    static const char *const names[] = {"society.db", "society.db-wal", "society.db-shm",
                                        "society.db-mark", "lock"};
    char path[128];
    soc_control_stop(world->control);
    soc_host_close(world->host, 0);
    soc_control_close(world->control);
    soc_store_close(world->store);
    soc_loop_free(world->loop);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s", world->directory, names[i]);
        unlink(path);
    }
    CHECK_INT(rmdir(world->directory), 0); /* the socket is gone too */
}

static int connect_client(struct world *world)
{
    struct soc_address address;
    CHECK(soc_address_init(&address, world->directory, SOC_SOCKET_NAME));
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(client, (struct sockaddr *)&address.socket, sizeof(address.socket)), 0);
    soc_address_fini(&address);
    return client;
}

static void work(struct world *world)
{
    int64_t wait_ms = soc_host_tick(world->host);
    soc_loop_poll(world->loop, wait_ms < 0 || wait_ms > 2 ? 2 : wait_ms);
}

static void put(int client, const char *text)
{
    CHECK_INT(send(client, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Reads up to the end of a line or of the connection, working meanwhile. */
static const char *get_line(struct world *world, int client, struct soc_buf *line)
{
    char byte = 0;
    line->length = 0;
    for (int i = 0; i < STEPS_MAX && byte != '\n'; i++) {
        ssize_t count;
        while (byte != '\n' && (count = recv(client, &byte, 1, MSG_DONTWAIT)) == 1)
            soc_buf_put_byte(line, byte);
        if (byte == '\n' || count == 0)
            break;
        work(world);
    }
    if (line->length > 0 && line->data[line->length - 1] == '\n')
        line->length--;
    return soc_buf_text(line);
}

static void a_send_is_answered_with_its_id(void)
{
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    put(client,
        "{\"id\":1,\"op\":\"send\",\"to\":\"root\",\"payload\":\"hi\",\"from\":\"root\"}\n");
    get_line(&world, client, &line);
    CHECK(strstr(soc_buf_text(&line), "{\"id\":1,\"ok\":[{\"messageId\":\"msg_") == line.data);
    put(client, "{\"id\":\"b\",\"op\":\"messages\",\"limit\":5}\n");
    get_line(&world, client, &line);
    CHECK(strstr(soc_buf_text(&line), "\"from\":\"user\"") != NULL);
    CHECK(strstr(soc_buf_text(&line), "\"payload\":{\"text\":\"hi\"}") != NULL);
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void an_answered_request_is_on_disk(void)
{
    struct world world;
    struct soc_store *reader;
    struct soc_detail detail = {{0}};
    struct soc_buf line = {0};
    struct soc_buf rows = {0};
    struct soc_query query = {.what = "messages", .type = SOC_SLICE("mark")};
    open_world(&world);
    struct soc_sqlite_options options = {.directory = world.directory, .access = SOC_SQLITE_READ};
    int client = connect_client(&world);
    put(client, "{\"id\":1,\"op\":\"send\",\"to\":\"root\",\"type\":\"mark\",\"payload\":1}\n");
    get_line(&world, client, &line);
    CHECK_INT(soc_sqlite_open(&reader, &options, &detail), SOC_OK);
    CHECK_INT(soc_lookup_run(reader, &query, &rows, &detail), SOC_OK);
    CHECK(strstr(soc_buf_text(&rows), "\"type\":\"mark\"") != NULL);
    soc_store_close(reader);
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
    soc_buf_fini(&rows);
}

static void the_socket_is_private(void)
{
    struct world world;
    struct stat info;
    char path[128];
    open_world(&world);
    snprintf(path, sizeof(path), "%s/socket", world.directory);
    CHECK_INT(stat(path, &info), 0);
    CHECK_INT(info.st_mode & 0777, 0600);
    close_world(&world);
}

static void a_request_is_answered_by_the_reply(void)
{
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    put(client, "{\"id\":2,\"op\":\"request\",\"to\":\"root\",\"payload\":{\"n\":7}}\n");
    get_line(&world, client, &line);
    CHECK(strncmp(soc_buf_text(&line), "{\"id\":2,\"ok\":[{", 15) == 0);
    CHECK(strstr(soc_buf_text(&line), "\"payload\":{\"n\":7}") != NULL);
    CHECK(strstr(soc_buf_text(&line), "\"from\":\"root\"") != NULL);
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void an_unanswered_request_times_out_in_an_idle_society(void)
{
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    put(client, "{\"id\":3,\"op\":\"request\",\"to\":\"root\",\"payload\":\"silent\","
                "\"timeout_ms\":60}\n");
    get_line(&world, client, &line);
    CHECK(strstr(soc_buf_text(&line), "{\"id\":3,\"error\":\"timeout\"") == line.data);
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void every_subject_is_answered_in_an_idle_society(void)
{
    const struct soc_operation *subject;
    struct world world;
    struct soc_buf line = {0};
    char request[64];
    open_world(&world);
    int client = connect_client(&world);
    for (size_t i = 0; (subject = soc_subjects_at(i)) != NULL; i++) {
        snprintf(request, sizeof(request), "{\"id\":4,\"op\":\"%s\"}\n", subject->name);
        put(client, request);
        get_line(&world, client, &line);
        CHECK(strncmp(soc_buf_text(&line), "{\"id\":4,\"ok\":[", 14) == 0);
        CHECK_INT(soc_json_check(soc_buf_slice(&line), NULL), SOC_OK);
    }
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void a_filter_that_does_not_apply_is_refused_by_name(void)
{
    /* In the order of enum soc_filter. */
    static const char *const values[] = {"\"root\"", "\"t\"", "\"x\"",    "\"c\"",    "1",
                                         "2",        "3",     "\"root\"", "\"root\"", "\"expired\"",
                                         "\"all\"",  "4",     "5",        "6"};
    const struct soc_operation *subject;
    struct world world;
    struct soc_buf line = {0};
    char request[128];
    char refusal[128];
    open_world(&world);
    int client = connect_client(&world);
    for (size_t i = 0; (subject = soc_subjects_at(i)) != NULL; i++) {
        for (int filter = 0; filter < SOC_FILTER_COUNT; filter++) {
            bool applies = (subject->takes & 1u << filter) != 0;
            snprintf(request, sizeof(request), "{\"id\":4,\"op\":\"%s\",\"%s\":%s}\n",
                     subject->name, soc_view_filters[filter].name, values[filter]);
            snprintf(refusal, sizeof(refusal), "\"member\":\"%s\"", soc_view_filters[filter].name);
            put(client, request);
            get_line(&world, client, &line);
            CHECK((strstr(soc_buf_text(&line), "\"ok\":[") != NULL) == applies);
            CHECK((strstr(soc_buf_text(&line), refusal) != NULL) == !applies);
        }
    }
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void an_error_is_reported_and_the_connection_stays(void)
{
    static const struct {
        const char *request;
        const char *answer;
    } cases[] = {
        {"{\"id\":1,\"op\":\n", "{\"id\":null,\"error\":\"invalid_json\""},
        {"[1]\n", "{\"id\":null,\"error\":\"invalid_json\""},
        {"{\"id\":{},\"op\":\"send\"}\n", "{\"id\":null,\"error\":\"missing_payload\""},
        {"{\"id\":1,\"op\":\"inbox\"}\n", "{\"id\":1,\"ok\":[]}"},
        {"{\"id\":1,\"op\":\"inbox\",\"since\":\"soon\"}\n",
         "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"decide\",\"decision\":\"approve\"}\n",
         "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"decide\",\"item_id\":\"x\",\"decision\":\"approve\"}\n",
         "{\"id\":1,\"error\":\"item_not_found\""},
        {"{\"id\":1}\n", "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"fly\"}\n", "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"send\",\"to\":\"root\"}\n", "{\"id\":1,\"error\":\"missing_payload\""},
        {"{\"id\":1,\"op\":\"send\",\"to\":7,\"payload\":1}\n",
         "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"send\",\"to\":\"x\",\"payload\":1}\n",
         "{\"id\":1,\"error\":\"agent_not_found\""},
        {"{\"id\":1,\"op\":\"send\",\"to\":\"root\",\"payload\":1,\"ttl_seconds\":-1}\n",
         "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"messages\",\"since\":\"soon\"}\n",
         "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"redeliver\",\"message_id\":7}\n",
         "{\"id\":1,\"error\":\"invalid_argument\""},
        {"{\"id\":1,\"op\":\"redeliver\",\"message_id\":\"x\"}\n",
         "{\"id\":1,\"error\":\"message_not_found\""},
        {"{\"id\":1,\"op\":\"drop\",\"message_id\":\"msg_20260101_000000_000000000000001\"}\n",
         "{\"id\":1,\"error\":\"message_not_found\""},
        {"{\"id\":1,\"op\":\"contacts\",\"agent\":\"nobody\"}\n",
         "{\"id\":1,\"error\":\"agent_not_found\""},
    };
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put(client, cases[i].request);
        get_line(&world, client, &line);
        line.length = line.length < strlen(cases[i].answer) ? line.length : strlen(cases[i].answer);
        CHECK_TEXT(soc_buf_text(&line), cases[i].answer);
    }
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void an_overlong_line_is_refused_and_ends_the_connection(void)
{
    struct world world;
    struct soc_buf line = {0};
    size_t size = 1u << 16;
    char *filler = malloc(size);
    memset(filler, 'x', size);
    open_world(&world);
    int client = connect_client(&world);
    for (size_t sent = 0; sent < SOC_PAYLOAD_BYTES_MAX + 2 * size;) {
        ssize_t count = send(client, filler, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno != EAGAIN)
            break;
        sent += count < 0 ? 0 : (size_t)count;
        work(&world);
    }
    CHECK(strstr(get_line(&world, client, &line), "\"error\":\"too_large\"") != NULL);
    CHECK_TEXT(get_line(&world, client, &line), "");
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
    free(filler);
}

static void a_client_that_disconnects_affects_nobody(void)
{
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    for (int i = 0; i < 20; i++) {
        int client = connect_client(&world);
        put(client, "{\"id\":1,\"op\":\"request\",\"to\":\"root\",\"payload\":\"silent\","
                    "\"timeout_ms\":30}\n"
                    "{\"id\":2,\"op\":\"send\",\"to\":\"root\",\"payload\":1}\n"
                    "{\"id\":3,\"op\":\"messages\"}\n");
        if (i % 2 == 0)
            work(&world);
        close(client);
    }
    int client = connect_client(&world);
    put(client, "{\"id\":9,\"op\":\"request\",\"to\":\"root\",\"payload\":\"silent\","
                "\"timeout_ms\":120}\n");
    CHECK(strstr(get_line(&world, client, &line), "\"error\":\"timeout\"") != NULL);
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void many_clients_get_their_own_answers(void)
{
    enum { CLIENTS = 50, EACH = 20 };
    struct world world;
    struct soc_buf line = {0};
    char request[128];
    char expected[64];
    int clients[CLIENTS];
    open_world(&world);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connect_client(&world);
    for (int k = 0; k < EACH; k++) {
        for (int i = 0; i < CLIENTS; i++) {
            snprintf(request, sizeof(request),
                     "{\"id\":%d,\"op\":\"request\",\"to\":\"root\",\"payload\":{\"n\":%d}}\n", k,
                     i * EACH + k);
            put(clients[i], request);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        for (int k = 0; k < EACH; k++) {
            get_line(&world, clients[i], &line);
            int64_t id = -1;
            soc_json_integer(soc_json_member(soc_buf_slice(&line), "id"), &id);
            snprintf(expected, sizeof(expected), "\"payload\":{\"n\":%d}", i * EACH + (int)id);
            CHECK(strstr(soc_buf_text(&line), expected) != NULL);
        }
        close(clients[i]);
    }
    close_world(&world);
    soc_buf_fini(&line);
}

static void more_requests_than_may_wait_are_all_answered(void)
{
    enum { LINES = 10000 };
    struct world world;
    struct soc_buf lines = {0};
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    for (int i = 0; i < LINES; i++)
        soc_buf_printf(&lines, "{\"id\":%d,\"op\":\"send\",\"to\":\"root\",\"payload\":{}}\n", i);
    size_t done = 0;
    int answers = 0;
    for (int i = 0; i < STEPS_MAX && answers < LINES; i++) {
        char room[65536];
        ssize_t count =
            send(client, lines.data + done, lines.length - done, MSG_DONTWAIT | MSG_NOSIGNAL);
        done += count > 0 ? (size_t)count : 0;
        work(&world);
        while ((count = recv(client, room, sizeof(room), MSG_DONTWAIT)) > 0)
            for (ssize_t k = 0; k < count; k++)
                answers += room[k] == '\n';
    }
    CHECK_INT(answers, LINES);
    close(client);
    close_world(&world);
    soc_buf_fini(&lines);
    soc_buf_fini(&line);
}

static void a_half_closed_client_still_gets_its_answers(void)
{
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    put(client, "{\"id\":1,\"op\":\"request\",\"to\":\"root\",\"payload\":{\"n\":1}}");
    shutdown(client, SHUT_WR);
    CHECK(strstr(get_line(&world, client, &line), "\"payload\":{\"n\":1}") != NULL);
    CHECK_TEXT(get_line(&world, client, &line), "");
    close(client);
    close_world(&world);
    soc_buf_fini(&line);
}

static void an_answer_is_still_sent_after_the_stop(void)
{
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    put(client, "{\"id\":1,\"op\":\"stop\"}\n{\"id\":2,\"op\":\"stats\"}\n");
    CHECK_TEXT(get_line(&world, client, &line), "{\"id\":1,\"ok\":[]}");
    CHECK_INT(world.stops, 1);
    close_world(&world); /* with the client still there */
    close(client);
    soc_buf_fini(&line);
}

/* What the writer would say. */
static void a_full_disk_is_the_answer_to_everything(void)
{
    static const char *const requests[] = {
        "{\"id\":1,\"op\":\"send\",\"to\":\"root\",\"payload\":1}\n",
        "{\"id\":1,\"op\":\"request\",\"to\":\"root\",\"payload\":1}\n",
        "{\"id\":1,\"op\":\"drop\",\"message_id\":\"msg_20260101_000000_000000000000001\"}\n",
        "{\"id\":1,\"op\":\"redeliver\",\"message_id\":\"msg_20260101_000000_000000000000001\"}\n",
        "{\"id\":1,\"op\":\"pause\",\"agent\":\"root\"}\n",
        "{\"id\":1,\"op\":\"decide\",\"item_id\":\"item_1\",\"decision\":\"approve\"}\n",
        "{\"id\":1,\"op\":\"policy\",\"kind\":\"contacts\",\"name\":\"open\"}\n",
        "{\"id\":1,\"op\":\"agents\"}\n", /* it would wait for what it has seen to be durable */
        "{\"id\":1,\"op\":\"messages\"}\n",
        "{\"id\":1,\"op\":\"stats\"}\n",
        "{\"id\":1,\"op\":\"policies\"}\n",
    };
    struct world world;
    struct soc_buf line = {0};
    open_world(&world);
    int client = connect_client(&world);
    world.host->disk.is_full = true;
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        put(client, requests[i]);
        CHECK(strstr(get_line(&world, client, &line), "\"error\":\"storage_full\"") != NULL);
    }
    world.host->disk.is_full = false;
    put(client, requests[0]);
    CHECK(strstr(get_line(&world, client, &line), "\"ok\":") != NULL);
    close(client);
    soc_buf_fini(&line);
    close_world(&world);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    RUN(a_send_is_answered_with_its_id);
    RUN(an_answered_request_is_on_disk);
    RUN(the_socket_is_private);
    RUN(a_request_is_answered_by_the_reply);
    RUN(an_unanswered_request_times_out_in_an_idle_society);
    RUN(every_subject_is_answered_in_an_idle_society);
    RUN(a_filter_that_does_not_apply_is_refused_by_name);
    RUN(an_error_is_reported_and_the_connection_stays);
    RUN(an_overlong_line_is_refused_and_ends_the_connection);
    RUN(a_client_that_disconnects_affects_nobody);
    RUN(many_clients_get_their_own_answers);
    RUN(more_requests_than_may_wait_are_all_answered);
    RUN(a_half_closed_client_still_gets_its_answers);
    RUN(an_answer_is_still_sent_after_the_stop);
    RUN(a_full_disk_is_the_answer_to_everything);
    return check_done();
}

/* The connection to Redis, with a private server on loopback.
 *
 * Covers: core/net/redis_reply.c, core/loop/resolve.c */
#include "check.h"
#include "env/clock.h"
#include "net/redis.h"
#include "redis_server.h"

#define LIMIT_US 60000000 /* for a machine that is very busy */

/* What one connection has reported. */
struct heard {
    int ups;
    int downs;
    int replies;
    int losses; /* commands without a reply */
    long long sum;
    bool is_in_order;
    char why[256];
    char text[256];
};

static void hear_up(void *user)
{
    ((struct heard *)user)->ups++;
}

static void hear_down(void *user, const char *why)
{
    struct heard *heard = user;
    heard->downs++;
    snprintf(heard->why, sizeof(heard->why), "%s", why);
}

static void hear_push(void *user, const struct soc_redis_reply *message)
{
    struct heard *heard = user;
    heard->replies++;
    struct soc_slice text = soc_redis_reply_text(soc_redis_reply_at(message, 2));
    snprintf(heard->text, sizeof(heard->text), "%.*s", (int)text.length, text.data);
}

static void hear_reply(void *user, const struct soc_redis_reply *reply)
{
    struct heard *heard = user;
    if (reply == NULL) {
        heard->losses++;
        return;
    }
    heard->replies++;
    int64_t number = soc_redis_reply_integer(reply, -1);
    heard->is_in_order = number == heard->replies;
    heard->sum += number;
    struct soc_slice text = soc_redis_reply_text(reply);
    if (text.data == NULL)
        text = soc_redis_reply_error(reply);
    snprintf(heard->text, sizeof(heard->text), "%.*s", (int)text.length,
             text.data == NULL ? "" : text.data);
}

/* Runs the loop until `*number` has reached `wanted`. */
static bool wait_for(struct soc_loop *loop, const int *number, int wanted)
{
    int64_t end_us = soc_clock_monotonic_us() + LIMIT_US;
    while (*number < wanted && soc_clock_monotonic_us() < end_us)
        soc_loop_poll(loop, 50);
    return *number >= wanted;
}

static struct soc_redis *connect_to(struct soc_loop *loop, const char *url, struct heard *heard)
{
    struct soc_redis_options options = {.url = soc_slice_text(url), .name = "test"};
    struct soc_redis_events events = {hear_up, hear_down, hear_push, heard};
    return soc_redis_open(loop, &options, &events, NULL);
}

static void many_commands_in_flight_are_answered_in_order(void)
{
    struct redis_server server = {0};
    redis_server_start(&server);
    struct soc_loop *loop = soc_loop_new();
    struct heard heard = {.is_in_order = true};
    struct soc_redis *redis = connect_to(loop, server.url, &heard);
    CHECK_INT(soc_redis_call(redis, NULL, NULL, "PING", NULL), SOC_ECLOSED);
    CHECK(wait_for(loop, &heard.ups, 1));
    heard.replies = 0;
    for (int i = 0; i < 20000; i++)
        CHECK_INT(soc_redis_call(redis, hear_reply, &heard, "INCR", "n", NULL), SOC_OK);
    CHECK(soc_redis_backlog(redis) > 0);
    CHECK(wait_for(loop, &heard.replies, 20000));
    CHECK(heard.is_in_order);
    CHECK_INT(heard.sum, 20000LL * 20001 / 2);
    CHECK_INT(soc_redis_backlog(redis), 0);
    CHECK_INT(soc_redis_call(redis, hear_reply, &heard, "LPUSH", "n", "x", NULL), SOC_OK);
    CHECK(wait_for(loop, &heard.replies, 20001));
    CHECK(strncmp(heard.text, "WRONGTYPE ", 10) == 0);
    soc_redis_close(redis);
    soc_loop_free(loop);
    redis_server_stop(&server);
}

static void a_server_that_dies_is_reported_once_and_connected_to_again(void)
{
    struct redis_server server = {0};
    redis_server_start(&server);
    struct soc_loop *loop = soc_loop_new();
    struct heard heard = {0};
    struct soc_redis *redis = connect_to(loop, server.url, &heard);
    CHECK(wait_for(loop, &heard.ups, 1));
    int downs = heard.downs; /* attempts before it listened */
    CHECK_INT(soc_redis_call(redis, hear_reply, &heard, "BLPOP", "none", "4", NULL), SOC_OK);
    CHECK_INT(soc_redis_call(redis, hear_reply, &heard, "PING", NULL), SOC_OK);
    redis_server_stop(&server);
    CHECK(wait_for(loop, &heard.losses, 2));
    CHECK(wait_for(loop, &heard.downs, downs + 1));
    CHECK(!soc_redis_is_up(redis));
    redis_server_start(&server);
    CHECK(wait_for(loop, &heard.ups, 2));
    CHECK_INT(heard.downs, downs + 1);
    CHECK_INT(soc_redis_call(redis, hear_reply, &heard, "PING", NULL), SOC_OK);
    CHECK(wait_for(loop, &heard.replies, 1));
    CHECK_TEXT(heard.text, "PONG");
    soc_redis_drop(redis, "on purpose");
    CHECK_TEXT(heard.why, "on purpose");
    CHECK(wait_for(loop, &heard.ups, 3));
    soc_redis_close(redis);
    soc_loop_free(loop);
    redis_server_stop(&server);
}

static void a_wrong_password_is_reported_and_not_shown(void)
{
    struct redis_server server = {.password = "right"};
    redis_server_start(&server);
    struct soc_loop *loop = soc_loop_new();
    struct heard heard = {0};
    char url[128];
    snprintf(url, sizeof(url), "redis://:right@127.0.0.1:%d", server.port);
    struct soc_redis *redis = connect_to(loop, url, &heard);
    CHECK(wait_for(loop, &heard.ups, 1));
    soc_redis_close(redis);
    heard = (struct heard){0};
    snprintf(url, sizeof(url), "redis://:canary@127.0.0.1:%d", server.port);
    redis = connect_to(loop, url, &heard);
    CHECK(wait_for(loop, &heard.downs, 1));
    CHECK(strstr(heard.why, "WRONGPASS") != NULL);
    CHECK(strstr(heard.why, "canary") == NULL);
    CHECK_INT(heard.ups, 0);
    soc_redis_close(redis);
    soc_loop_free(loop);
    redis_server_stop(&server);
}

static void a_subscribed_connection_hands_out_what_is_published(void)
{
    struct redis_server server = {0};
    redis_server_start(&server);
    struct soc_loop *loop = soc_loop_new();
    struct heard heard = {0};
    struct heard listener = {0};
    struct soc_redis *redis = connect_to(loop, server.url, &heard);
    struct soc_redis *listening = connect_to(loop, server.url, &listener);
    CHECK(wait_for(loop, &heard.ups, 1) && wait_for(loop, &listener.ups, 1));
    CHECK_INT(soc_redis_subscribe(listening, SOC_SLICE("SUBSCRIBE"), SOC_SLICE("news")), SOC_OK);
    CHECK(wait_for(loop, &listener.replies, 1));
    CHECK_INT(soc_redis_call(redis, hear_reply, &heard, "PUBLISH", "news", "hello", NULL), SOC_OK);
    CHECK(wait_for(loop, &listener.replies, 2));
    CHECK_TEXT(listener.text, "hello");
    soc_redis_close(redis);
    soc_redis_close(listening);
    soc_loop_free(loop);
    redis_server_stop(&server);
}

static void a_sentinel_says_where_the_server_is(void)
{
    struct redis_server first = {0};
    struct redis_server second = {0};
    struct redis_server sentinel = {.port = redis_server_free_port()};
    redis_server_start(&first);
    redis_server_start(&second);
    char folder[] = "/tmp/society-sentinel-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    char path[64];
    snprintf(path, sizeof(path), "%s/s.conf", folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor main 127.0.0.1 %d 1\n",
            sentinel.port, folder, first.port);
    CHECK_INT(fclose(file), 0);
    char command[128];
    snprintf(command, sizeof(command), "redis-server %s --sentinel", path);
    redis_server_run(&sentinel, command);

    struct soc_loop *loop = soc_loop_new();
    struct heard direct = {0};
    snprintf(sentinel.url, sizeof(sentinel.url), "redis://127.0.0.1:%d", sentinel.port);
    struct soc_redis *ask = connect_to(loop, sentinel.url, &direct);
    CHECK(wait_for(loop, &direct.ups, 1));
    char url[128];
    struct heard stranger = {0};
    snprintf(url, sizeof(url), "sentinel://127.0.0.1:%d/other", sentinel.port);
    struct soc_redis *lost = connect_to(loop, url, &stranger);
    CHECK(wait_for(loop, &stranger.downs, 1));
    CHECK(strstr(stranger.why, "knows no master called 'other'") != NULL);
    struct heard heard = {0};
    snprintf(url, sizeof(url), "sentinel://127.0.0.1:%d/main", sentinel.port);
    struct soc_redis *redis = connect_to(loop, url, &heard);
    CHECK(wait_for(loop, &heard.ups, 1));

    /* The sentinel names another server; the connection follows when it must. */
    char port[16];
    snprintf(port, sizeof(port), "%d", second.port);
    direct.replies = 0;
    CHECK_INT(soc_redis_call(ask, hear_reply, &direct, "SENTINEL", "REMOVE", "main", NULL), SOC_OK);
    CHECK_INT(soc_redis_call(ask, hear_reply, &direct, "SENTINEL", "MONITOR", "main", "127.0.0.1",
                             port, "1", NULL),
              SOC_OK);
    CHECK(wait_for(loop, &direct.replies, 2));
    redis_server_stop(&first);
    CHECK(wait_for(loop, &heard.ups, 2));
    soc_redis_close(ask);
    soc_redis_close(lost);
    soc_redis_close(redis);
    soc_loop_free(loop);
    redis_server_stop(&sentinel);
    redis_server_stop(&second);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    if (!redis_server_is_there())
        return 0;
    RUN(many_commands_in_flight_are_answered_in_order);
    RUN(a_server_that_dies_is_reported_once_and_connected_to_again);
    RUN(a_wrong_password_is_reported_and_not_shown);
    RUN(a_subscribed_connection_hands_out_what_is_published);
    RUN(a_sentinel_says_where_the_server_is);
    return check_done();
}

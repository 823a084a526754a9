/* Host asking: calls operations of a small society and takes their answers.
 *
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_HOST_ASKING_H
#define SOC_TESTS_HOST_ASKING_H

#include "base/mem.h"
#include "env/ids.h"
#include "host_parts.h"
#include "kernel/operations/catalogue.h"
#include "kernel/state.h"

/* A call and its answer. */
struct asked {
    struct soc_call call; /* first: take casts back */
    struct soc_buf answer;
    int count;
    bool is_error;
};

/* Takes the answer of a call. */
static inline void take(struct soc_call *call, bool is_error, struct soc_slice answer)
{
    struct asked *asked = (struct asked *)call;
    asked->count++;
    asked->is_error = is_error;
    asked->answer.length = 0;
    soc_buf_put_slice(&asked->answer, answer);
}

/* Puts `open` in force; there is no other policy. */
static inline int use_policy(void *user, const char *kind, const char *name,
                             struct soc_slice settings, bool is_trial, struct soc_detail *detail)
{
    (void)user, (void)kind, (void)settings, (void)is_trial;
    return strcmp(name, "open") == 0 ? SOC_OK : soc_fail(detail, SOC_ENOFILE, "no such policy");
}

/* Stops nothing. */
static inline void stop(void *user)
{
    (void)user;
}

/* Handles every message. */
static inline enum soc_turn_end worker_that_does_nothing(struct world *world,
                                                         struct soc_activation *activation,
                                                         struct soc_buf *error)
{
    (void)world, (void)activation, (void)error;
    return SOC_TURN_DONE;
}

/* Keeps `main` busy. */
static inline enum soc_turn_end
main_that_waits(struct world *world, struct soc_activation *activation, struct soc_buf *error)
{
    (void)activation;
    PASS(step_sleep(world, 1000000, error));
    return SOC_TURN_DONE;
}

/* Opens a society whose root can run. */
static inline void open_world(struct world *world)
{
    *world = (struct world){.main = main_that_waits, .worker = worker_that_does_nothing};
    world_open(world, NULL);
    soc_agents_set_runnable(world->host, world->host->registry.root->role);
    world_settle(world);
}

/* Adds a child of an agent, as a turn of it would. */
static inline void spawn_below(struct world *world, const char *parent, const char *id)
{
    struct soc_buf error = {0};
    struct soc_agent *child;
    struct soc_spawn draft = {
        .role = SOC_SLICE("worker"), .id = soc_slice_text(id), .brief = SOC_SLICE("{}")};
    soc_gate_begin_as(world->host, soc_registry_find(world->host, soc_slice_text(parent)));
    CHECK_INT(soc_agents_spawn(world->host, &draft, &child, &error), SOC_OK);
    soc_gate_end_as(world->host, true);
    soc_buf_fini(&error);
}

/* Adds a child of root. */
static inline void spawn(struct world *world, const char *id)
{
    spawn_below(world, "root", id);
}

/* Finds an operation that exists. */
static inline const struct soc_operation *find(const char *name)
{
    const struct soc_operation *operation =
        soc_catalogue_find(soc_part_table, soc_slice_text(name));
    CHECK(operation != NULL);
    return operation;
}

/* Asks as that caller and runs what is ready. */
static inline void ask_as(struct world *world, const struct soc_caller *caller, const char *name,
                          const char *params, struct asked *asked)
{
    struct soc_operations society = {
        .host = world->host, .stop = stop, .use_policy = use_policy, .user = world};
    CHECK_INT(soc_json_check(soc_slice_text(params), NULL), SOC_OK);
    soc_call_fini(&asked->call);
    asked->call = (struct soc_call){.answer = take, .is_strict = asked->call.is_strict};
    asked->count = 0;
    soc_operation_do(&society, find(name), caller, &asked->call, soc_slice_text(params));
    soc_batch_seal(world->host);
    world_settle(world);
    soc_batch_seal(world->host);
}

/* Asks as the owner and lends the answer. */
static inline const char *ask(struct world *world, const char *name, const char *params,
                              struct asked *asked)
{
    ask_as(world, &soc_caller_owner, name, params, asked);
    CHECK_INT(asked->count, 1);
    return soc_buf_text(&asked->answer);
}

/* Tells whether the answer is that error. */
static inline bool is_code(const struct asked *asked, const char *code)
{
    struct soc_slice error = soc_json_member(soc_buf_slice(&asked->answer), "error");
    return asked->is_error && soc_slice_equal(soc_json_plain_string(error), soc_slice_text(code));
}

/* Tells whether a value has the kind that its member declares. */
static inline bool has_kind(const struct soc_param *member, struct soc_slice value)
{
    struct soc_buf text = {0};
    enum soc_json_kind kind = soc_json_kind(value);
    int64_t integer;
    uint64_t key;
    bool has = true;
    switch (member->kind) {
    case SOC_PARAM_INTEGER:
        has = soc_json_integer(value, &integer);
        break;
    case SOC_PARAM_NUMBER:
        has = kind == SOC_JSON_NUMBER;
        break;
    case SOC_PARAM_FLAG:
        has = kind == SOC_JSON_TRUE || kind == SOC_JSON_FALSE;
        break;
    case SOC_PARAM_OBJECT:
        has = kind == SOC_JSON_OBJECT;
        break;
    case SOC_PARAM_LIST:
        has = kind == SOC_JSON_ARRAY;
        break;
    case SOC_PARAM_JSON:
        break;
    default:
        has = soc_json_string(value, &text) &&
              (member->kind != SOC_PARAM_TIME || soc_time_parse(soc_buf_slice(&text), &integer)) &&
              (member->kind != SOC_PARAM_ID || soc_message_id_parse(soc_buf_slice(&text), &key));
    }
    soc_buf_fini(&text);
    return has;
}

/* Lends the declaration of a member; NULL: there is none. */
static inline const struct soc_param *find_member(const struct soc_operation *operation,
                                                  struct soc_slice name)
{
    const struct soc_param *member;
    for (size_t i = 0; (member = soc_operation_member(operation, i)) != NULL; i++)
        if (soc_json_name_is(name, soc_slice_text(member->name)))
            return member;
    return NULL;
}

/* Checks an answer against the declaration; returns how many objects it has. */
static inline int check_shape(const char *name, const struct asked *asked)
{
    const struct soc_operation *operation = find(name);
    const struct soc_param *member;
    struct soc_json_walk row;
    struct soc_json_walk walk;
    int count = 0;
    CHECK(!asked->is_error);
    soc_json_walk(&row, soc_buf_slice(&asked->answer));
    for (; soc_json_next(&row); count++) {
        soc_json_walk(&walk, row.value);
        while (soc_json_next(&walk)) {
            member = find_member(operation, walk.name);
            if (member == NULL || !has_kind(member, walk.value))
                CHECK_TEXT(soc_buf_text((struct soc_buf *)&asked->answer), name);
        }
        for (size_t i = 0; (member = soc_operation_member(operation, i)) != NULL; i++)
            CHECK(!member->is_needed || soc_json_member(row.value, member->name).data != NULL);
    }
    return count;
}

#endif

/* The table of operations: each is called with every bad value of every parameter, and what
 * it answers has the declared shape.
 *
 * Covers: core/kernel/operations/catalogue.c, core/kernel/operations/looks.c
 * Covers: core/kernel/operations/call.c, core/kernel/operations/given.c
 * Covers: core/kernel/operations/param.c
 * Covers: core/kernel/operations/orders.c, core/kernel/operations/message_params.c
 * Covers: core/parts/human/human_operations.c, core/parts/human/human_intake.c
 * Covers: core/parts/human/human_item.c
 * Covers: core/parts/supervision/hold_operations.c, core/parts/tasks/tasks_operations.c */
#include "host_asking.h"
#include "parts/policies/policies.h"

/* Counts the lines `order` with that detail. */
static int count_orders(struct world *world, const char *detail, struct asked *asked)
{
    struct soc_json_walk walk;
    struct soc_buf text = {0};
    int count = 0;
    ask(world, "activity", "{\"type\":\"order\"}", asked);
    soc_json_walk(&walk, soc_buf_slice(&asked->answer));
    while (soc_json_next(&walk)) {
        text.length = 0;
        soc_json_string(soc_json_member(walk.value, "detail"), &text);
        count += strcmp(soc_buf_text(&text), detail) == 0;
    }
    soc_buf_fini(&text);
    return count;
}

static void every_operation_is_declared_in_full(void)
{
    const struct soc_operation *operation;
    const struct soc_param *param;
    size_t count = 0;
    for (; (operation = soc_catalogue_at(soc_part_table, count)) != NULL; count++) {
        CHECK(operation->summary != NULL && operation->run != NULL);
        CHECK(soc_scope_name(operation->scope)[0] != '\0');
        CHECK(operation->changes == (operation->scope != SOC_SCOPE_READ));
        CHECK(operation->view == NULL || !operation->changes);
        CHECK(find(operation->name) == operation); /* names are unique */
        for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++) {
            CHECK(param->summary != NULL && param->kind < SOC_PARAM_KIND_COUNT);
            CHECK(param->kind != SOC_PARAM_TEXT || param->most > 0);
            CHECK(param->kind != SOC_PARAM_CHOICE || param->choices != NULL);
        }
        for (size_t i = 0; (param = soc_operation_member(operation, i)) != NULL; i++)
            CHECK(param->summary != NULL && param->kind < SOC_PARAM_KIND_COUNT);
    }
    CHECK_INT(count, 50);
}

static void the_parameters_of_a_send_are_the_fields_of_a_message(void)
{
    const struct soc_param *param;
    size_t count = 0;
    int names = 0;
    for (; (param = soc_operation_param(find("request"), count)) != NULL; count++) {
        unsigned context = (unsigned)SOC_SEND_FROM_SOCKET | (unsigned)SOC_SEND_FROM_WAIT;
        int field = soc_message_fields_find(soc_slice_text(param->name), context);
        CHECK(field >= 0);
        if (param->alias != NULL)
            CHECK_INT(soc_message_fields_find(soc_slice_text(param->alias), context), field);
        names += param->alias == NULL ? 1 : 2;
    }
    while (soc_message_fields_name((unsigned)SOC_SEND_FROM_SOCKET | (unsigned)SOC_SEND_FROM_WAIT,
                                   names) != NULL)
        names++;
    /* `from`, which is accepted and ignored, is no parameter. */
    CHECK_INT(names, (int)count + 2 + 1);
}

#define MANY "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define LONG MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY

#define K(kind) (1u << SOC_PARAM_##kind)

/* Values, and the kinds they may be good for. */
static const struct {
    const char *json;
    unsigned fits;
} values[] = {
    {"\"x\"", K(TEXT) | K(CHOICE) | K(RECEIVER) | K(JSON)},
    {"\"\"", K(TEXT) | K(JSON) | K(RECEIVER)},
    {"\"\\u0000\"", K(JSON)},
    {"\"root\\u0000\"", K(JSON)},
    {"\"" LONG "\"", K(JSON)}, /* and comments, which have no bound of that kind */
    {"\"2026-13-45T99:00:00Z\"", K(TEXT) | K(CHOICE) | K(RECEIVER) | K(JSON)},
    {"\"msg_1\"", K(TEXT) | K(CHOICE) | K(RECEIVER) | K(JSON)},
    {"true", K(FLAG) | K(JSON)},
    {"false", K(FLAG) | K(JSON)},
    {"\"true\"", K(TEXT) | K(CHOICE) | K(RECEIVER) | K(JSON)},
    {"0.5", K(NUMBER) | K(JSON)},
    {"-1", K(JSON)},
    {"-9223372036854775808", K(JSON)},
    {"1e308", K(JSON)},
    {"7", K(INTEGER) | K(NUMBER) | K(TIME) | K(JSON)},
    {"{}", K(OBJECT) | K(JSON)},
    {"{\"a\":{\"b\":[1]}}", K(OBJECT) | K(JSON)},
    {"[]", K(LIST) | K(JSON)},
    {"[1,[2]]", K(LIST) | K(JSON)},
    {"[null]", K(LIST) | K(JSON)},
};

/* What an operation needs to do nothing in particular. */
static const struct {
    const char *name;
    const char *json;
} goods[] = {
    {"agent", "\"root\""},
    {"message_id", "\"msg_20260101_000000_000000000000001\""},
    {"payload", "{}"},
    {"item_id", "\"item_1\""},
    {"decision", "\"approve\""},
    {"task", "\"t\""},
    {"kind", "\"contacts\""},
    {"name", "\"closed\""},
    {"feature", "\"t\""},
    {"status", "\"processed\""},
    {"replay_id", "\"replay_1\""},
    {"host", "\"west\""},
};

static const char *good_value(const char *name)
{
    for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++)
        if (strcmp(goods[i].name, name) == 0)
            return goods[i].json;
    return NULL;
}

/* Writes parameters that are needed, and `bad` for one (NULL: it is left out). */
static void put_params(struct soc_buf *out, const struct soc_operation *operation,
                       const struct soc_param *one, const char *bad)
{
    const struct soc_param *param;
    out->length = 0;
    soc_buf_put_byte(out, '{');
    for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++) {
        const char *json = param == one ? bad : param->is_needed ? good_value(param->name) : NULL;
        if (json == NULL)
            continue;
        soc_json_put_name(out, param->name);
        soc_buf_put_text(out, json);
    }
    soc_buf_put_byte(out, '}');
}

static bool is_bad(const struct soc_operation *operation, const struct soc_param *param,
                   size_t value)
{
    bool is_fraction = strcmp(values[value].json, "0.5") == 0;
    if (is_fraction && operation->checks_itself && param->kind == SOC_PARAM_TIME)
        return false; /* the times of a message may have one */
    bool is_long = strstr(values[value].json, MANY) != NULL;
    if (is_long && param->kind == SOC_PARAM_TEXT)
        return (size_t)param->most < strlen(LONG);
    return (values[value].fits & 1u << param->kind) == 0;
}

/* Tells whether a refusal says nothing but that something is wrong. */
static bool is_vague(const struct asked *asked)
{
    struct soc_slice vague = soc_slice_text(soc_error_text(SOC_EINVAL));
    return memmem(asked->answer.data, asked->answer.length, vague.data, vague.length) != NULL;
}

/* An error that names the parameter; the router has errors of its own for these. */
static bool is_refused(const struct asked *asked, const struct soc_operation *operation,
                       const struct soc_param *param)
{
    struct soc_slice answer = soc_buf_slice(&asked->answer);
    return (is_code(asked, "invalid_argument") && !is_vague(asked) &&
            memmem(answer.data, answer.length, param->name, strlen(param->name)) != NULL) ||
           (operation->checks_itself &&
            (is_code(asked, "invalid_id") || is_code(asked, "agent_not_found") ||
             is_code(asked, "invalid_message_format")));
}

static void every_bad_value_of_every_parameter_is_refused(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_buf params = {0};
    const struct soc_operation *operation;
    const struct soc_param *param;
    int count = 0;
    open_world(&world);
    uint64_t sent = world.host->totals.sent;
    for (size_t k = 0; (operation = soc_catalogue_at(soc_part_table, k)) != NULL; k++) {
        for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++) {
            for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
                if (!is_bad(operation, param, v))
                    continue;
                put_params(&params, operation, param, values[v].json);
                ask(&world, operation->name, soc_buf_text(&params), &asked);
                CHECK_INT(soc_json_check(soc_buf_slice(&asked.answer), NULL), SOC_OK);
                CHECK(is_refused(&asked, operation, param));
                count++;
            }
            if (!param->is_needed)
                continue;
            put_params(&params, operation, param, NULL);
            ask(&world, operation->name, soc_buf_text(&params), &asked);
            CHECK(is_code(&asked, "invalid_argument") || is_code(&asked, "missing_payload"));
        }
    }
    CHECK(count > 800);
    CHECK_INT(world.host->totals.sent, sent);
    soc_buf_fini(&params);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void every_answer_has_the_declared_shape(void)
{
    struct world world;
    struct asked asked = {0};
    const struct soc_operation *operation;
    open_world(&world);
    spawn(&world, "ann");
    static const char *const orders[][2] = {
        {"send", "{\"to\":\"root\",\"payload\":1,\"type\":\"note\",\"ttl_seconds\":5}"},
        {"send", "{\"to\":\"All\",\"payload\":1}"},
        {"send", "{\"to\":[\"root\",\"nobody\"],\"payload\":1}"},
        {"send", "{\"to\":\"root\",\"payload\":{},\"type\":\"task\",\"task_id\":\"t1\"}"},
        {"send", "{\"payload\":\"to whom it may concern\"}"},
        {"pause", "{\"agent\":\"ann\",\"reason\":\"why\"}"},
        {"resume", "{\"agent\":\"All\"}"},
        {"cancel", "{\"task\":\"t1\",\"reason\":\"late\"}"},
        {"load", "{\"agent\":\"root\"}"},
        {"queue", "{\"agent\":\"root\"}"},
        {"conversation", "{\"agent\":\"root\"}"},
        {"terminate", "{\"agent\":\"ann\",\"force\":true}"},
        {"policy", "{\"kind\":\"contacts\",\"name\":\"open\"}"},
        {"swap", "{\"kind\":\"contacts\",\"name\":\"open\",\"settings\":{}}"},
        {"stop", "{}"},
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        ask(&world, orders[i][0], orders[i][1], &asked);
        check_shape(orders[i][0], &asked);
    }
    int rows = 0;
    for (size_t i = 0; (operation = soc_catalogue_at(soc_part_table, i)) != NULL; i++) {
        if (operation->view == NULL)
            continue;
        ask(&world, operation->name, "{}", &asked);
        rows += check_shape(operation->name, &asked);
    }
    CHECK(rows > 20);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void a_change_leaves_an_order_in_its_batch(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_caller caller = {.name = SOC_SLICE("ops"), .scopes = SOC_SCOPE_OPERATE};
    open_world(&world);
    spawn(&world, "ann");
    soc_batch_seal(world.host);
    uint64_t before = world.host->next_sequence;
    ask_as(&world, &caller, "pause", "{\"agent\":\"ann\"}", &asked);
    CHECK_INT(world.host->next_sequence, before + 1);
    static const char line[] = "{\"by\":\"ops\",\"op\":\"pause\",\"target\":\"ann\"}";
    CHECK_INT(count_orders(&world, line, &asked), 1);
    ask_as(&world, &caller, "pause", "{\"agent\":\"ann\"}", &asked); /* it is paused already */
    CHECK_INT(count_orders(&world, line, &asked), 1);
    ask_as(&world, &caller, "pause", "{\"agent\":\"nobody\"}", &asked);
    CHECK(is_code(&asked, "agent_not_found"));
    ask(&world, "send", "{\"to\":[\"root\",\"user\"],\"payload\":1}", &asked);
    CHECK_INT(count_orders(&world,
                           "{\"by\":\"owner\",\"op\":\"send\",\"target\":[\"root\",\"user\"]}",
                           &asked),
              1);
    static const char twice[] = "{\"to\":\"root\",\"payload\":1,\"dedupe_key\":\"k\"}";
    ask(&world, "send", twice, &asked);
    ask(&world, "send", twice, &asked);
    CHECK_INT(check_shape("send", &asked), 1);
    CHECK_INT(
        count_orders(&world, "{\"by\":\"owner\",\"op\":\"send\",\"target\":\"root\"}", &asked), 1);
    ask(&world, "stop", "{}", &asked);
    CHECK_INT(count_orders(&world, "{\"by\":\"owner\",\"op\":\"stop\"}", &asked), 1);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void a_caller_does_what_its_scopes_allow(void)
{
    struct world world;
    struct asked asked = {0};
    const struct soc_operation *operation;
    open_world(&world);
    for (size_t i = 0; (operation = soc_catalogue_at(soc_part_table, i)) != NULL; i++) {
        struct soc_caller caller = {.name = SOC_SLICE("x"),
                                    .scopes = SOC_SCOPE_ALL & ~(unsigned)operation->scope};
        ask_as(&world, &caller, operation->name, "{}", &asked);
        CHECK(is_code(&asked, "forbidden"));
        caller.scopes = operation->scope;
        ask_as(&world, &caller, operation->name, "{}", &asked);
        CHECK(!is_code(&asked, "forbidden"));
        CHECK(!is_vague(&asked));
    }
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void one_who_speaks_as_an_agent_sees_and_does_only_what_is_its_own(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_caller caller = {
        .name = SOC_SLICE("x"), .scopes = SOC_SCOPE_ALL, .agent = SOC_SLICE("ann")};
    open_world(&world);
    spawn(&world, "ann");
    spawn(&world, "bob");
    ask(&world, "send", "{\"to\":\"bob\",\"payload\":\"secret\"}", &asked);
    ask_as(&world, &caller, "send", "{\"to\":\"root\",\"payload\":\"mine\"}", &asked);
    CHECK(!asked.is_error);
    ask_as(&world, &caller, "messages", "{}", &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "mine") != NULL);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"from\":\"ann\"") != NULL);
    CHECK(strstr(soc_buf_text(&asked.answer), "secret") == NULL);
    ask_as(&world, &caller, "messages", "{\"agent\":\"bob\"}", &asked);
    CHECK(is_code(&asked, "forbidden"));
    ask_as(&world, &caller, "send", "{\"to\":\"bob\",\"payload\":1}", &asked);
    CHECK(is_code(&asked, "unknown_contact"));
    ask_as(&world, &caller, "activity", "{}", &asked);
    CHECK(is_code(&asked, "forbidden"));
    ask_as(&world, &caller, "load", "{\"agent\":\"ann\"}", &asked);
    CHECK_INT(check_shape("load", &asked), 1);
    ask_as(&world, &caller, "load", "{\"agent\":\"bob\"}", &asked);
    CHECK(is_code(&asked, "forbidden"));
    ask_as(&world, &caller, "pause", "{\"agent\":\"bob\"}", &asked);
    CHECK(is_code(&asked, "forbidden"));
    caller.agent = SOC_SLICE("nobody");
    ask_as(&world, &caller, "send", "{\"to\":\"root\",\"payload\":1}", &asked);
    CHECK(is_code(&asked, "agent_stopped"));
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void a_strict_call_has_no_unknown_parameters(void)
{
    struct world world;
    struct asked asked = {.call = {.is_strict = true}};
    open_world(&world);
    ask(&world, "agents", "{\"agnet\":\"root\"}", &asked);
    CHECK(is_code(&asked, "invalid_argument"));
    CHECK(strstr(soc_buf_text(&asked.answer), "\"member\":\"agnet\"") != NULL);
    ask(&world, "send", "{\"to\":\"root\",\"content\":1,\"taskId\":\"t\"}", &asked);
    CHECK(!asked.is_error);
    asked.call.is_strict = false;
    ask(&world, "agents", "{\"agnet\":\"root\"}", &asked);
    CHECK(!asked.is_error);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

/* Members are found once, as many as there is room for. */
/* Tells whether the operation is refused with that sentence. */
static bool is_told(struct world *world, const char *op, const char *params, const char *sentence)
{
    struct asked asked = {0};
    struct soc_buf text = {0};
    ask(world, op, params, &asked);
    soc_json_string(soc_json_member(soc_buf_slice(&asked.answer), "message"), &text);
    bool is_same =
        is_code(&asked, "invalid_argument") && strcmp(soc_buf_text(&text), sentence) == 0;
    soc_buf_fini(&text);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    return is_same;
}

static void a_refusal_says_what_the_parameter_must_be(void)
{
    struct world world;
    open_world(&world);
    CHECK(is_told(&world, "activity", "{\"limit\":-1}", "'limit' must be an integer from 0"));
    CHECK(is_told(&world, "activity", "{\"after\":0,\"wait_ms\":60001}",
                  "'wait_ms' must be an integer from 0 to 60000"));
    CHECK(is_told(&world, "activity", "{\"agent\":7}",
                  "'agent' must be text of at most 256 bytes, without NUL"));
    CHECK(is_told(&world, "activity", "{\"since\":\"soon\"}",
                  "'since' must be a time as in 2026-01-05T12:00:00Z, or ms since 1970"));
    CHECK(is_told(&world, "inbox", "{\"state\":\"odd\"}",
                  "'state' must be open, decided, withdrawn or all"));
    CHECK(is_told(&world, "mail", "{\"agent\":\"x\",\"after\":\"m1\"}",
                  "'after' must be the id of a message, which begins with msg_"));
    CHECK(is_told(&world, "agent", "{}",
                  "'agent' is missing; it must be text of at most 256 bytes, without NUL"));
    CHECK(is_told(&world, "decide", "{\"item_id\":\"x\",\"decision\":\"approve\",\"action\":\"x\"}",
                  "'action' is another name of 'decision': give one of them"));
    CHECK(is_told(&world, "stats", "{\"agent\":\"x\"}", "the operation has no such parameter"));
    world_close(&world);
}

static void a_refusal_says_which_parameters_do_not_go_together(void)
{
    static const char *const cases[][3] = {
        {"at", "{\"line\":1,\"time\":1}", "give line or time, not both"},
        {"intake", "{\"text\":\"a\",\"payload\":1}", "give payload or text, not both"},
        {"ack", "{\"message_id\":\"m\",\"status\":\"processed\"}",
         "'agent' is missing; it must be the id of an agent outside, unless the caller speaks as "
         "one"},
        {"policy", "{\"policies\":{},\"kind\":\"contacts\"}",
         "give policies, or kind and name, not both"},
        {"policy", "{\"name\":\"open\"}",
         "'kind' is missing; it must be what the policy decides, or give policies"},
        {"policy", "{\"kind\":\"contacts\"}", "'name' is missing; it must be the name of a policy"},
        {"swap", "{\"kind\":\"a/b\",\"name\":\"open\"}",
         "'kind' must be a word, without slash or dot"},
        {"swap", "{\"kind\":\"contacts\",\"name\":\"./open.lua\"}",
         "'name' must be the name of a policy, without slash or dot: never a path"},
        {"redeliver", "{}",
         "'message_id' is missing; it must be the id of a dead letter, or give a filter"},
        {"drop", "{\"message_id\":\"m\",\"filter\":{}}", "give message_id or filter, not both"},
        {"drop", "{\"message_id\":\"m\",\"expected\":1}",
         "'expected' goes with a filter, not with message_id"},
        {"drop", "{\"filter\":{}}",
         "'expected' is missing; an empty filter fits all letters, so it must be said how many "
         "there are"},
        {"drop", "{\"filter\":{\"since\":\"soon\"}}",
         "'since' must be a time as in 2026-01-05T12:00:00Z, or ms since 1970"},
    };
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK(is_told(&world, cases[i][0], cases[i][1], cases[i][2]));
    soc_policies_record(world.host, SOC_SLICE("[{\"kind\":\"a\",\"name\":\"x\"},"
                                              "{\"kind\":\"b\",\"name\":\"y\"},"
                                              "{\"kind\":\"b\",\"name\":\"z\"}]"));
    CHECK(is_told(&world, "policy_kind", "{\"kind\":\"c\"}",
                  "'kind' must be one of those of the policies in force: a, b"));
    ask(&world, "drop", "{\"filter\":{\"limit\":1}}", &asked);
    CHECK(strstr(soc_buf_text(&asked.answer),
                 "\"message\":\"'filter' may have nothing but agent, task, ") != NULL);
    CHECK(strstr(soc_buf_text(&asked.answer), "limit") == NULL);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void an_id_that_no_message_can_have_is_not_found(void)
{
    static const char *const ops[] = {"message", "redeliver", "drop"};
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        ask(&world, ops[i], "{\"message_id\":\"none\"}", &asked);
        CHECK(is_code(&asked, "message_not_found"));
        ask(&world, ops[i], "{\"message_id\":\"\"}", &asked);
        CHECK(is_code(&asked, "message_not_found"));
    }
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void a_parameter_is_found_behind_any_number_of_others(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_buf params = {0};
    open_world(&world);
    spawn(&world, "ann");
    for (int others = SOC_PARAMS_MAX - 2; others <= SOC_PARAMS_MAX + 2; others++) {
        params.length = 0;
        soc_buf_put_byte(&params, '{');
        for (int i = 0; i < others; i++)
            soc_buf_printf(&params, "\"x%d\":[1],", i);
        soc_buf_put_text(&params, "\"agent\":\"ann\"}");
        ask(&world, "agent", soc_buf_text(&params), &asked);
        CHECK_INT(check_shape("agent", &asked), 1);
        CHECK(strstr(soc_buf_text(&asked.answer), "\"id\":\"ann\"") != NULL);
    }
    soc_buf_fini(&params);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void a_dropped_call_is_done_and_not_answered(void)
{
    struct world world;
    struct asked asked = {.call = {.answer = take}};
    struct soc_operations society;
    open_world(&world);
    society = (struct soc_operations){.host = world.host};
    soc_operation_do(&society, find("send"), &soc_caller_owner, &asked.call,
                     SOC_SLICE("{\"to\":\"root\",\"payload\":\"stands\"}"));
    CHECK_INT(asked.count, 0); /* not durable yet */
    soc_call_drop(&asked.call);
    soc_batch_seal(world.host);
    CHECK_INT(asked.count, 1);
    CHECK_INT(asked.answer.length, 0);
    soc_call_fini(&asked.call);
    CHECK(strstr(ask(&world, "messages", "{}", &asked), "stands") != NULL);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

/* The gatekeeper of the test. */
static struct soc_agent *route(void *user, struct soc_slice payload, struct soc_buf *intent)
{
    struct world *world = user;
    (void)payload;
    soc_buf_put_text(intent, "bug_report");
    return world->host->registry.root;
}

static enum soc_turn_end worker_that_replies(struct world *world, struct soc_activation *activation,
                                             struct soc_buf *error)
{
    struct soc_slice payload = soc_message_payload(activation->message);
    if (!soc_slice_equal(payload, SOC_SLICE("{\"text\":\"silence\"}")))
        PASS(step_reply(world, "{\"text\":\"hello\"}", error));
    return SOC_TURN_DONE;
}

static void an_intake_tells_where_it_went_and_what_was_replied(void)
{
    struct world world = {.worker = worker_that_replies, .route = route};
    struct asked asked = {0};
    world_open(&world, NULL);
    soc_agents_set_runnable(world.host, world.host->registry.root->role);
    ask(&world, "intake", "{\"text\":\"it broke\",\"priority\":\"P1\"}", &asked);
    CHECK_INT(check_shape("intake", &asked), 1);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"route_to\":\"root\"") != NULL);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"intent\":\"bug_report\"") != NULL);
    ask(&world, "intake", "{\"content\":{\"n\":1},\"wait_ms\":50}", &asked);
    CHECK_INT(check_shape("intake", &asked), 1);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"reply\":{") != NULL);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"text\":\"hello\"") != NULL);
    ask_as(&world, &soc_caller_owner, "intake", "{\"text\":\"silence\",\"wait_ms\":50}", &asked);
    CHECK_INT(asked.count, 0);
    world_finish(&world);
    soc_batch_seal(world.host);
    CHECK_INT(asked.count, 1);
    CHECK(is_code(&asked, "timeout"));
    CHECK_INT(soc_json_check(soc_buf_slice(&asked.answer), NULL), SOC_OK);
    CHECK(soc_json_member(soc_buf_slice(&asked.answer), "messageId").data != NULL);
    static const char keyed[] = "{\"text\":\"once\",\"dedupe_key\":\"k\",\"wait_ms\":50}";
    ask(&world, "intake", keyed, &asked);
    ask(&world, "intake", keyed, &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"duplicate\":true") != NULL);
    CHECK_INT(check_shape("intake", &asked), 1);
    ask(&world, "intake", "{}", &asked);
    CHECK(is_code(&asked, "missing_payload"));
    ask(&world, "intake", "{\"text\":\"a\",\"payload\":1}", &asked);
    CHECK(is_code(&asked, "invalid_argument"));
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void an_intake_that_waits_has_the_same_answer_when_it_is_repeated(void)
{
    static const char params[] = "{\"text\":\"it broke\",\"wait_ms\":50}";
    struct world world = {.worker = worker_that_replies, .route = route};
    struct asked asked = {0};
    struct soc_buf first = {0};
    struct soc_caller caller = {
        .name = SOC_SLICE("x"), .scopes = SOC_SCOPE_ALL, .key = SOC_SLICE("k")};
    world_open(&world, NULL);
    soc_agents_set_runnable(world.host, world.host->registry.root->role);
    ask_as(&world, &caller, "intake", params, &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"reply\":{") != NULL);
    soc_buf_put_slice(&first, soc_buf_slice(&asked.answer));
    ask_as(&world, &caller, "intake", params, &asked);
    CHECK_INT(asked.count, 1);
    CHECK_TEXT(soc_buf_text(&asked.answer), soc_buf_text(&first));
    soc_buf_fini(&first);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void the_person_may_terminate_every_agent_but_two(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "terminate", "{\"agent\":\"root\"}", &asked);
    CHECK(is_code(&asked, "forbidden"));
    ask(&world, "terminate", "{\"agent\":\"user\"}", &asked);
    CHECK(is_code(&asked, "forbidden"));
    ask(&world, "terminate", "{\"agent\":\"nobody\"}", &asked);
    CHECK(is_code(&asked, "agent_not_found"));
    ask(&world, "terminate", "{\"agent\":\"ann\",\"reason\":\"done\"}", &asked);
    CHECK_TEXT(soc_buf_text(&asked.answer), "[{\"id\":\"ann\",\"is_forced\":false}]");
    CHECK(soc_registry_find(world.host, SOC_SLICE("ann")) == NULL);
    ask(&world, "terminate", "{\"agent\":\"ann\"}", &asked);
    CHECK(is_code(&asked, "agent_stopped"));
    ask(&world, "activity", "{\"type\":\"terminate\"}", &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "\\\"by\\\":\\\"user\\\"") != NULL);
    CHECK(strstr(soc_buf_text(&asked.answer), "\\\"reason\\\":\\\"done\\\"") != NULL);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void the_person_may_cancel_every_task(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    ask(&world, "pause", "{\"agent\":\"root\"}", &asked);
    ask(&world, "send", "{\"to\":\"root\",\"payload\":{},\"type\":\"task\",\"task_id\":\"t1\"}",
        &asked);
    ask(&world, "cancel", "{\"task\":\"t1\",\"reason\":\"late\"}", &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"state\":\"cancelled\"") != NULL);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"cancelled\":1}]") != NULL);
    CHECK_INT(
        count_orders(&world, "{\"by\":\"owner\",\"op\":\"cancel\",\"target\":\"t1\"}", &asked), 1);
    ask(&world, "cancel", "{\"task\":\"t1\"}", &asked);
    CHECK(is_code(&asked, "task_finished"));
    ask(&world, "cancel", "{\"task\":\"t2\"}", &asked);
    CHECK(is_code(&asked, "task_not_found"));
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

static void an_order_about_dead_letters_is_noted_when_it_is_done(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_caller root = {
        .name = SOC_SLICE("root"), .scopes = SOC_SCOPE_WRITE, .agent = SOC_SLICE("root")};
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    ask_as(&world, &root, "send", "{\"to\":\"ann\",\"payload\":1}", &asked);
    ask_as(&world, &root, "send", "{\"to\":\"ann\",\"payload\":2}", &asked);
    ask(&world, "terminate", "{\"agent\":\"ann\",\"force\":true}", &asked);
    ask(&world, "dead_letters", "{}", &asked);
    CHECK_INT(check_shape("dead_letters", &asked), 2);
    ask(&world, "drop", "{\"filter\":{\"to\":\"ann\"},\"expected\":7}", &asked);
    CHECK(asked.is_error);
    ask(&world, "drop", "{\"filter\":{\"to\":\"bob\"}}", &asked);
    CHECK_INT(check_shape("drop", &asked), 1);
    ask(&world, "drop", "{\"filter\":{}}", &asked);
    CHECK(is_code(&asked, "invalid_argument"));
    ask(&world, "drop", "{\"filter\":{\"limit\":1}}", &asked);
    CHECK(is_code(&asked, "invalid_argument"));
    ask(&world, "activity", "{\"type\":\"order\"}", &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "drop") == NULL); /* nothing has changed */
    ask(&world, "drop", "{\"filter\":{\"to\":\"ann\"},\"expected\":2}", &asked);
    CHECK_INT(check_shape("drop", &asked), 1);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"count\":2") != NULL);
    CHECK_INT(count_orders(&world, "{\"by\":\"owner\",\"op\":\"drop\",\"target\":{\"to\":\"ann\"}}",
                           &asked),
              1);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

int main(void)
{
    RUN(every_operation_is_declared_in_full);
    RUN(the_parameters_of_a_send_are_the_fields_of_a_message);
    RUN(every_bad_value_of_every_parameter_is_refused);
    RUN(every_answer_has_the_declared_shape);
    RUN(a_change_leaves_an_order_in_its_batch);
    RUN(a_caller_does_what_its_scopes_allow);
    RUN(one_who_speaks_as_an_agent_sees_and_does_only_what_is_its_own);
    RUN(a_strict_call_has_no_unknown_parameters);
    RUN(a_refusal_says_what_the_parameter_must_be);
    RUN(a_refusal_says_which_parameters_do_not_go_together);
    RUN(an_id_that_no_message_can_have_is_not_found);
    RUN(a_parameter_is_found_behind_any_number_of_others);
    RUN(a_dropped_call_is_done_and_not_answered);
    RUN(an_intake_tells_where_it_went_and_what_was_replied);
    RUN(an_intake_that_waits_has_the_same_answer_when_it_is_repeated);
    RUN(the_person_may_terminate_every_agent_but_two);
    RUN(the_person_may_cancel_every_task);
    RUN(an_order_about_dead_letters_is_noted_when_it_is_done);
    return check_done();
}

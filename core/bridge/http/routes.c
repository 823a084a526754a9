#include "bridge/http/routes.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "kernel/operations/catalogue.h"
#include "net/url.h"
#include "parts/table.h"

#define API "/api/v1"

static const struct soc_route_alias of_agent[] = {{"id", "agent"}, {NULL, NULL}};
static const struct soc_route_alias of_message[] = {{"id", "message_id"}, {NULL, NULL}};
static const struct soc_route_alias of_replay[] = {{"id", "replay_id"}, {NULL, NULL}};
static const struct soc_route_alias of_task[] = {{"id", "task"}, {NULL, NULL}};
static const struct soc_route_alias of_item[] = {{"id", "item_id"}, {NULL, NULL}};
static const struct soc_route_alias of_feature[] = {{"id", "feature"}, {NULL, NULL}};

#define GET    .method = "GET"
#define POST   .method = "POST"
#define PUT    .method = "PUT"
#define DELETE .method = "DELETE"

/* A path that fits several takes the first. */
#define OWN(kind, form) .own = SOC_ROUTE_##kind, .shape = SOC_ROUTE_##form
#define ONE(name)       .operation = name, .shape = SOC_ROUTE_ONE
#define LIST(name)      .operation = name, .shape = SOC_ROUTE_LIST
#define NONE(name)      .operation = name, .shape = SOC_ROUTE_NONE
#define TEXT(name)      .operation = name, .shape = SOC_ROUTE_TEXT
#define LINES(name)     .operation = name, .shape = SOC_ROUTE_LINES

/* A path that fits several takes the first. */
/* clang-format off */
static const struct soc_route routes[] = {
    {GET, .path = "/healthz", OWN(HEALTH, ONE), .summary = "whether the society runs"},
    {GET, .path = "/login", OWN(LOGIN, NONE), .status = 303,
     .summary = "exchanges the code of `society open` for a cookie"},
    {GET, .path = "/metrics", OWN(METRICS, NONE),
     .summary = "figures of the society, in the text format of Prometheus"},
    {GET, .path = "/openapi.json", OWN(OPENAPI, ONE), .summary = "these routes, as OpenAPI 3.1"},
    {GET, .path = API "/events", OWN(EVENTS, NONE),
     .summary = "events as they happen, as Server-Sent Events"},
    {GET, .path = "/ws", OWN(WEBSOCKET, NONE), .status = 101,
     .summary = "the same over a WebSocket, which only pushes"},

    {POST, .path = API "/intake", ONE("intake"), .status = 202, .done = "reply"},
    {POST, .path = API "/messages", ONE("send"), .status = 202, .done = "duplicate"},
    {GET, .path = API "/messages", LIST("messages")},
    {GET, .path = API "/messages/{id}", ONE("message"), .aliases = of_message},
    {POST, .path = API "/messages/{id}/ack", ONE("ack"), .aliases = of_message},

    {GET, .path = API "/agents", LIST("agents")},
    {GET, .path = API "/agents/tree", LIST("tree")},
    {GET, .path = API "/agents/{id}", ONE("agent"), .aliases = of_agent},
    {GET, .path = API "/agents/{id}/contacts", LIST("contacts"), .aliases = of_agent},
    {GET, .path = API "/agents/{id}/context", ONE("context"), .aliases = of_agent},
    {GET, .path = API "/agents/{id}/load", ONE("load"), .aliases = of_agent},
    {GET, .path = API "/agents/{id}/queue", ONE("queue"), .aliases = of_agent},
    {GET, .path = API "/agents/{id}/conversation", ONE("conversation"), .aliases = of_agent},
    {GET, .path = API "/agents/{id}/mail", LIST("mail"), .aliases = of_agent},
    {GET, .path = API "/agents/{id}/why", LIST("why"), .aliases = of_agent},
    {POST, .path = API "/agents/{id}/pause", ONE("pause"), .aliases = of_agent},
    {POST, .path = API "/agents/{id}/resume", ONE("resume"), .aliases = of_agent},
    {DELETE, .path = API "/agents/{id}", ONE("terminate"), .aliases = of_agent},

    {GET, .path = API "/roles", LIST("roles")},
    {GET, .path = API "/contacts", LIST("contacts")},
    {GET, .path = API "/tasks", LIST("tasks")},
    {GET, .path = API "/tasks/{id}", LIST("task"), .aliases = of_task},
    {POST, .path = API "/tasks/{id}/cancel", LIST("cancel"), .aliases = of_task},

    {GET, .path = API "/inbox", LIST("inbox")},
    {GET, .path = API "/inbox/{id}", ONE("item"), .aliases = of_item},
    {POST, .path = API "/inbox/{id}/decision", ONE("decide"), .aliases = of_item},
    {POST, .path = API "/pm/features/{id}/decision", ONE("decide_feature"), .aliases = of_feature},

    {GET, .path = API "/dead-letters", LIST("dead_letters")},
    {POST, .path = API "/dead-letters/redeliver", ONE("redeliver")},
    {POST, .path = API "/dead-letters/drop", ONE("drop")},
    {POST, .path = API "/dead-letters/{id}/redeliver", ONE("redeliver"), .aliases = of_message},
    {DELETE, .path = API "/dead-letters/{id}", ONE("drop"), .aliases = of_message},

    {GET, .path = API "/activity", LIST("activity")},
    {GET, .path = API "/at", ONE("at")},
    {GET, .path = API "/waits", LIST("waits")},
    {GET, .path = API "/stats", ONE("stats")},
    {GET, .path = API "/usage", LIST("usage")},
    {GET, .path = API "/usage/budgets", LIST("budgets")},
    {GET, .path = API "/policies", LIST("policies")},
    {GET, .path = API "/policies/{kind}", ONE("policy_kind")},
    {PUT, .path = API "/policies/{kind}", LIST("swap")},
    {POST, .path = API "/replays", ONE("replay"), .status = 202},
    {GET, .path = API "/replays/{id}", ONE("replay_result"), .aliases = of_replay},
    {GET, .path = API "/export/org-json", ONE("registries")},
    {GET, .path = API "/export/dot", TEXT("dot"), .type = "text/vnd.graphviz; charset=utf-8"},
    {GET, .path = API "/export/mermaid", TEXT("mermaid"), .type = "text/plain; charset=utf-8"},
    {GET, .path = API "/export/jsonl", LINES("rows"), .type = "application/jsonl; charset=utf-8"},
    {POST, .path = API "/stop", NONE("stop"), .status = 202},
};
/* clang-format on */

#define ROUTE_COUNT (sizeof(routes) / sizeof(routes[0]))

const struct soc_route *soc_routes_at(size_t index)
{
    return index < ROUTE_COUNT ? &routes[index] : NULL;
}

const struct soc_operation *soc_routes_operation(const struct soc_route *route)
{
    if (route->operation == NULL)
        return NULL;
    const struct soc_operation *operation =
        soc_catalogue_find(soc_part_table, soc_slice_text(route->operation));
    assert(operation != NULL);
    return operation;
}

unsigned soc_routes_scope(const struct soc_route *route)
{
    if (route->operation != NULL)
        return soc_routes_operation(route)->scope;
    return route->own == SOC_ROUTE_HEALTH || route->own == SOC_ROUTE_LOGIN
               ? 0
               : (unsigned)SOC_SCOPE_READ;
}

static bool is_variable(struct soc_slice segment)
{
    return segment.length > 2 && segment.data[0] == '{';
}

static bool fits(const char *pattern, struct soc_slice path)
{
    struct soc_slice wanted = soc_slice_text(pattern);
    for (;;) {
        struct soc_slice left = soc_url_segment(&wanted);
        struct soc_slice right = soc_url_segment(&path);
        if (left.data == NULL || right.data == NULL)
            return left.data == NULL && right.data == NULL;
        if (is_variable(left) ? right.length == 0 : !soc_slice_equal(left, right))
            return false;
    }
}

const struct soc_route *soc_routes_find(struct soc_slice method, struct soc_slice path,
                                        struct soc_buf *allow)
{
    struct soc_slice wanted =
        soc_slice_equal(method, SOC_SLICE("HEAD")) ? SOC_SLICE("GET") : method;
    allow->length = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (!fits(routes[i].path, path))
            continue;
        if (soc_slice_equal(wanted, soc_slice_text(routes[i].method)))
            return &routes[i];
        soc_buf_printf(allow, "%s%s", allow->length == 0 ? "" : ", ", routes[i].method);
    }
    return NULL;
}

const char *soc_routes_param(const struct soc_route *route, const char *name)
{
    for (const struct soc_route_alias *alias = route->aliases; alias != NULL && alias->name != NULL;
         alias++)
        if (strcmp(alias->name, name) == 0)
            return alias->param;
    return name;
}

static const struct soc_param *find_param(const struct soc_operation *operation, const char *name)
{
    const struct soc_param *param;
    for (size_t i = 0; (param = soc_operation_param(operation, i)) != NULL; i++)
        if (strcmp(param->name, name) == 0 ||
            (param->alias != NULL && strcmp(param->alias, name) == 0))
            return param;
    return NULL;
}

/* Reading a request. */
struct reading {
    const struct soc_route *route;
    const struct soc_operation *operation;
    struct soc_buf *out; /* an object without its end */
    struct soc_buf *fault;
};

static bool is_one_of(struct soc_slice text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (soc_slice_equal(text, soc_slice_text(*words)))
            return true;
    return false;
}

/* Appends a text as the JSON value that its parameter takes; what does not fit stays a text,
 * which the operation refuses. */
static void put_value(struct soc_buf *out, const struct soc_param *param, struct soc_slice text)
{
    static const char *const yes[] = {"", "1", "true", NULL};
    static const char *const no[] = {"0", "false", NULL};
    enum soc_param_kind kind = param == NULL ? SOC_PARAM_TEXT : param->kind;
    bool is_json = text.length > 0 && soc_json_check(text, NULL) == SOC_OK;
    bool is_number = is_json && soc_json_kind(text) == SOC_JSON_NUMBER;
    bool is_raw = false;
    switch (kind) {
    case SOC_PARAM_FLAG:
        if (is_one_of(text, yes) || is_one_of(text, no)) {
            soc_buf_put_text(out, is_one_of(text, yes) ? "true" : "false");
            return;
        }
        break;
    case SOC_PARAM_INTEGER:
    case SOC_PARAM_NUMBER:
    case SOC_PARAM_TIME:
        is_raw = is_number;
        break;
    case SOC_PARAM_JSON:
    case SOC_PARAM_OBJECT:
    case SOC_PARAM_LIST:
        is_raw = is_json;
        break;
    default:
        break;
    }
    if (is_raw)
        soc_buf_put_slice(out, text);
    else
        soc_json_put_string(out, text);
}

/* Begins member `name`, a text; false if there is one already. */
static bool put_name(struct reading *reading, const char *name)
{
    const char *param = soc_routes_param(reading->route, name);
    soc_buf_put_byte(reading->out, '}');
    bool is_new = soc_json_member(soc_buf_slice(reading->out), param).data == NULL;
    reading->out->length--;
    if (is_new) {
        if (reading->out->length > 1)
            soc_buf_put_byte(reading->out, ',');
        soc_json_put_string(reading->out, soc_slice_text(param));
        soc_buf_put_byte(reading->out, ':');
    }
    return is_new;
}

/* Appends a member whose name and value are encoded as in a URL. */
static bool put_text(struct reading *reading, struct soc_slice name, struct soc_slice value,
                     bool is_query)
{
    struct soc_buf names = {0};
    struct soc_buf values = {0};
    bool is_put = soc_url_decode(name, is_query, &names) &&
                  soc_url_decode(value, is_query, &values) &&
                  put_name(reading, soc_buf_text(&names));
    if (is_put) {
        const char *param = soc_routes_param(reading->route, soc_buf_text(&names));
        put_value(reading->out, find_param(reading->operation, param), soc_buf_slice(&values));
    } else {
        soc_buf_put_slice(reading->fault, names.length > 0 ? soc_buf_slice(&names) : name);
    }
    soc_buf_fini(&names);
    soc_buf_fini(&values);
    return is_put;
}

static bool read_path(struct reading *reading, struct soc_slice path)
{
    struct soc_slice pattern = soc_slice_text(reading->route->path);
    struct soc_slice segment;
    while ((segment = soc_url_segment(&pattern)).data != NULL) {
        struct soc_slice value = soc_url_segment(&path);
        if (is_variable(segment) &&
            !put_text(reading, soc_slice(segment.data + 1, segment.length - 2), value, false))
            return false;
    }
    return true;
}

static bool read_query(struct reading *reading, struct soc_slice query)
{
    struct soc_url_walk walk;
    soc_url_walk(&walk, query);
    while (soc_url_next(&walk))
        if (!put_text(reading, walk.name, walk.value, true))
            return false;
    return true;
}

/* Appends the members of the body, each under the name of its parameter. */
static bool read_body(struct reading *reading, struct soc_slice body)
{
    struct soc_json_walk walk;
    struct soc_buf name = {0};
    bool is_read = true;
    soc_json_walk(&walk, body);
    while (is_read && soc_json_next(&walk)) {
        name.length = 0;
        soc_buf_put_byte(&name, '"');
        soc_buf_put_slice(&name, walk.name);
        soc_buf_put_byte(&name, '"');
        struct soc_slice quoted = soc_buf_slice(&name);
        struct soc_buf text = {0};
        is_read = soc_json_string(quoted, &text) &&
                  (text.length == 0 || memchr(text.data, '\0', text.length) == NULL) &&
                  put_name(reading, soc_buf_text(&text));
        if (is_read)
            soc_buf_put_slice(reading->out, walk.value);
        else
            soc_buf_put_slice(reading->fault, soc_buf_slice(&text));
        soc_buf_fini(&text);
    }
    soc_buf_fini(&name);
    return is_read;
}

bool soc_routes_read(const struct soc_route *route, struct soc_slice path, struct soc_slice query,
                     struct soc_slice body, struct soc_buf *out, struct soc_buf *fault)
{
    struct reading reading = {
        .route = route, .operation = soc_routes_operation(route), .out = out, .fault = fault};
    assert(out->length == 0 && reading.operation != NULL);
    soc_buf_put_byte(out, '{');
    bool is_read = read_path(&reading, path) && read_query(&reading, query) &&
                   (body.data == NULL || read_body(&reading, body));
    soc_buf_put_byte(out, '}');
    return is_read;
}

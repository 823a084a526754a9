#include "bridge/http/routes.h"

#include "base/json.h"
#include "check.h"

static const struct soc_route *find(const char *method, const char *path, const char *allowed)
{
    struct soc_buf allow = {0};
    const struct soc_route *route =
        soc_routes_find(soc_slice_text(method), soc_slice_text(path), &allow);
    if (route == NULL)
        CHECK_TEXT(soc_buf_text(&allow), allowed);
    soc_buf_fini(&allow);
    return route;
}

static void expect_operation(const char *method, const char *path, const char *operation)
{
    const struct soc_route *route = find(method, path, "");
    if (!CHECK(route != NULL && route->operation != NULL &&
               strcmp(route->operation, operation) == 0))
        printf("# %s %s\n", method, path);
}

static void a_path_finds_its_route(void)
{
    expect_operation("GET", "/api/v1/agents", "agents");
    expect_operation("HEAD", "/api/v1/agents", "agents");
    expect_operation("DELETE", "/api/v1/agents/x", "terminate");
    expect_operation("POST", "/api/v1/dead-letters/redeliver", "redeliver");
    expect_operation("POST", "/api/v1/inbox/item/decision", "decide");
    CHECK(find("GET", "/healthz", "")->own == SOC_ROUTE_HEALTH);
    CHECK(find("GET", "/api/v1/agents/", "") == NULL);
    CHECK(find("GET", "/api/v1/agents//load", "") == NULL);
    CHECK(find("GET", "/api/v2/agents", "") == NULL);
    CHECK(find("GET", "/", "") == NULL);
    CHECK(find("GET", "", "") == NULL);
    CHECK(find("POST", "/api/v1/stats", "GET") == NULL);
    CHECK(find("PATCH", "/api/v1/agents/x", "GET, DELETE") == NULL);
    CHECK(find("get", "/api/v1/agents", "GET") == NULL);
}

static void every_route_names_an_operation_and_its_parameter(void)
{
    const struct soc_route *route;
    size_t i = 0;
    for (; (route = soc_routes_at(i)) != NULL; i++) {
        const struct soc_operation *operation = soc_routes_operation(route);
        CHECK((operation == NULL) == (route->own != SOC_ROUTE_OPERATION));
        CHECK(operation != NULL || route->summary != NULL);
        const char *begin = strchr(route->path, '{');
        if (operation == NULL || begin == NULL)
            continue;
        char name[64] = {0};
        memcpy(name, begin + 1, strcspn(begin + 1, "}"));
        const struct soc_param *param;
        bool is_found = false;
        for (size_t k = 0; (param = soc_operation_param(operation, k)) != NULL; k++)
            is_found |= strcmp(param->name, soc_routes_param(route, name)) == 0;
        if (!CHECK(is_found))
            printf("# %s: %s\n", route->path, name);
    }
    CHECK(i > 20);
}

static void expect_read(const char *method, const char *path, const char *query, const char *body,
                        const char *wanted)
{
    const struct soc_route *route = find(method, path, "");
    struct soc_buf out = {0};
    struct soc_buf fault = {0};
    CHECK(soc_routes_read(route, soc_slice_text(path), soc_slice_text(query), soc_slice_text(body),
                          &out, &fault));
    CHECK_TEXT(soc_buf_text(&out), wanted);
    CHECK_INT(soc_json_check(soc_buf_slice(&out), NULL), SOC_OK);
    soc_buf_fini(&out);
    soc_buf_fini(&fault);
}

static void expect_fault(const char *method, const char *path, const char *query, const char *body,
                         const char *wanted)
{
    const struct soc_route *route = find(method, path, "");
    struct soc_buf out = {0};
    struct soc_buf fault = {0};
    CHECK(!soc_routes_read(route, soc_slice_text(path), soc_slice_text(query), soc_slice_text(body),
                           &out, &fault));
    CHECK_TEXT(soc_buf_text(&fault), wanted);
    soc_buf_fini(&out);
    soc_buf_fini(&fault);
}

static void path_query_and_body_become_parameters(void)
{
    expect_read("GET", "/api/v1/agents", NULL, NULL, "{}");
    expect_read("GET", "/api/v1/agents/a%20b/load", NULL, NULL, "{\"agent\":\"a b\"}");
    expect_read("GET", "/api/v1/activity", "limit=5&agent=x%22y&since=12", NULL,
                "{\"limit\":5,\"agent\":\"x\\\"y\",\"since\":12}");
    expect_read("GET", "/api/v1/activity", "limit=x&agent=5", NULL,
                "{\"limit\":\"x\",\"agent\":\"5\"}");
    expect_read("DELETE", "/api/v1/agents/x", "force", NULL, "{\"agent\":\"x\",\"force\":true}");
    expect_read("DELETE", "/api/v1/agents/x", "force=0", NULL, "{\"agent\":\"x\",\"force\":false}");
    expect_read("DELETE", "/api/v1/agents/x", "force=no", NULL,
                "{\"agent\":\"x\",\"force\":\"no\"}");
    expect_read("POST", "/api/v1/agents/x/pause", NULL, " { \"subtree\" : true } ",
                "{\"agent\":\"x\",\"subtree\":true}");
    expect_read("POST", "/api/v1/inbox/i/decision", NULL,
                "{\"action\":\"approve\",\"feedback\":\"fine\"}",
                "{\"item_id\":\"i\",\"action\":\"approve\",\"feedback\":\"fine\"}");
    expect_read("GET", "/api/v1/stats", "what=1", NULL, "{\"what\":\"1\"}");
}

static void what_is_given_twice_or_malformed_is_a_fault(void)
{
    expect_fault("GET", "/api/v1/activity", "limit=5&limit=6", NULL, "limit");
    expect_fault("GET", "/api/v1/activity", "agent=%ff", NULL, "agent");
    expect_fault("GET", "/api/v1/activity", "%ff=1", NULL, "%ff");
    expect_fault("GET", "/api/v1/agents/%zz/load", NULL, NULL, "id");
    expect_fault("POST", "/api/v1/agents/x/pause", NULL, "{\"agent\":\"y\"}", "agent");
    expect_fault("POST", "/api/v1/agents/x/pause", NULL, "{\"id\":\"y\"}", "id");
    expect_fault("POST", "/api/v1/agents/x/pause", "subtree", "{\"subtree\":true}", "subtree");
}

int main(void)
{
    RUN(a_path_finds_its_route);
    RUN(every_route_names_an_operation_and_its_parameter);
    RUN(path_query_and_body_become_parameters);
    RUN(what_is_given_twice_or_malformed_is_a_fault);
    return check_done();
}

#include "bridge/http/door_state.h"
#include "kernel/refusal.h"

static bool check_names(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_slice origin = soc_server_header(request, "Origin");
    if (!soc_hosts_has(&door->hosts, soc_server_header(request, "Host"))) {
        soc_door_refuse(door, request, 403, "forbidden",
                        "this host name is not allowed; web.hosts lists the names that are");
        return false;
    }
    if (origin.data != NULL && !soc_hosts_has_origin(&door->hosts, origin)) {
        soc_door_refuse(door, request, 403, "forbidden",
                        "this origin is not allowed; web.hosts lists the names that are");
        return false;
    }
    return true;
}

/* Answers what needs no token; false if the path is not such. */
static bool respond_publicly(struct soc_door *door, struct soc_server_request *request)
{
    struct soc_slice path = soc_server_path(request);
    if (!soc_door_is_look(request))
        return false;
    if (soc_slice_equal(path, SOC_SLICE("/healthz")))
        soc_door_respond_health(door, request);
    else if (soc_slice_equal(path, SOC_SLICE("/login")))
        soc_door_respond_login(door, request);
    else
        return soc_door_respond_page(door, request);
    return true;
}

static bool check_entry(struct soc_door *door, struct soc_server_request *request,
                        struct soc_visitor *visitor)
{
    switch (soc_entry_check(door->entry, request, visitor)) {
    case SOC_ENTRY_GRANTED:
        soc_server_trust(request);
        return true;
    case SOC_ENTRY_MISSING:
        soc_door_refuse(
            door, request, 401, "missing_token",
            "send the header Authorization: Bearer TOKEN; the owner's is in STATE/http.token");
        return false;
    case SOC_ENTRY_WRONG:
        door->metrics.refused++;
        soc_door_refuse(door, request, 401, "wrong_token",
                        "this token is not valid; `society token list` shows whose are");
        return false;
    case SOC_ENTRY_LIMITED:
        break;
    }
    door->metrics.refused++;
    soc_door_refuse(door, request, 429, "too_many_tries",
                    "too many wrong tokens came from this address; wait a minute");
    return false;
}

static const struct soc_route *check_route(struct soc_door *door,
                                           struct soc_server_request *request)
{
    struct soc_buf allow = {0};
    const struct soc_route *route =
        soc_routes_find(soc_server_method(request), soc_server_path(request), &allow);
    if (route == NULL && allow.length > 0) {
        struct soc_buf error = {0};
        soc_refuse_named(&error, "method_not_allowed", "the path does not have this method");
        soc_buf_put_byte(&error, '\n');
        soc_door_respond(door, request, 405,
                         (struct soc_server_header){"Allow", soc_buf_text(&allow)},
                         soc_buf_slice(&error));
        soc_buf_fini(&error);
    } else if (route == NULL) {
        soc_door_refuse(door, request, 404, "path_not_found",
                        "there is no such path; see /openapi.json");
    }
    soc_buf_fini(&allow);
    return route;
}

/* A cookie comes along with whatever any page makes a browser send, so a change needs what
 * only a page of ours can add. */
static bool check_scope(struct soc_door *door, struct soc_server_request *request,
                        const struct soc_route *route, const struct soc_operation *operation,
                        const struct soc_visitor *visitor)
{
    unsigned scope = operation == NULL ? soc_routes_scope(route) : operation->scope;
    bool is_barred = visitor->agent[0] != '\0' && (operation == NULL || !operation->is_for_agents);
    if (scope != 0 && ((visitor->scopes & scope) == 0 || is_barred)) {
        soc_door_refuse(door, request, 403, "forbidden",
                        is_barred ? "a token of an agent may not do that"
                                  : "the token lacks the scope for that; /openapi.json names it");
        return false;
    }
    if (visitor->is_by_cookie && !soc_door_is_look(request) &&
        (!soc_slice_equal(soc_server_header(request, "X-Society"), SOC_SLICE("1")) ||
         soc_server_header(request, "Origin").data == NULL)) {
        soc_door_refuse(door, request, 403, "forbidden",
                        "a change by cookie needs the header X-Society: 1 and an Origin");
        return false;
    }
    return true;
}

void soc_door_on_head(void *user, struct soc_server_request *request)
{
    struct soc_door *door = user;
    struct soc_visitor visitor;
    const struct soc_route *route;
    if (!check_names(door, request) || respond_publicly(door, request) ||
        !check_entry(door, request, &visitor))
        return;
    route = check_route(door, request);
    if (route == NULL)
        return;
    const struct soc_operation *operation = soc_routes_operation(route);
    if (check_scope(door, request, route, operation, &visitor))
        soc_exchange_new(door, request, route, operation, &visitor);
}

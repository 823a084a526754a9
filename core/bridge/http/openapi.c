#include "bridge/http/openapi.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/version.h"
#include "bridge/http/routes.h"
#include "bridge/http/streams.h"

static void put_text(struct soc_buf *out, const char *name, const char *text)
{
    soc_json_put_text_member(out, name, soc_slice_text(text));
}

/* Begins a member that is an object. */
static void open_member(struct soc_buf *out, const char *name)
{
    soc_json_put_name(out, name);
    soc_buf_put_byte(out, '{');
}

static void close_object(struct soc_buf *out)
{
    soc_buf_put_byte(out, '}');
}

static void put_bounds(struct soc_buf *out, const struct soc_param *param, const char *least,
                       const char *most)
{
    if (param->least == 0 && param->most == 0)
        return;
    soc_json_put_name(out, least);
    soc_json_put_integer(out, param->least);
    if (param->most == INT64_MAX)
        return;
    soc_json_put_name(out, most);
    soc_json_put_integer(out, param->most);
}

static void put_choices(struct soc_buf *out, const struct soc_param *param)
{
    if (param->choices == NULL)
        return;
    soc_json_put_name(out, "enum");
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; param->choices[i] != NULL; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_slice_text(param->choices[i]));
    }
    soc_buf_put_byte(out, ']');
}

/* Appends the members of the schema of a parameter or of a member of an answer. */
static void put_kind(struct soc_buf *out, const struct soc_param *param, bool is_input)
{
    switch (param->kind) {
    case SOC_PARAM_TEXT:
        put_text(out, "type", "string");
        if (is_input && param->most > 0) {
            soc_json_put_name(out, "maxLength");
            soc_json_put_integer(out, param->most);
        }
        put_choices(out, param);
        break;
    case SOC_PARAM_ID:
        put_text(out, "type", "string");
        break;
    case SOC_PARAM_INTEGER:
        put_text(out, "type", "integer");
        put_bounds(out, param, "minimum", "maximum");
        break;
    case SOC_PARAM_NUMBER:
        put_text(out, "type", "number");
        put_bounds(out, param, "minimum", "maximum");
        break;
    case SOC_PARAM_FLAG:
        put_text(out, "type", "boolean");
        break;
    case SOC_PARAM_TIME:
        if (is_input) {
            soc_json_put_name(out, "type");
            soc_buf_put_text(out, "[\"string\",\"integer\"]");
        } else {
            put_text(out, "type", "string");
        }
        put_text(out, "format", "date-time");
        break;
    case SOC_PARAM_CHOICE:
        put_text(out, "type", "string");
        put_choices(out, param);
        break;
    case SOC_PARAM_OBJECT:
        put_text(out, "type", "object");
        break;
    case SOC_PARAM_LIST:
        put_text(out, "type", "array");
        break;
    case SOC_PARAM_RECEIVER:
        soc_json_put_name(out, "type");
        soc_buf_put_text(out, "[\"string\",\"array\"]");
        break;
    case SOC_PARAM_JSON:
    case SOC_PARAM_KIND_COUNT:
        break;
    }
}

static void put_property(struct soc_buf *out, const char *name, const struct soc_param *param,
                         bool is_input)
{
    open_member(out, name);
    put_kind(out, param, is_input);
    put_text(out, "description", param->summary);
    close_object(out);
}

/* Tells whether a parameter is part of the path. */
static bool is_in_path(const struct soc_route *route, const char *name)
{
    const char *begin = strchr(route->path, '{');
    char variable[64];
    if (begin == NULL)
        return false;
    size_t length = strcspn(begin + 1, "}");
    if (length >= sizeof(variable))
        return false;
    memcpy(variable, begin + 1, length);
    variable[length] = '\0';
    return strcmp(soc_routes_param(route, variable), name) == 0;
}

static void put_parameter(struct soc_buf *out, const char *name, const char *place,
                          const struct soc_param *param)
{
    if (out->data[out->length - 1] != '[')
        soc_buf_put_byte(out, ',');
    soc_buf_put_byte(out, '{');
    put_text(out, "name", name);
    put_text(out, "in", place);
    if (param->is_needed || strcmp(place, "path") == 0)
        soc_buf_put_text(out, ",\"required\":true");
    put_text(out, "description", param->summary);
    open_member(out, "schema");
    put_kind(out, param, true);
    close_object(out);
    close_object(out);
}

static bool has_body(const struct soc_route *route)
{
    return route->method[0] == 'P'; /* POST, PUT */
}

/* Appends the parameters in the path, in the query of a route without a body, and headers. */
static void put_parameters(struct soc_buf *out, const struct soc_route *route,
                           const struct soc_operation *operation)
{
    const struct soc_param *param;
    const char *begin = strchr(route->path, '{');
    soc_json_put_name(out, "parameters");
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; operation != NULL && (param = soc_operation_param(operation, i)) != NULL;
         i++) {
        if (is_in_path(route, param->name)) {
            char variable[64] = {0};
            memcpy(variable, begin + 1, strcspn(begin + 1, "}"));
            put_parameter(out, variable, "path", param);
        } else if (!has_body(route)) {
            put_parameter(out, param->name, "query", param);
        }
    }
    if (strcmp(route->method, "POST") == 0)
        put_parameter(out, "Idempotency-Key", "header",
                      &(const struct soc_param){
                          .most = 256,
                          .summary = "a second call with this key gets the answer of the first"});
    for (const struct soc_param *each = soc_stream_params;
         (route->own == SOC_ROUTE_EVENTS || route->own == SOC_ROUTE_WEBSOCKET) &&
         each->name != NULL;
         each++)
        put_parameter(out, each->name, "query", each);
    if (route->own == SOC_ROUTE_LOGIN)
        put_parameter(out, "code", "query",
                      &(const struct soc_param){.is_needed = true,
                                                .summary = "what `society open` has printed"});
    soc_buf_put_byte(out, ']');
}

/* Appends the schema of the objects with these members. */
static void put_members(struct soc_buf *out, const struct soc_operation *operation,
                        const struct soc_param *(*at)(const struct soc_operation *, size_t),
                        const struct soc_route *input)
{
    const struct soc_param *param;
    struct soc_buf needed = {0};
    put_text(out, "type", "object");
    open_member(out, "properties");
    for (size_t i = 0; (param = at(operation, i)) != NULL; i++) {
        if (input != NULL && is_in_path(input, param->name))
            continue;
        put_property(out, param->name, param, input != NULL);
        if (input != NULL && param->alias != NULL)
            put_property(out, param->alias, param, true);
        if (param->is_needed && (input == NULL || param->alias == NULL)) {
            if (needed.length > 0)
                soc_buf_put_byte(&needed, ',');
            soc_json_put_string(&needed, soc_slice_text(param->name));
        }
        for (const struct soc_route_alias *alias = input == NULL ? NULL : input->aliases;
             alias != NULL && alias->name != NULL; alias++)
            if (strcmp(alias->param, param->name) == 0)
                put_property(out, alias->name, param, true);
    }
    close_object(out);
    if (needed.length > 0) {
        soc_json_put_name(out, "required");
        soc_buf_put_byte(out, '[');
        soc_buf_put_slice(out, soc_buf_slice(&needed));
        soc_buf_put_byte(out, ']');
    }
    soc_buf_fini(&needed);
    if (input != NULL)
        soc_buf_put_text(out, ",\"additionalProperties\":false");
}

static void put_body(struct soc_buf *out, const struct soc_route *route,
                     const struct soc_operation *operation)
{
    if (!has_body(route) || operation == NULL)
        return;
    open_member(out, "requestBody");
    open_member(out, "content");
    open_member(out, "application/json");
    open_member(out, "schema");
    put_members(out, operation, soc_operation_param, route);
    soc_buf_put_text(out, "}}}}");
}

/* Appends a number of a page, null where there is none. */
static void put_cursor(struct soc_buf *out, const char *name, const char *summary)
{
    open_member(out, name);
    soc_buf_put_text(out, "\"type\":[\"integer\",\"null\"]");
    put_text(out, "description", summary);
    close_object(out);
}

static void put_schema(struct soc_buf *out, const struct soc_route *route,
                       const struct soc_operation *operation)
{
    open_member(out, "schema");
    if (route->shape == SOC_ROUTE_LIST) {
        soc_buf_put_text(out, "\"type\":\"object\",\"required\":[\"items\"],\"properties\":{"
                              "\"items\":{\"type\":\"array\",\"items\":{");
        put_members(out, operation, soc_operation_member, NULL);
        soc_buf_put_text(out, "}}");
        put_cursor(out, "next", "`after` of the next page");
        put_cursor(out, "previous", "`before` of the page before");
        put_cursor(out, "as_of", "the last line that it shows");
        close_object(out);
    } else if (operation != NULL && route->shape == SOC_ROUTE_ONE) {
        put_members(out, operation, soc_operation_member, NULL);
    } else {
        put_text(out, "type", "object");
    }
    close_object(out);
}

static const char *type_of(const struct soc_route *route)
{
    if (route->type != NULL)
        return route->type;
    switch (route->own) {
    case SOC_ROUTE_METRICS:
        return "text/plain";
    case SOC_ROUTE_EVENTS:
        return "text/event-stream";
    default:
        return "application/json";
    }
}

static void put_response(struct soc_buf *out, int status, const struct soc_route *route,
                         const struct soc_operation *operation)
{
    char code[8];
    snprintf(code, sizeof(code), "%d", status);
    open_member(out, code);
    put_text(out, "description",
             status == 303   ? "the cookie is set"
             : status == 101 ? "the connection is a WebSocket"
                             : "done");
    if (status != 303 && status != 101) {
        open_member(out, "content");
        open_member(out, type_of(route));
        if (strcmp(type_of(route), "application/json") == 0)
            put_schema(out, route, operation);
        soc_buf_put_text(out, "}}");
    }
    close_object(out);
}

static void put_responses(struct soc_buf *out, const struct soc_route *route,
                          const struct soc_operation *operation)
{
    int status = route->status == 0 ? 200 : route->status;
    open_member(out, "responses");
    put_response(out, status, route, operation);
    if (route->done != NULL && status != 200)
        put_response(out, 200, route, operation);
    open_member(out, "default");
    soc_buf_put_text(out, "\"$ref\":\"#/components/responses/Error\"");
    close_object(out);
    close_object(out);
}

/* The id of a route: its method and path without signs, get_agents_id_load. */
static void put_id(struct soc_buf *out, const struct soc_route *route)
{
    struct soc_buf id = {0};
    const char *path = strncmp(route->path, "/api/v1", 7) == 0 ? route->path + 7 : route->path;
    for (const char *c = route->method; *c != '\0'; c++)
        soc_buf_put_byte(&id, (char)(*c | 32));
    for (const char *c = path; *c != '\0'; c++)
        if (*c != '{' && *c != '}')
            soc_buf_put_byte(&id, *c == '/' || *c == '-' || *c == '.' ? '_' : *c);
    soc_json_put_text_member(out, "operationId", soc_buf_slice(&id));
    soc_buf_fini(&id);
}

static void put_route(struct soc_buf *out, const struct soc_route *route)
{
    const struct soc_operation *operation = soc_routes_operation(route);
    unsigned scope = soc_routes_scope(route);
    struct soc_buf method = {0};
    for (const char *c = route->method; *c != '\0'; c++)
        soc_buf_put_byte(&method, (char)(*c | 32));
    open_member(out, soc_buf_text(&method));
    soc_buf_fini(&method);
    put_id(out, route);
    put_text(out, "summary", route->summary != NULL ? route->summary : operation->summary);
    if (operation != NULL)
        put_text(out, "x-operation", operation->name);
    if (scope != 0)
        put_text(out, "x-scope", soc_scope_name((enum soc_scope)scope));
    else
        soc_buf_put_text(out, ",\"security\":[]");
    put_parameters(out, route, operation);
    put_body(out, route, operation);
    put_responses(out, route, operation);
    close_object(out);
}

/* Tells whether an earlier route has the same path: then it is there already. */
static bool is_repeated(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(soc_routes_at(i)->path, soc_routes_at(index)->path) == 0)
            return true;
    return false;
}

static void put_paths(struct soc_buf *out)
{
    const struct soc_route *route;
    open_member(out, "paths");
    for (size_t i = 0; (route = soc_routes_at(i)) != NULL; i++) {
        if (is_repeated(i))
            continue;
        open_member(out, route->path);
        for (size_t k = i; soc_routes_at(k) != NULL; k++)
            if (strcmp(soc_routes_at(k)->path, route->path) == 0)
                put_route(out, soc_routes_at(k));
        close_object(out);
    }
    close_object(out);
}

static void put_components(struct soc_buf *out, const char *cookie)
{
    soc_buf_put_text(
        out, ",\"components\":{\"schemas\":{\"Error\":{\"type\":\"object\",\"required\":[\"error\","
             "\"message\"],\"properties\":{\"error\":{\"type\":\"string\",\"description\":"
             "\"its code\"},\"message\":{\"type\":\"string\",\"description\":\"what to do about "
             "it\"}}}},"
             "\"responses\":{\"Error\":{\"description\":\"an error\",\"content\":{"
             "\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Error\"}}}}},"
             "\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
             "\"cookie\":{\"type\":\"apiKey\",\"in\":\"cookie\"");
    put_text(out, "name", cookie);
    soc_buf_put_text(out, "}}},\"security\":[{\"token\":[]},{\"cookie\":[]}]");
}

void soc_openapi_put(struct soc_buf *out, const char *url, const char *cookie)
{
    soc_buf_put_byte(out, '{');
    put_text(out, "openapi", "3.1.0");
    open_member(out, "info");
    put_text(out, "title", "society");
    put_text(out, "version", SOC_VERSION);
    close_object(out);
    soc_buf_put_text(out, ",\"servers\":[{");
    put_text(out, "url", url);
    soc_buf_put_text(out, "}]");
    put_paths(out);
    put_components(out, cookie);
    close_object(out);
}

/* Routes: what can be asked over HTTP, as data.
 *
 * A route names an operation (kernel/operations/operation.h), whose scope, parameters and
 * answer are those of the route; a few are answered by the door itself. The REST interface,
 * /openapi.json and docs/routes.md derive from this table.
 * Layer: bridge. Thread: any. */
#ifndef SOC_BRIDGE_HTTP_ROUTES_H
#define SOC_BRIDGE_HTTP_ROUTES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "kernel/operations/operation.h"

/* Routes that the door answers by itself. */
enum soc_route_own {
    SOC_ROUTE_OPERATION, /* no: the operation does */
    SOC_ROUTE_HEALTH,
    SOC_ROUTE_LOGIN,
    SOC_ROUTE_METRICS,
    SOC_ROUTE_OPENAPI,
    SOC_ROUTE_EVENTS,
    SOC_ROUTE_WEBSOCKET,
};

/* What is made of the list that an operation answers. */
enum soc_route_shape {
    SOC_ROUTE_LIST,  /* { items, next, as_of } */
    SOC_ROUTE_ONE,   /* its only object */
    SOC_ROUTE_NONE,  /* {} */
    SOC_ROUTE_TEXT,  /* the member `text` of its only object, as it is */
    SOC_ROUTE_LINES, /* its objects, one per line */
};

/* Another name of a parameter. */
struct soc_route_alias {
    const char *name;
    const char *param;
};

/* A route. */
struct soc_route {
    const char *method;
    const char *path;      /* a segment in braces is a parameter */
    const char *operation; /* NULL: one of the door's own */
    enum soc_route_own own;
    enum soc_route_shape shape;
    int status;                            /* of success; 0: 200 */
    const char *done;                      /* 200 if the answer has this member */
    const struct soc_route_alias *aliases; /* ends with a NULL name; NULL: none */
    const char *type;                      /* of the body; NULL: application/json */
    const char *summary;                   /* NULL: that of the operation */
};

/* Lends route number `index`; NULL past the last. */
const struct soc_route *soc_routes_at(size_t index);

/* Lends the operation of a route; NULL: it has none. */
const struct soc_operation *soc_routes_operation(const struct soc_route *route);

/* The scope that a caller needs; 0: none at all. */
unsigned soc_routes_scope(const struct soc_route *route);

/* Finds the route of a request; HEAD is as GET. NULL: there is none. `allow` then gets the
 * methods that the path has, with commas, and is empty if it has none. */
const struct soc_route *soc_routes_find(struct soc_slice method, struct soc_slice path,
                                        struct soc_buf *allow);

/* The parameter that a name in a path, a query or a body stands for. */
const char *soc_routes_param(const struct soc_route *route, const char *name);

/* Appends the parameters of the operation, a JSON object, from the path, the query string and
 * the body (a JSON object, or absent). Returns false and lends in `fault` the name of what
 * is given twice or cannot be decoded. */
bool soc_routes_read(const struct soc_route *route, struct soc_slice path, struct soc_slice query,
                     struct soc_slice body, struct soc_buf *out, struct soc_buf *fault);

#endif

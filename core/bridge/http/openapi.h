/* OpenAPI: the routes as an OpenAPI 3.1 document.
 *
 * Layer: bridge. Thread: any. */
#ifndef SOC_BRIDGE_HTTP_OPENAPI_H
#define SOC_BRIDGE_HTTP_OPENAPI_H

#include "base/buf.h"

/* Appends the document. `url` is where the door listens, `cookie` the name of its cookie. */
void soc_openapi_put(struct soc_buf *out, const char *url, const char *cookie);

#endif

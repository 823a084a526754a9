/* Agent pages: pages of lists from memory that have rows for each agent.
 *
 * Each row has a key that never changes and rises with the order of the list: the number
 * of its agent (model/agent.h), for some lists followed by the number of another one. It is
 * the cursor, so a walk by pages shows a row that stays once, whatever comes and goes
 * meanwhile, a restart included. A page has `limit` rows and bounded bytes, and looks at a
 * bounded number of agents; then it may be short and still have a `next`.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_AGENT_PAGES_H
#define SOC_KERNEL_OPERATIONS_AGENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct soc_agent;
struct soc_host;
struct soc_page;
struct soc_query;

/* A page while it is made. */
struct soc_agent_page;

/* Adds the rows of one agent that fit, in the direction of the page. False: the page is
 * full. */
typedef bool soc_agent_rows(struct soc_agent_page *page, struct soc_host *host,
                            const struct soc_agent *agent);

/* Appends a page of the rows, a JSON list, and fills in its cursors. */
void soc_agent_pages_put(struct soc_host *host, const struct soc_query *query, soc_agent_rows *rows,
                         struct soc_page *page, struct soc_buf *out);

/* For `rows`: lends the query. */
const struct soc_query *soc_agent_page_query(const struct soc_agent_page *page);

/* For `rows`: begins a row, and ends it with its key. False: the page is full, and the row
 * is taken back. */
struct soc_buf *soc_agent_page_begin(struct soc_agent_page *page);
bool soc_agent_page_end(struct soc_agent_page *page, uint64_t key);

/* The pages of `agents`, `waits` and `contacts`. */
void soc_agent_pages_agents(struct soc_host *host, const struct soc_query *query,
                            struct soc_page *page, struct soc_buf *out);
void soc_agent_pages_waits(struct soc_host *host, const struct soc_query *query,
                           struct soc_page *page, struct soc_buf *out);
void soc_agent_pages_contacts(struct soc_host *host, const struct soc_query *query,
                              struct soc_page *page, struct soc_buf *out);

#endif

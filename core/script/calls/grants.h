/* Grants: what an isolated agent may reach beyond its society.
 *
 * Nothing, unless the role says so when the app declares it:
 * society.role{ isolated = { http = { URL, … }, secrets = { NAME, … }, chat = true } }. The agent
 * may then send agent:http to URLs that begin so, with these secrets, and ask models. An agent
 * that an isolated one spawns on this host has the grants if it has the same role and its parent
 * has them; it may ask models if its parent may. What it is denied is stored with it. What roles
 * are granted is not stored, so the app can take it back.
 *
 * These functions are asked when a request leaves, so that one that was recorded before is
 * checked as well when it is made again.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_GRANTS_H
#define SOC_SCRIPT_CALLS_GRANTS_H

#include "script/turns/box.h"

struct soc_agent;
struct soc_role;

/* Reads the table at `index`, which is `isolated` of society.role, and returns the grants as JSON
 * in a string on top of the stack. Raises if they are invalid. */
struct soc_slice soc_grants_read(lua_State *L, int index);

/* Returns what a child of the running agent is denied if it is isolated, as bits of enum
 * soc_isolation. `role` NULL: unknown here, since the child is born on another host. */
uint8_t soc_grants_denied(const struct soc_script *script, const struct soc_role *role);

/* Appends why the isolated agent may not send a request there with that secret (NULL: none);
 * nothing if it may. */
void soc_grants_check(const struct soc_agent *agent, struct soc_slice url, const char *secret,
                      struct soc_buf *fault);

/* Tells whether the host of the URL is an address or `localhost`: whoever grants it knows where
 * that is. Any other name must resolve to a public address. */
bool soc_grants_name_address(struct soc_slice url);

/* Tells whether the agent may ask models: it is not isolated, or it may all the same. */
bool soc_grants_chat(const struct soc_script *script, const struct soc_agent *agent);

#endif

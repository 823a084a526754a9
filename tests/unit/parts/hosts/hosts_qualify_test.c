/* Ids in payloads, as they leave for another host. */
#include "parts/hosts/hosts_qualify.h"

#include "check.h"

static const struct {
    const char *payload;
    const char *changed; /* NULL: it names no agent */
} cases[] = {
    {"{\"text\":\"bob\"}", NULL},
    {"[1,2]", NULL},
    {"{\"target\":\"bob\"}", NULL},
    {"{\"target_agent\":null}", NULL},
    {"{\"target_agent\":\"bob\"}", "{\"target_agent\":\"bob@alpha\"}"},
    {"{\"target_agent\":{\"id\":\"bob\",\"role\":\"r\"}}",
     "{\"target_agent\":{\"id\":\"bob@alpha\",\"role\":\"r\"}}"},
    {"{\"targetAgentId\":\"bob@beta\"}", NULL},
    {"{\"targetAgentId\":\"bob\",\"usage_hint\":\"ask\"}",
     "{\"targetAgentId\":\"bob@alpha\",\"usage_hint\":\"ask\"}"},
    {"{\"via\":[\"ann\",\"bob@beta\"]}", "{\"via\":[\"ann@alpha\",\"bob@beta\"]}"},
    {"{\"via\":[]}", NULL},
    {"{\"collaborators\":[{\"agentId\":\"ann\",\"role\":\"id\"}]}",
     "{\"collaborators\":[{\"agentId\":\"ann@alpha\",\"role\":\"id\"}]}"},
    {"{\"task_brief\":{\"collaborators\":[{\"agentId\":\"ann\"}],\"objective\":\"o\"}}",
     "{\"task_brief\":{\"collaborators\":[{\"agentId\":\"ann@alpha\"}],\"objective\":\"o\"}}"},
};

static void bare_ids_become_addresses_and_nothing_else_changes(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct soc_buf out = {0};
        soc_buf_put_text(&out, "-");
        bool is_changed =
            soc_hosts_qualify(soc_slice_text(cases[i].payload), SOC_SLICE("alpha"), &out);
        CHECK(is_changed == (cases[i].changed != NULL));
        CHECK_TEXT(soc_buf_text(&out) + 1, cases[i].changed == NULL ? "" : cases[i].changed);
        soc_buf_fini(&out);
    }
}

int main(void)
{
    RUN(bare_ids_become_addresses_and_nothing_else_changes);
    return check_done();
}

/* Ids in payloads, as they leave for another host. */
#include "parts/hosts/hosts_qualify.h"

#include "check.h"
#include "model/message.h"
#include "store/record.h"

#define FORMAL SOC_MESSAGE_IS_FORMAL

static const struct {
    const char *type;
    uint64_t flags;
    const char *payload;
    const char *changed; /* NULL: it names no agent */
} cases[] = {
    {"introduction_response", 0, "[1,2]", NULL},
    {"introduction_response", 0, "{\"target_agent\":null,\"via\":[]}", NULL},
    {"introduction_response", 0, "{\"text\":\"bob\",\"target\":\"bob\"}", NULL},
    {"introduction_response", 0,
     "{\"target_agent\":{\"id\":\"bob\",\"role\":\"r\"},\"via\":[\"ann\",\"bob@beta\"]}",
     "{\"target_agent\":{\"id\":\"bob@alpha\",\"role\":\"r\"},\"via\":[\"ann@alpha\","
     "\"bob@beta\"]}"},
    {"introduction_response", 0, "{\"target_agent\":{\"id\":\"bob@beta\"}}", NULL},
    {"introduction_request", 0, "{\"reason\":\"r\",\"via\":[\"ann\"]}",
     "{\"reason\":\"r\",\"via\":[\"ann@alpha\"]}"},
    {"introduction_request", 0, "{\"target_agent\":\"ann\"}", NULL},
    {"collaboration_request", FORMAL,
     "{\"requester\":{\"id\":\"ann\"},\"target_agent\":{\"id\":\"bob\",\"role\":\"r\"}}",
     "{\"requester\":{\"id\":\"ann@alpha\"},\"target_agent\":{\"id\":\"bob@alpha\",\"role\":"
     "\"r\"}}"},
    {"collaboration_request", 0, "{\"target_agent\":{\"id\":\"bob\"}}", NULL},
    {"task_assignment", 0, "{\"collaborators\":[{\"agentId\":\"ann\",\"role\":\"id\"}]}",
     "{\"collaborators\":[{\"agentId\":\"ann@alpha\",\"role\":\"id\"}]}"},
    {"task", 0, "{\"task_brief\":{\"collaborators\":[{\"agentId\":\"ann\"}],\"objective\":\"o\"}}",
     "{\"task_brief\":{\"collaborators\":[{\"agentId\":\"ann@alpha\"}],\"objective\":\"o\"}}"},
    {"host_spawn", FORMAL, "{\"id\":\"w\",\"task_brief\":{\"collaborators\":[{\"id\":\"ann\"}]}}",
     "{\"id\":\"w\",\"task_brief\":{\"collaborators\":[{\"id\":\"ann@alpha\"}]}}"},
    {"host_spawn", 0, "{\"task_brief\":{\"collaborators\":[{\"id\":\"ann\"}]}}", NULL},
    {"task_assignment", 0, "{\"via\":[\"email\"],\"target_agent\":\"ann\"}", NULL},
    {"general", 0, "{\"via\":[\"email\"]}", NULL},
    {"general", 0, "{\"collaborators\":[{\"id\":\"ann\"}],\"target_agent\":{\"id\":\"a\"}}", NULL},
};

static void bare_ids_become_addresses_and_nothing_else_changes(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct soc_buf out = {0};
        struct soc_record_message r = {.type = soc_slice_text(cases[i].type),
                                       .flags = cases[i].flags,
                                       .payload = soc_slice_text(cases[i].payload)};
        soc_buf_put_text(&out, "-");
        bool is_changed = soc_hosts_qualify(&r, SOC_SLICE("alpha"), &out);
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

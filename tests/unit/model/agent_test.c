#include "model/agent.h"

#include "base/limits.h"
#include "check.h"

static void a_new_agent_has_only_its_id_and_parent(void)
{
    struct soc_role *role = soc_role_new(SOC_SLICE("baker"), SOC_SLICE("Baker"));
    struct soc_agent *parent = soc_agent_new(SOC_SLICE("root"), role, NULL, 1);
    char id[] = "baker_1";
    struct soc_agent *agent = soc_agent_new(soc_slice_text(id), role, parent, 42);
    id[0] = 'X';
    CHECK_TEXT(agent->id, "baker_1");
    struct soc_slice lent = soc_agent_id(agent);
    CHECK_BYTES(lent.data, lent.length, "baker_1");
    CHECK(agent->role == role && agent->parent == parent);
    CHECK_INT(agent->created_ms, 42);
    CHECK(agent->brief == NULL && agent->state == NULL && agent->activation == NULL);
    CHECK_INT(soc_mailbox_count(&agent->mailbox), 0);
    CHECK_INT(agent->contacts.count, 0);
    CHECK(!agent->is_ended && !agent->is_ending && !agent->is_ready);
    soc_agent_free(agent);
    soc_agent_free(parent);
    soc_role_free(role);
}

static void the_longest_and_the_shortest_id_are_accepted(void)
{
    char id[SOC_ID_BYTES_MAX];
    memset(id, 'a', sizeof(id));
    struct soc_agent *agent = soc_agent_new(soc_slice(id, sizeof(id)), NULL, NULL, 0);
    CHECK_INT(soc_agent_id(agent).length, SOC_ID_BYTES_MAX);
    CHECK_INT(strlen(agent->id), SOC_ID_BYTES_MAX);
    soc_agent_free(agent);
    agent = soc_agent_new(SOC_SLICE("a"), NULL, NULL, 0);
    CHECK_TEXT(agent->id, "a");
    soc_agent_free(agent);
    soc_agent_free(NULL);
}

static void setting_brief_and_state_copies_them(void)
{
    struct soc_agent *agent = soc_agent_new(SOC_SLICE("a"), NULL, NULL, 0);
    char json[] = "{\"n\":1}";
    soc_agent_set_brief(agent, soc_slice_text(json));
    soc_agent_set_state(agent, soc_slice_text(json));
    json[5] = '2';
    CHECK_TEXT(agent->brief, "{\"n\":1}");
    CHECK_TEXT(agent->state, "{\"n\":1}");
    CHECK_INT(agent->brief_length, 7);
    CHECK_INT(agent->state_length, 7);
    soc_agent_set_state(agent, SOC_SLICE("{}"));
    CHECK_TEXT(agent->state, "{}");
    CHECK_INT(agent->state_length, 2);
    soc_agent_set_state(agent, (struct soc_slice){0});
    CHECK(agent->state == NULL && agent->state_length == 0);
    CHECK_TEXT(agent->brief, "{\"n\":1}");
    soc_agent_free(agent);
}

static void a_state_can_be_set_from_itself(void)
{
    struct soc_agent *agent = soc_agent_new(SOC_SLICE("a"), NULL, NULL, 0);
    soc_agent_set_state(agent, SOC_SLICE("{\"deep\":[1]}"));
    soc_agent_set_state(agent, soc_slice(agent->state + 8, 3));
    CHECK_TEXT(agent->state, "[1]");
    soc_agent_free(agent);
}

static void a_tombstone_keeps_only_its_id(void)
{
    struct soc_agent *peer = soc_agent_new(SOC_SLICE("b"), NULL, NULL, 0);
    struct soc_agent *agent = soc_agent_new(SOC_SLICE("a"), NULL, peer, 7);
    soc_agent_set_brief(agent, SOC_SLICE("{}"));
    soc_agent_set_state(agent, SOC_SLICE("{}"));
    soc_text_set(&agent->end_reason, SOC_SLICE("done"));
    soc_contacts_put(&agent->contacts, peer, SOC_SOURCE_PARENT, 1, NULL);
    soc_agent_shrink(agent);
    CHECK_TEXT(agent->id, "a");
    CHECK(agent->parent == peer && agent->created_ms == 7);
    CHECK(agent->brief == NULL && agent->state == NULL && agent->end_reason == NULL);
    CHECK_INT(agent->brief_length + agent->state_length, 0);
    CHECK(agent->contacts.items == NULL && agent->contacts.count == 0);
    soc_agent_shrink(agent);
    soc_agent_free(agent);
    soc_agent_free(peer);
}

static void a_role_owns_its_texts(void)
{
    char id[] = "baker", name[] = "面包师";
    struct soc_role *role = soc_role_new(soc_slice_text(id), soc_slice_text(name));
    id[0] = name[0] = 'X';
    CHECK_TEXT(role->id, "baker");
    CHECK_TEXT(role->name, "面包师");
    CHECK_TEXT(role->prompt, "");
    CHECK(role->interface_spec == NULL && role->behaviour == NULL);
    CHECK(!role->is_runnable && !role->is_reported && role->script_mark == 0);
    soc_text_set(&role->prompt, SOC_SLICE("Bakes."));
    soc_text_set(&role->interface_spec, SOC_SLICE("{}"));
    soc_text_set(&role->behaviour, SOC_SLICE("bakery"));
    soc_role_free(role);
    soc_role_free(NULL);
}

static void a_text_can_be_set_emptied_and_removed(void)
{
    char *text = NULL;
    soc_text_set(&text, SOC_SLICE("one"));
    CHECK_TEXT(text, "one");
    soc_text_set(&text, SOC_SLICE("another"));
    CHECK_TEXT(text, "another");
    soc_text_set(&text, soc_slice(text + 2, 5));
    CHECK_TEXT(text, "other");
    soc_text_set(&text, SOC_SLICE(""));
    CHECK_TEXT(text, "");
    soc_text_set(&text, (struct soc_slice){0});
    CHECK(text == NULL);
    soc_text_set(&text, (struct soc_slice){0});
    CHECK(text == NULL);
}

int main(void)
{
    RUN(a_new_agent_has_only_its_id_and_parent);
    RUN(the_longest_and_the_shortest_id_are_accepted);
    RUN(setting_brief_and_state_copies_them);
    RUN(a_state_can_be_set_from_itself);
    RUN(a_tombstone_keeps_only_its_id);
    RUN(a_role_owns_its_texts);
    RUN(a_text_can_be_set_emptied_and_removed);
    return check_done();
}

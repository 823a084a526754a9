/* society.message_fields: the table of fields, for specs and tools that use it. */
#include <assert.h>

#include <lauxlib.h>

#include "model/message_fields.h"
#include "world/world_state.h"

static const struct {
    const char *name;
    unsigned bit;
} contexts[] = {
    {"agent", SOC_SEND_FROM_AGENT}, {"broadcast", SOC_SEND_FROM_BROADCAST},
    {"reply", SOC_SEND_FROM_REPLY}, {"socket", SOC_SEND_FROM_SOCKET},
    {"file", SOC_SEND_FROM_FILE},   {"wait", SOC_SEND_FROM_WAIT},
    {"ack", SOC_SEND_FROM_ACKED},
};

/* Pushes { [context] = list of the names by which the field can be given there }. */
static void push_names(lua_State *L, int field)
{
    assert(field >= 0 && field < SOC_MESSAGE_FIELD_COUNT);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
        const char *name;
        int count = 0;
        lua_newtable(L);
        for (int k = 0; (name = soc_message_fields_name(contexts[i].bit, k)) != NULL; k++) {
            if (soc_message_fields_find(soc_slice_text(name), contexts[i].bit) != field)
                continue;
            lua_pushstring(L, name);
            lua_rawseti(L, -2, ++count);
        }
        if (count > 0)
            lua_setfield(L, -2, contexts[i].name);
        else
            lua_pop(L, 1);
    }
}

static void push_payload_names(lua_State *L, int field)
{
    const char *const *names = soc_message_fields_payload_names();
    int count = 0;
    lua_newtable(L);
    for (int i = 0; names[i] != NULL; i++) {
        if (soc_message_fields_find_in_payload(soc_slice_text(names[i])) != field)
            continue;
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, ++count);
    }
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text); /* NULL: nil */
    lua_setfield(L, -2, name);
}

int soc_world_message_fields(lua_State *L)
{
    static const char *const shown[] = {"nowhere", "envelope", "scripts", "history"};
    static const char *const hashed[] = {"never", "always", "if_said"};
    lua_createtable(L, SOC_MESSAGE_FIELD_COUNT, 0);
    for (int i = 0; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        const struct soc_field_rule *rule = soc_message_fields_rule((enum soc_message_field)i);
        lua_createtable(L, 0, 8);
        set_text(L, "name", rule->name);
        set_text(L, "kind", soc_field_kind_name(rule->kind));
        set_text(L, "expects", soc_field_kind_expects(rule->kind));
        set_text(L, "shown", shown[rule->shown]);
        set_text(L, "hashed", hashed[rule->hashed]);
        push_names(L, i);
        lua_setfield(L, -2, "names");
        push_payload_names(L, i);
        lua_setfield(L, -2, "payload");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

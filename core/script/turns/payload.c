#include "script/turns/payload.h"

#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "lualib/lua_flat.h"
#include "lualib/lua_json.h"
#include "model/message_fields.h"

void soc_payload_open(struct soc_script *script)
{
    assert(script->shapes == NULL);
    script->shapes = soc_flat_shapes_new(soc_message_fields_payload_names());
}

void soc_payload_fini(struct soc_script *script)
{
    soc_flat_shapes_free(script->L, script->shapes);
    script->shapes = NULL;
}

static int refuse(struct soc_buf *error, int rc, const char *message)
{
    if (rc == SOC_EBADMESSAGE)
        return soc_refuse_format(error, message, (struct soc_slice){0});
    return soc_refuse(error, rc, message, NULL, (struct soc_slice){0});
}

static int encode_text(lua_State *L, int index, struct soc_buf *out, struct soc_buf *error)
{
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    if (soc_utf8_fault(soc_slice(text, length)) >= 0)
        return refuse(error, SOC_EBADMESSAGE, "the payload is not UTF-8");
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "text", soc_slice(text, length));
    soc_buf_put_byte(out, '}');
    return SOC_OK;
}

/* Tells whether the payload at `index` has no fields of the envelope. Asking the table is
 * quicker than searching its JSON. */
static bool is_bare(lua_State *L, int index)
{
    const char *const *names = soc_message_fields_payload_names();
    if (lua_type(L, index) != LUA_TTABLE)
        return true;
    int top = lua_gettop(L);
    int i = 0;
    luaL_checkstack(L, 6, NULL);
    while (names[i] != NULL && soc_option_field(L, index, names[i]) == LUA_TNIL)
        i++;
    lua_settop(L, top);
    return names[i] == NULL;
}

int soc_payload_encode(lua_State *L, struct soc_script *script, int index, struct soc_buf *out,
                       struct soc_payload *payload, struct soc_buf *error)
{
    struct soc_detail detail;
    struct soc_flat flat = {.wants_copy = payload != NULL && payload->wants_copy};
    out->length = 0;
    if (soc_flat_encode(L, script->shapes, index, SOC_PAYLOAD_BYTES_MAX, out, &flat)) {
        if (payload != NULL) {
            payload->has_copy = payload->wants_copy;
            payload->is_bare = !flat.is_watched;
        }
        return SOC_OK;
    }
    if (payload != NULL)
        *payload = (struct soc_payload){.is_bare = is_bare(L, index)};
    if (lua_type(L, index) == LUA_TSTRING)
        return encode_text(L, index, out, error);
    if (lua_isnoneornil(L, index) || soc_lua_is_null(L, index))
        return refuse(error, SOC_ENOPAYLOAD, NULL);
    int rc = soc_lua_json_encode(L, index, "payload", SOC_PAYLOAD_BYTES_MAX, out, &detail);
    if (rc < 0)
        return refuse(error, rc == SOC_ETOOLARGE ? rc : SOC_EBADMESSAGE, detail.text);
    return SOC_OK;
}

#include "script/turns/box.h"

#include <assert.h>

#define BOX "society.box"

void soc_box_push(lua_State *L)
{
    struct soc_script **box = lua_newuserdatauv(L, sizeof(*box), 0);
    *box = NULL;
    luaL_newmetatable(L, BOX);
    lua_setmetatable(L, -2);
}

struct soc_script *soc_box_script(lua_State *L, int index)
{
    struct soc_script **box = lua_touserdata(L, index);
    assert(box != NULL);
    if (*box == NULL)
        luaL_error(L, "this society is not running: it was closed or has crashed");
    return *box;
}

#include "script/policies/policy_texts.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/limits.h"
#include "lualib/sources.h"

/* A policy being read: its table, its file, and a buffer for one text. */
struct reader {
    const struct soc_script *script;
    const char *policy_path;
    const char *kind; /* a folder's name, or NULL */
    char *room;       /* for SOC_TEXT_BYTES_MAX bytes and one more */
    char *hash;       /* of everything read */
    int files;        /* stack index of the list of paths */
    struct soc_detail *detail;
};

/* Returns true if no part of the path is empty, `.` or `..`. */
static bool leads_down(const char *name)
{
    for (;;) {
        size_t length = strcspn(name, "/");
        if (length == 0 || (length == 1 && name[0] == '.') ||
            (length == 2 && name[0] == '.' && name[1] == '.'))
            return false;
        if (name[length] == '\0')
            return true;
        name += length + 1;
    }
}

/* Opens the text next to the app, else next to the policy; NULL and errno if it is in
 * neither place. `path` gets its full path. */
static FILE *open_text(const struct reader *reader, const char *name, char *path, size_t size)
{
    if (reader->script->app_dir != NULL && reader->kind != NULL) {
        snprintf(path, size, "%s/policies/%s/%s", reader->script->app_dir, reader->kind, name);
        FILE *file = soc_sources_open(reader->script->L, path);
        if (file != NULL)
            return file;
    }
    const char *slash = strrchr(reader->policy_path, '/');
    int length = slash == NULL ? 0 : (int)(slash - reader->policy_path + 1);
    snprintf(path, size, "%.*s%s", length, reader->policy_path, name);
    return soc_sources_open(reader->script->L, path);
}

/* Reads the file into the buffer and checks it. Returns its length, or an error. */
static long read_file(const struct reader *reader, FILE *file, const char *path)
{
    struct stat status;
    int descriptor = fileno(file); /* a kept text has no descriptor */
    if (descriptor >= 0 && (fstat(descriptor, &status) < 0 || !S_ISREG(status.st_mode)))
        return soc_fail(reader->detail, SOC_EINVAL, "%s is not a file", path);
    size_t length = fread(reader->room, 1, SOC_TEXT_BYTES_MAX + 1, file);
    if (ferror(file))
        return soc_fail(reader->detail, SOC_EIO, "%s cannot be read: %s", path, strerror(errno));
    if (length > SOC_TEXT_BYTES_MAX)
        return soc_fail(reader->detail, SOC_ETOOLARGE, "%s has more than %u bytes", path,
                        SOC_TEXT_BYTES_MAX);
    ptrdiff_t fault = soc_utf8_fault(soc_slice(reader->room, length));
    if (fault >= 0)
        return soc_fail(reader->detail, SOC_EINVAL, "%s is not UTF-8 from byte %td on", path,
                        fault + 1);
    return (long)length;
}

/* Replaces the name on top with the text; on an error it stays. */
static int read_text(lua_State *L, const struct reader *reader)
{
    char path[4096];
    size_t length;
    const char *name = lua_tolstring(L, -1, &length);
    if (strlen(name) != length || !leads_down(name))
        return soc_fail(reader->detail, SOC_EINVAL,
                        "%s: the text '%s' must lie below the policy's folder; use a relative path "
                        "without . and ..",
                        reader->policy_path, name);
    FILE *file = open_text(reader, name, path, sizeof(path));
    if (file == NULL)
        return soc_fail(reader->detail, errno == EACCES ? SOC_EACCESS : SOC_ENOFILE,
                        "%s: the text '%s' cannot be opened: %s", reader->policy_path, name,
                        strerror(errno));
    long count = read_file(reader, file, path);
    fclose(file);
    if (count < 0)
        return (int)count;
    soc_policy_hash_more(reader->hash, soc_slice(reader->room, (size_t)count));
    lua_pushstring(L, path);
    lua_rawseti(L, reader->files, (lua_Integer)lua_rawlen(L, reader->files) + 1);
    lua_pushlstring(L, reader->room, (size_t)count);
    lua_replace(L, -2);
    return SOC_OK;
}

/* Replaces the key on top (nil: none yet) with the next larger one of the table at
 * `index`; at the end pops it and returns false. Lua's order is arbitrary, and the
 * first error found is the one reported. */
static bool next_key(lua_State *L, int index)
{
    assert(lua_istable(L, index));
    int last = lua_gettop(L);
    lua_pushnil(L);
    int best = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING &&
            (lua_isnil(L, last) || lua_compare(L, last, -1, LUA_OPLT)) &&
            (lua_isnil(L, best) || lua_compare(L, -1, best, LUA_OPLT)))
            lua_copy(L, -1, best);
    }
    lua_replace(L, last);
    if (!lua_isnil(L, last))
        return true;
    lua_pop(L, 1);
    return false;
}

/* Fills the table at `out` with the texts named in the table at `names`. */
static int read_all(lua_State *L, const struct reader *reader, int names, int out)
{
    if (lua_rawlen(L, names) != 0)
        return soc_fail(reader->detail, SOC_ESCRIPT,
                        "%s: texts must have names, as in "
                        "texts = { base = \"base.txt\" }",
                        reader->policy_path);
    lua_pushnil(L);
    while (next_key(L, names)) {
        lua_pushvalue(L, -1);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, names) != LUA_TSTRING)
            return soc_fail(reader->detail, SOC_ESCRIPT, "%s: texts.%s must be a file's name",
                            reader->policy_path, lua_tostring(L, -2));
        int rc = read_text(L, reader);
        if (rc < 0)
            return rc;
        lua_rawset(L, out);
    }
    return SOC_OK;
}

/* Key of the paths in the policy's table, which no script can name. */
static const char files_key;

void soc_policy_each_text(lua_State *L, int index, void (*each)(void *user, const char *path),
                          void *user)
{
    int top = lua_gettop(L);
    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TTABLE && lua_rawgetp(L, index, &files_key) == LUA_TTABLE)
        for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TSTRING; i++) {
            each(user, lua_tostring(L, -1));
            lua_pop(L, 1);
        }
    lua_settop(L, top);
}

int soc_policy_texts(lua_State *L, const struct soc_script *script, const char *path,
                     char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail)
{
    int policy = lua_gettop(L);
    if (lua_type(L, policy) != LUA_TTABLE || soc_option_field(L, policy, "texts") == LUA_TNIL) {
        lua_settop(L, policy);
        return SOC_OK;
    }
    int names = lua_gettop(L);
    struct reader reader = {.script = script, .policy_path = path, .hash = hash, .detail = detail};
    if (soc_option_field(L, policy, "kind") == LUA_TSTRING)
        reader.kind = lua_tostring(L, -1);
    if (reader.kind != NULL &&
        strspn(reader.kind, "abcdefghijklmnopqrstuvwxyz_") != strlen(reader.kind))
        reader.kind = NULL;
    int rc;
    if (lua_type(L, names) != LUA_TTABLE) {
        rc = soc_fail(detail, SOC_ESCRIPT, "%s: texts must be a table of files' names", path);
    } else {
        reader.room = lua_newuserdatauv(L, SOC_TEXT_BYTES_MAX + 1, 0);
        lua_newtable(L);
        reader.files = lua_gettop(L);
        lua_pushliteral(L, "texts");
        lua_newtable(L);
        rc = read_all(L, &reader, names, lua_gettop(L));
        if (rc == SOC_OK) {
            lua_rawset(L, policy);
            lua_pushvalue(L, reader.files);
            lua_rawsetp(L, policy, &files_key);
        }
    }
    lua_settop(L, policy);
    return rc;
}

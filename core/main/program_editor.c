#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include <histedit.h>
#include <lauxlib.h>

#include "base/mem.h"
#include "main/program.h"

#define EDITOR "society.editor"

/* Lines of the history that are kept. */
#define LINES_MAX 1000

struct editor {
    EditLine *line;
    History *history;
    char *path;   /* of the history; NULL: it is not kept */
    char *prompt; /* of the line being read; NULL between lines */
    lua_State *L; /* during read() */
    bool is_interrupted;
};

static char *give_prompt(EditLine *line)
{
    struct editor *editor = NULL;
    el_get(line, EL_CLIENTDATA, &editor);
    assert(editor->prompt != NULL);
    return editor->prompt;
}

/* Calls the function of read() with the text before the cursor. It returns what to insert and
 * what to show below the line. */
static unsigned char complete(EditLine *line, int key)
{
    struct editor *editor = NULL;
    (void)key;
    el_get(line, EL_CLIENTDATA, &editor);
    lua_State *L = editor->L;
    const LineInfo *info = el_line(line);
    int top = lua_gettop(L);
    unsigned char result = CC_ERROR;
    lua_pushvalue(L, 3);
    lua_pushlstring(L, info->buffer, (size_t)(info->cursor - info->buffer));
    if (lua_pcall(L, 1, 2, 0) != LUA_OK) {
        lua_settop(L, top);
        return CC_ERROR; /* the society may be gone */
    }
    const char *insert = lua_tostring(L, -2);
    const char *shown = lua_tostring(L, -1);
    if (insert != NULL && insert[0] != '\0' && el_insertstr(line, insert) == 0)
        result = CC_REFRESH;
    if (shown != NULL && shown[0] != '\0') {
        printf("\n%s\n", shown);
        fflush(stdout);
        result = CC_REDISPLAY;
    }
    lua_settop(L, top);
    return result;
}

static int close_editor(lua_State *L)
{
    struct editor *editor = luaL_checkudata(L, 1, EDITOR);
    if (editor->line != NULL)
        el_end(editor->line);
    if (editor->history != NULL)
        history_end(editor->history);
    free(editor->path);
    free(editor->prompt);
    *editor = (struct editor){0};
    return 0;
}

static void ignore(int signal_number)
{
    (void)signal_number;
}

/* Reads a character for libedit. Interrupts are blocked but here, so that none comes unseen
 * just before the wait. */
static int get_character(EditLine *line, wchar_t *character)
{
    struct editor *editor = NULL;
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    mbstate_t state = {0};
    size_t length = (size_t)-2;
    char byte;
    sigset_t mask;
    el_get(line, EL_CLIENTDATA, &editor);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigdelset(&mask, SIGINT);
    while (length == (size_t)-2) { /* the character is not complete */
        if (ppoll(&ready, 1, NULL, &mask) < 0) {
            editor->is_interrupted = errno == EINTR;
            return -1;
        }
        ssize_t count = read(STDIN_FILENO, &byte, 1);
        if (count <= 0)
            return (int)count;
        length = mbrtowc(character, &byte, 1, &state);
    }
    if (length == (size_t)-1)
        *character = L'?'; /* no character of this locale */
    return 1;
}

/* Reads a line. An interrupt gives up the line, not the program. */
static const char *get_line(struct editor *editor, int *count)
{
    struct sigaction action = {.sa_handler = ignore};
    struct sigaction before;
    sigset_t mask, mask_before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    pthread_sigmask(SIG_BLOCK, &mask, &mask_before);
    sigaction(SIGINT, &action, &before);
    editor->is_interrupted = false;
    const char *text = el_gets(editor->line, count);
    sigaction(SIGINT, &before, NULL);
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    if (!editor->is_interrupted)
        return text;
    el_reset(editor->line);
    putchar('\n');
    *count = 0;
    return "";
}

/* editor:read(prompt, complete) -> line without its end | nil at the end of the input */
static int read_line(lua_State *L)
{
    struct editor *editor = luaL_checkudata(L, 1, EDITOR);
    const char *prompt = luaL_checkstring(L, 2);
    luaL_checktype(L, 3, LUA_TFUNCTION);
    luaL_argcheck(L, editor->line != NULL, 1, "the editor is closed");
    int count = 0;
    editor->prompt = soc_copy_text(prompt, strlen(prompt));
    editor->L = L;
    const char *text = get_line(editor, &count);
    free(editor->prompt);
    editor->prompt = NULL;
    editor->L = NULL;
    if (text == NULL || count < 0) {
        luaL_pushfail(L);
        return 1;
    }
    while (count > 0 && (text[count - 1] == '\n' || text[count - 1] == '\r'))
        count--;
    lua_pushlstring(L, text, (size_t)count);
    return 1;
}

/* editor:remember(text): adds it to the history, and saves that. Only its owner may read it:
 * what was typed may be secret. */
static int remember(lua_State *L)
{
    struct editor *editor = luaL_checkudata(L, 1, EDITOR);
    const char *text = luaL_checkstring(L, 2);
    HistEvent event;
    luaL_argcheck(L, editor->history != NULL, 1, "the editor is closed");
    history(editor->history, &event, H_ENTER, text);
    if (editor->path != NULL) {
        mode_t mask = umask(0077);
        history(editor->history, &event, H_SAVE, editor->path);
        umask(mask);
    }
    return 0;
}

static const luaL_Reg methods[] = {
    {"read", read_line},
    {"remember", remember},
    {"close", close_editor},
    {NULL, NULL},
};

/* open_editor(path?) -> editor | nil, reason */
static int open_editor(lua_State *L)
{
    const char *path = luaL_optstring(L, 1, NULL);
    struct editor *editor = lua_newuserdatauv(L, sizeof(*editor), 0);
    HistEvent event;
    *editor = (struct editor){0};
    if (luaL_newmetatable(L, EDITOR)) {
        luaL_setfuncs(L, methods, 0);
        lua_pushvalue(L, -1);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, close_editor);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    setlocale(LC_CTYPE, ""); /* for letters beyond ASCII */
    editor->history = history_init();
    editor->line = el_init("society", stdin, stdout, stderr);
    if (editor->line == NULL || editor->history == NULL) {
        luaL_pushfail(L);
        lua_pushliteral(L, "the terminal cannot be edited on");
        return 2;
    }
    editor->path = path == NULL ? NULL : soc_copy_text(path, strlen(path));
    history(editor->history, &event, H_SETSIZE, LINES_MAX);
    history(editor->history, &event, H_SETUNIQUE, 1);
    if (path != NULL)
        history(editor->history, &event, H_LOAD, path);
    el_set(editor->line, EL_CLIENTDATA, editor);
    el_set(editor->line, EL_PROMPT, give_prompt);
    el_wset(editor->line, EL_GETCFN, get_character);
    el_set(editor->line, EL_EDITOR, "emacs");
    el_set(editor->line, EL_HIST, history, editor->history);
    el_set(editor->line, EL_ADDFN, "society-complete", "completes names", complete);
    el_set(editor->line, EL_BIND, "^I", "society-complete", NULL);
    el_source(editor->line, NULL); /* ~/.editrc */
    return 1;
}

void soc_program_add_editor(lua_State *L)
{
    assert(lua_type(L, -1) == LUA_TTABLE);
    lua_pushcfunction(L, open_editor);
    lua_setfield(L, -2, "open_editor");
}

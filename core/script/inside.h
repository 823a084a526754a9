/* Inside: the script layer's own struct, for the files of this folder only.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_INSIDE_H
#define SOC_SCRIPT_INSIDE_H

#include <lauxlib.h>
#include <lua.h>

#include "base/buf.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/hooks.h"
#include "kernel/host.h"
#include "lualib/options.h"
#include "model/shape.h"
#include "script/history/kept.h"
#include "script/own.h"
#include "script/policies/identity.h"
#include "script/policies/questions.h"
#include "script/script.h"

#define SOC_BOX "society.box" /* userdata that points to a script */

/* A pooled coroutine. Its stack holds the agent's handle at index 1. */
struct soc_thread {
    lua_State *co;
    int ref;              /* keeps `co` alive */
    const void *handle;   /* of the agent whose activation it runs */
    uint64_t fatal_count; /* of the state when it was taken */
    struct soc_thread *next;
};

/* What Lua holds of an agent: it works only inside its own activation. */
struct soc_handle {
    struct soc_script *script;
    bool has_state; /* user value 1 is agent.state, decoded */
};

/* The policies in force, and the functions they answer questions with. */
struct soc_policy {
    int table_ref;    /* the module, or LUA_NOREF */
    int settings_ref; /* defaults with the caller's settings over them */
    bool is_reported; /* it failed once, and that was said */
    int given_ref;    /* the caller's settings alone; 0: none */
    struct soc_identity identity;
};

struct soc_messages;

/* The scripts of one society, and what runs them. */
struct soc_script {
    lua_State *L;      /* the main thread */
    lua_State *active; /* the thread whose effect is under way, else L */
    struct soc_host *host;
    struct soc_loop *loop;       /* NULL: simulated */
    struct soc_outward *outward; /* calls to servers; NULL: none was made yet */
    struct soc_chats *chats;     /* calls to models; NULL: none was made yet */
    struct soc_own own;          /* environments that no script can reach */
    int llm_shown_ref;           /* society.config{ llm = … } as scripts may read it */
    char *recordings[2];         /* of it: files written and read; NULL: none */
    int world_ref;               /* the function that stands for the world beyond; 0: none */
    struct soc_script **box;     /* the userdata's content; set to NULL at the end */
    int box_ref;
    const uint64_t *fatal_count; /* of the Lua state: errors that no script can catch */
    int env_ref;                 /* sandbox environment of the app */
    int module_ref;              /* the module `society`: environments have copies */
    int methods_ref;             /* the table of agents' methods */
    int main_ref;                /* LUA_NOREF: none */
    int message_meta_ref;        /* metatable of messages handed to scripts */
    int receipt_meta_ref;        /* metatable of what a send returns */
    int handle_meta_ref;         /* metatable of agents' handles */
    struct soc_thread *free_threads;
    struct soc_policy policies[SOC_POLICY_COUNT];
    struct soc_policy usual[SOC_POLICY_COUNT]; /* the shipped ones, for when those fail */
    int answers[SOC_QUESTION_COUNT];           /* functions in force; LUA_NOREF: the usual one */
    int usual_answers[SOC_QUESTION_COUNT];
    struct soc_messages *messages;  /* the vocabularies in force */
    struct soc_shape_report report; /* of one message at a time */
    char *home;
    char *app_dir;
    char *app_name;
    struct soc_files_settings *files; /* of the file door; NULL: there is none */
    struct soc_buf payload;           /* for one effect at a time */
    struct soc_buf answer;
    struct soc_buf error;
    struct soc_buf fatal; /* why the turn is broken */
    struct soc_buf scratch;
    struct soc_buf state; /* agent.state behind the turn that ends */
    struct soc_kept kept; /* for history */
    bool keeps_history;
    struct soc_flat_shapes *shapes; /* of payloads */
    size_t copies_bytes;            /* of payloads kept as Lua tables until they are delivered */
    int *behaviours;                /* references to give back at the end */
    size_t behaviour_count;
    bool is_started;
    bool is_broken;     /* the turn under way met an error it cannot survive: `fatal` */
    bool is_dropping;   /* a coroutine is being closed: its handlers can do nothing */
    bool is_loading;    /* a module runs inside a turn: no effects */
    uint32_t steps_max; /* VM instructions of a turn */
    int64_t steps_left;
};

/* Lends the script of a box; raises if it is gone. */
struct soc_script *soc_script_of_box(lua_State *L, int index);

/* run.c: the hooks that run behaviours. */
enum soc_turn_end soc_run_turn(void *user, struct soc_activation *activation,
                               struct soc_buf *error);
void soc_run_drop(void *user, struct soc_activation *activation);
void soc_run_free_threads(struct soc_script *script);

/* Calls as lua_pcall does, with the steps of one turn at most: for scripts that
 * load. */
int soc_run_limited(struct soc_script *script, lua_State *L, int arguments, int handler);

/* The agent handle at index 1, checked to be used inside its own activation. */
struct soc_handle *soc_check_handle(lua_State *L);

/* The JSON text of agent.state as the script left it, into `out`; false and
 * nothing if it was never touched. Raises a path for what is not JSON. */
bool soc_handle_state(lua_State *L, int index, struct soc_buf *out, struct soc_detail *detail,
                      int *rc);

/* behaviour.c: what a role does. Raises if the value at `index` is no behaviour;
 * returns a registry reference to its normal form. */
int soc_behaviour_keep(lua_State *L, struct soc_script *script, int index);

/* Pushes the function that handles `message` for `role`, or returns false. */
bool soc_behaviour_push(lua_State *L, const struct soc_role *role,
                        const struct soc_message *message);

#endif

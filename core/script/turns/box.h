/* Box: the core of a society's scripts, and the userdata through which Lua holds it.
 *
 * Closures that scripts keep may outlive their society. They hold a box. When the
 * society ends the box is emptied, and every call through it raises.
 *
 * The core is what all modules of the script layer share. What belongs to one area
 * hangs on a pointer here, and only that area knows what is behind it. Lower modules
 * reach higher ones by `hooks` alone.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_BOX_H
#define SOC_SCRIPT_TURNS_BOX_H

#include <lauxlib.h>
#include <lua.h>

#include "base/buf.h"
#include "base/err.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/hooks.h"
#include "kernel/host.h"
#include "lualib/options.h"

struct soc_script;

/* What lower modules ask of higher ones. Filled by script.c; none is NULL. */
struct soc_box_hooks {
    /* Pushes the text of the message at index 1, as the presentation policy words it. */
    void (*push_text)(lua_State *L, struct soc_script *script);

    /* History is kept, and the app, its files or the policies in force have changed. */
    void (*history_start)(lua_State *L, struct soc_script *script);

    /* The open turn has all of its budget again. */
    void (*renew_budget)(struct soc_script *script);
    void (*look_at_budget)(lua_State *L, struct soc_script *script); /* may raise */

    /* History is kept, and a turn is over. */
    void (*history_turn)(lua_State *L, struct soc_script *script);
};

/* The core of one society's scripts. */
struct soc_script {
    lua_State *L;      /* the main thread; lent */
    lua_State *active; /* the thread whose effect is open, else L */
    struct soc_host *host;
    struct soc_box_hooks hooks;
    struct soc_script **box;     /* the content of the userdata; set to NULL at the end */
    const uint64_t *fatal_count; /* of the Lua state: errors that no script can catch */
    char *home;                  /* where lua/ and policies/ are */
    char *app_dir;               /* where the app's own modules are; NULL: it has none */

    /* References to what Lua keeps; 0: not made yet. */
    int box_ref;
    int env_ref;          /* sandbox environment of the app */
    int module_ref;       /* the module `society`: environments have copies */
    int methods_ref;      /* the table of agents' methods */
    int handle_meta_ref;  /* metatable of agents' handles */
    int message_meta_ref; /* metatable of messages handed to scripts */
    int payload_name_ref; /* "payload": cheaper to fetch than to look up by its text */
    int receipt_meta_ref; /* metatable of what a send returns */

    const char *language; /* of prompts, presentation and briefs: "en" or "zh"; NULL: not set */
    bool is_simulated;    /* there is no loop: time is virtual and nothing goes over a network */
    bool leaves_isolated; /* what is isolated does not run in the app's environment */
    bool is_started;      /* the app has loaded and the society runs */
    bool tries_policies;  /* policies are checked and not put in force */
    bool keeps_history;   /* history/recorder.h */
    bool is_broken;       /* the open turn met an error it cannot survive: `fatal` */
    bool is_dropping;     /* a coroutine is being closed: its handlers can do nothing */
    bool is_loading;      /* a module is loading inside a turn: no effects */
    bool is_building;     /* so is an isolated agent's world, in a simulation */
    uint32_t steps_max;   /* VM instructions of a simulated turn */
    int64_t steps_left;
    uint32_t cpu_ms_max;       /* CPU time of a turn */
    uint32_t memory_bytes_max; /* what it may add to the heap */
    uint32_t workers_max;      /* worker processes at once */
    struct soc_slice given;    /* answer of the next effect, if that only looks; absent: none */
    struct soc_slice given_id; /* of the next agent that is spawned; absent: none */
    struct soc_buf fatal;      /* why the turn is broken: an error object */
    struct soc_buf state;      /* run.c: agent.state of the turn that ends */
    struct soc_buf arguments;  /* effect.c: for history */
    struct soc_buf handed;     /* isolated.c: an answer to a worker */
    struct soc_buf traceback;  /* isolated.c: the worker's, of the error that ends the turn */

    /* What each area keeps for itself. */
    struct soc_budget *budget;               /* budget.c */
    struct soc_thread *free_threads;         /* thread.c: the pool */
    struct soc_frame *frame;                 /* frame.c: of the open call, or the next one */
    struct soc_flat_shapes *shapes;          /* payload.c */
    size_t copies_bytes;                     /* message.c: payloads kept as tables until delivery */
    struct soc_behaviours *behaviours;       /* behaviour.c */
    struct soc_environments *environments;   /* environments.c */
    struct soc_seats *seats;                 /* seat.c: isolated agents */
    struct soc_cells *cells;                 /* cell.c: isolated agents in a simulation */
    struct soc_workers *workers;             /* processes; NULL: simulated, or no program */
    struct soc_buf app;                      /* handout.c: the app as isolated agents get it */
    struct soc_policy_set *policies;         /* policies/policy_set.c */
    struct soc_policy_log *policy_log;       /* policies/policy_log.c */
    struct soc_messages *messages;           /* policies/messages.c: the vocabularies in force */
    struct soc_keys *keys;                   /* calls/keys.c */
    struct soc_secrets *secrets;             /* calls/secrets.c */
    struct soc_exchanges *exchanges;         /* calls/exchange.c */
    struct soc_visits *visits;               /* calls/visit.c */
    struct soc_errands *errands;             /* calls/errand.c */
    struct soc_chats *chats;                 /* calls/chat.c */
    struct soc_chat_settings *chat_settings; /* calls/chat_settings.c */
    struct soc_recorder *recorder;           /* history/recorder.c */
    struct soc_settings *settings;           /* bindings/settings.c */
};

/* Pushes an empty box. */
void soc_box_push(lua_State *L);

/* Lends the script of the box at `index`; raises if the society is gone. */
struct soc_script *soc_box_script(lua_State *L, int index);

#endif

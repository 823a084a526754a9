/* Files state: the inside of the file door, for its own files only.
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_STATE_H
#define SOC_BRIDGE_FILES_STATE_H

#include "base/map.h"
#include "bridge/files/lines.h"
#include "bridge/files/outlet.h"
#include "bridge/files/workdir.h"
#include "kernel/host.h"
#include "loop/alarm.h"
#include "loop/folder.h"
#include "parts/outside/files_settings.h"
#include "parts/outside/outside.h"

/* A file that shows a state and is replaced when that changes. */
struct soc_report {
    struct soc_buf text; /* as written */
    struct soc_buf next; /* waits to be durable */
    struct soc_left left;
    bool is_stuck; /* the last write failed: logged once */
};

/* A log. */
struct soc_files_log {
    struct soc_buf text; /* lines that wait to be durable, or could not be written */
    size_t ready;        /* bytes of `text` that the pending call writes */
    struct soc_left left;
    bool is_stuck; /* the last write failed: logged once */
};

/* A file that is read. */
struct soc_inlet {
    struct soc_files *files;
    struct soc_files_client *client; /* who speaks in it; NULL: each line says */
    struct soc_lines lines;
    enum soc_place place;
    char *name;
    char *position; /* what its position is kept under */
    bool is_acks;
    bool is_waiting; /* a line was refused for now: told */
};

/* An outside agent. It stays, with what is known of it, when the agent has ended. */
struct soc_files_client {
    struct soc_files *files;
    struct soc_files_client *next_changed; /* of those to be looked at */
    char *id;
    char *perspective;
    struct soc_outlet queue;
    struct soc_inlet acks;
    struct soc_inlet out;
    struct soc_map pending; /* keys of messages handed out, ever, and not done with */
    int64_t started_ms;
    char since[SOC_MESSAGE_ID_BYTES + 1]; /* broadcasts with lesser ids came before it */
    int64_t heard_ms;                     /* as agents.json shows it; 0: never */
    int64_t beat_ms;                      /* what its heartbeat said last; 0: nothing yet */
    uint64_t beat_mark;                   /* of that file, as the system described it */
    uint32_t owner;                       /* the user who alone speaks for it, if is_owned */
    bool is_owned;
    bool is_beat_faulty; /* it said nothing that is a time: told */
    bool is_stuck;       /* its queue could not be written: told */
    bool is_changed;     /* stands in the list of those to be looked at */
    bool is_unresponsive;
    bool is_ended;
};

/* The door. */
struct soc_files {
    struct soc_host *host;
    struct soc_loop *loop;
    const struct soc_files_settings *settings;
    struct soc_workdir dir;
    char *workflow_id;
    int64_t created_ms;
    struct soc_map clients; /* id -> client, owned */
    struct soc_outlet broadcast;
    struct soc_inlet orchestrator;

    /* watching */
    struct soc_folder *folders[3];
    bool is_lost[SOC_PLACE_COUNT]; /* that folder cannot be opened or made: told */
    struct soc_alarm *look_alarm;  /* something was told: look at it */
    struct soc_alarm *sweep_alarm; /* look at everything */
    struct soc_files_client *changed;
    bool is_orchestrator_changed;
    bool is_all_changed;
    int64_t sweep_ms;  /* between the last two */
    uint64_t found;    /* lines and heartbeats so far */
    uint64_t sweep_at; /* the same at the last sweep */

    /* reports */
    struct soc_alarm *report_alarm;
    bool is_report_due;    /* something changed that is shown at once */
    bool is_report_called; /* what is to be written waits to be durable */
    bool is_log_called;
    struct soc_report agents, status;
    struct soc_files_log events, errors;

    bool is_stuck; /* the broadcast file could not be written: told */
    bool is_held;  /* something could not be handed out: to be tried again */
    bool is_over;  /* the society has come to its end: what is said now is refused */
    bool is_stopped;
    struct soc_buf scratch;
};

/* Finds the client of that id, or NULL. */
struct soc_files_client *soc_files_find(struct soc_files *files, struct soc_slice id);

/* Has the files of a client looked at soon. */
void soc_files_note_change(struct soc_files_client *client);

#endif

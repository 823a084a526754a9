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

/* A file that shows a state and is replaced when the state changes. */
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
    struct soc_files_client *client; /* the sender; NULL: each line names one */
    struct soc_lines lines;
    enum soc_place place;
    char *name;
    char *position; /* name under which the position is stored */
    bool is_acks;
    bool is_waiting;    /* a line was refused for now: logged once */
    uint64_t malformed; /* lines in a row, up to the last one */
};

/* An outside agent. It is kept when the agent has ended. */
struct soc_files_client {
    struct soc_files *files;
    struct soc_files_client *next_changed; /* list of clients to look at */
    char *id;
    char *perspective;
    struct soc_outlet queue;
    struct soc_inlet acks;
    struct soc_inlet out;
    struct soc_map pending; /* keys of unfinished messages handed out so far */
    int64_t started_ms;
    char since[SOC_MESSAGE_ID_BYTES + 1]; /* broadcasts with lower ids are older than the agent */
    int64_t heard_ms;                     /* as agents.json shows it; 0: never */
    int64_t beat_ms;                      /* last time in its heartbeat; 0: none yet */
    uint64_t beat_mark;                   /* hash of that file's metadata */
    uint32_t owner;                       /* the only user who may write as it, if is_owned */
    bool is_owned;
    bool is_beat_faulty; /* its heartbeat is malformed: logged once */
    bool is_stuck;       /* its queue could not be written: logged once */
    bool is_changed;     /* it is in the list of clients to look at */
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
    int64_t until_us;  /* a step reads files until then */
    size_t sweep_next; /* cursor of the sweep that is under way; 0: none is */
    struct soc_folder *folders[3];
    bool is_lost[SOC_PLACE_COUNT]; /* that folder cannot be opened or created: logged once */
    struct soc_alarm *look_alarm;  /* a change was reported */
    struct soc_alarm *sweep_alarm; /* time for a sweep */
    struct soc_files_client *changed;
    bool is_orchestrator_changed;
    bool is_all_changed;
    int64_t sweep_ms;   /* between the last two sweeps */
    uint64_t found;     /* lines and heartbeats so far */
    uint64_t sweep_at;  /* `found` at the last sweep */
    int64_t archive_ms; /* when the archive was last looked at; 0: not yet */

    /* reports */
    struct soc_alarm *report_alarm;
    bool is_report_due;    /* a change must be reported at once */
    bool is_report_noted;  /* a change is reported within a second */
    bool is_report_called; /* a pending report waits to be durable */
    bool is_log_called;
    struct soc_report agents, status;
    struct soc_files_log events, errors;

    bool is_stuck; /* the broadcast file could not be written: logged once */
    bool is_held;  /* a message could not be handed out; retried */
    bool is_over;  /* the society has ended: new lines are refused */
    bool is_stopped;
    struct soc_buf scratch;
};

/* Lends the client with that id, or NULL. */
struct soc_files_client *soc_files_find(struct soc_files *files, struct soc_slice id);

/* Schedules a look at the files of a client. */
void soc_files_note_change(struct soc_files_client *client);

#endif

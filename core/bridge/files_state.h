/* Files state: the inside of the file door, for its own files only.
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_STATE_H
#define SOC_BRIDGE_FILES_STATE_H

#include "base/map.h"
#include "bridge/files.h"
#include "bridge/files_log.h"
#include "bridge/files_report.h"
#include "bridge/lines.h"
#include "bridge/outlet.h"
#include "bridge/workdir.h"
#include "kernel/host.h"
#include "loop/alarm.h"
#include "loop/folder.h"
#include "parts/outside/outside.h"

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

/* Lends the client of that id, or NULL. */
struct soc_files_client *soc_files_find(struct soc_files *files, struct soc_slice id);

/* Looks whether a file that we write is as we left it, and has what it lacks written again;
 * `client` NULL: the broadcasts. */
void soc_files_check(struct soc_files *files, struct soc_files_client *client);

/* Rotates the file of an agent that is full, if there is room to be made; `client` NULL: the
 * broadcasts. */
void soc_files_rotate(struct soc_files *files, struct soc_files_client *client);

/* files_in.c: looks at a file and takes what is new; tells whether there is more. */
bool soc_files_look(struct soc_inlet *inlet, bool is_last);

/* The same with the acks of an agent, up to where the file reached before that was looked at
 * which the agent says. An ack may end an agent that is to end, so it comes behind what was said
 * before it: while some of that waits the acks of such an agent stay where they are, and tell
 * only that what they name has arrived. */
bool soc_files_look_at_acks(struct soc_files_client *client, const struct soc_lines_end *end,
                            bool is_last);

/* Prepares an inlet at the position that was kept for it; has it begin anew, when what it
 * read was put away; and frees it. */
void soc_inlet_open(struct soc_inlet *inlet, struct soc_files *files,
                    struct soc_files_client *client, enum soc_place place, const char *name);
void soc_inlet_begin_anew(struct soc_inlet *inlet);
void soc_inlet_close(struct soc_inlet *inlet);

/* files_watch.c: begins and ends to watch; looks at everything there is. */
void soc_files_watch(struct soc_files *files);
void soc_files_unwatch(struct soc_files *files);
void soc_files_look_at_all(struct soc_files *files, bool is_last);
void soc_files_note_change(struct soc_files_client *client);

#endif

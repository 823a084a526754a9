/* Assembly: puts a society together.
 *
 * It creates store, loop, host, Lua state and script in the right order and takes them
 * down in the right order. `society run` and programs that embed a society use it
 * through society.h; simulations and checks use it directly.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_ASSEMBLY_H
#define SOC_EMBED_ASSEMBLY_H

#include <lua.h>

#include "kernel/host.h"
#include "script/script.h"

/* An earlier text of a file. */
struct soc_kept_file {
    const char *path;
    struct soc_slice text;
};

/* Options. */
struct soc_assembly_options {
    const char *app_file;
    const char *state_dir; /* NULL: in memory */
    const char *seed_dir;  /* of a society in memory that stands for another's; NULL: none */
    struct soc_disk *disk; /* lent: a simulated disk instead of a directory */
    struct soc_buf *blank; /* lent: for many in memory, one after the other; see store/memory.h */
    const char *home;      /* NULL: search for it */
    const char *program;   /* path of the program `society`; NULL: there are no workers */
    bool is_simulated;     /* virtual time, no loop, in memory */
    uint64_t seed;
    char *const *arguments;
    int argument_count;
    const char *const *policies;      /* "KIND=NAME" each, NULL-terminated; NULL: none */
    const char *const *settings;      /* "KEY=VALUE" each, NULL-terminated; NULL: none */
    const struct soc_kept_file *kept; /* texts to use instead of files; NULL: read files */
    size_t kept_count;
    bool has_files; /* read files that are not among the kept texts */
    /* As in kernel/options.h. */
    struct soc_log log;
    bool (*show)(void *user, struct soc_slice stream, struct soc_slice agent,
                 struct soc_slice text);
    void (*failed)(void *user, const struct soc_detail *detail);
    void *user;
    bool retries_main;
    struct soc_faults *faults;         /* for a simulation, lent; NULL: none */
    const struct soc_witness *witness; /* lent; NULL: none */
    bool has_telemetry;                /* somebody listens to spans */
};

/* An all-zero struct is empty. Use the parts but do not replace them. */
struct soc_assembly {
    struct soc_store *store;
    struct soc_loop *loop; /* NULL: simulated */
    struct soc_host *host;
    struct soc_script *script;
    lua_State *L;
    char *app_name;
};

/* Creates the parts with an empty script: no file is run. On an error everything is
 * taken down again. */
int soc_assembly_make(struct soc_assembly *parts, const struct soc_assembly_options *options,
                      struct soc_detail *detail);

/* The same, then runs the app's file and applies policies and settings. The file is
 * compiled before anything is created on disk. */
int soc_assembly_load(struct soc_assembly *parts, const struct soc_assembly_options *options,
                      struct soc_detail *detail);

/* Loads the state and begins `main`. */
int soc_assembly_start(struct soc_assembly *parts, struct soc_detail *detail);

/* For simulations, a restart in three steps: end the host and its script as a crash
 * does; open the store again, on its disk or empty in memory; create host and script,
 * load and start with the wall clock at `date_ms`; 0: at the time that was reached. */
void soc_assembly_crash(struct soc_assembly *parts);
int soc_assembly_reopen(struct soc_assembly *parts, const struct soc_assembly_options *options,
                        struct soc_detail *detail);
int soc_assembly_resume(struct soc_assembly *parts, const struct soc_assembly_options *options,
                        int64_t date_ms, struct soc_detail *detail);

/* Closes the host cleanly, or as `kill -9` would if `is_crash`. */
void soc_assembly_end_host(struct soc_assembly *parts, bool is_crash);

/* Frees all parts, the host first if it still exists. */
void soc_assembly_free(struct soc_assembly *parts);

/* Moves an older state aside into DIRECTORY/previous. SOC_OK even if there is none;
 * SOC_ELOCKED, SOC_EACCESS, SOC_EIO. */
int soc_assembly_put_aside(const char *directory, struct soc_detail *detail);

/* Logs a warning if everybody can write a directory above the state. The state directory itself
 * was checked when it was locked. */
void soc_assembly_warn_of_parents(const struct soc_assembly *parts, const char *state_dir);

#endif

/* Assembly: the parts of one society, put together.
 *
 * Store, loop, host, Lua state and script, made in the right order and taken down
 * in the right order. `society run` and programs that embed one use it through
 * society.h; simulations and checks use it as it is.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_ASSEMBLY_H
#define SOC_EMBED_ASSEMBLY_H

#include <lua.h>

#include "kernel/host.h"
#include "script/script.h"

/* The text of a file as it was once. */
struct soc_kept_file {
    const char *path;
    struct soc_slice text;
};

/* What a society is put together from. */
struct soc_assembly_options {
    const char *app_file;
    const char *state_dir; /* NULL: in memory */
    struct soc_disk *disk; /* instead of a directory, lent: a simulated disk */
    struct soc_buf *blank; /* for many in memory, one after the other, lent: as in store.h */
    const char *home;      /* NULL: found */
    bool is_simulated;     /* virtual time, no loop; in memory */
    uint64_t seed;
    char *const *arguments;
    int argument_count;
    const char *const *policies;      /* "KIND=NAME" each, then NULL; NULL: none */
    const char *const *settings;      /* "KEY=VALUE" each, then NULL; NULL: none */
    const struct soc_kept_file *kept; /* read instead of the files; NULL: files are read */
    size_t kept_count;
    bool has_files; /* beside what was kept, files are read */
    /* As in host.h. */
    struct soc_log log;
    bool (*show)(void *user, struct soc_slice stream, struct soc_slice agent,
                 struct soc_slice text);
    void (*failed)(void *user, const struct soc_detail *detail);
    void *user;
    struct soc_faults *faults;         /* of a simulation, lent; NULL: none */
    const struct soc_witness *witness; /* lent; NULL: none */
};

/* An all-zero struct is nothing yet. The parts may be used, not replaced. */
struct soc_assembly {
    struct soc_store *store;
    struct soc_loop *loop; /* NULL: simulated */
    struct soc_host *host;
    struct soc_script *script;
    lua_State *L;
    char *app_name;
};

/* Makes the parts with an empty script: no file is run. On an error everything is
 * taken down again. */
int soc_assembly_make(struct soc_assembly *parts, const struct soc_assembly_options *options,
                      struct soc_detail *detail);

/* The same, then runs the app's file, policies and settings over it. The file is
 * compiled before anything is made on disk. */
int soc_assembly_load(struct soc_assembly *parts, const struct soc_assembly_options *options,
                      struct soc_detail *detail);

/* Loads the state and begins `main`. */
int soc_assembly_start(struct soc_assembly *parts, struct soc_detail *detail);

/* For simulations, what a restart of the program does, in three steps: ends the host as
 * a crash does, and its script; opens the store anew, on its disk, or an empty one in
 * memory; makes host and script again, loads and starts, at `now_ms` or the time that was
 * reached if that is later. */
void soc_assembly_crash(struct soc_assembly *parts);
int soc_assembly_reopen(struct soc_assembly *parts, const struct soc_assembly_options *options,
                        struct soc_detail *detail);
int soc_assembly_resume(struct soc_assembly *parts, const struct soc_assembly_options *options,
                        int64_t now_ms, struct soc_detail *detail);

/* Ends the host: durable, or as `kill -9` would if `is_crash`. */
void soc_assembly_end_host(struct soc_assembly *parts, bool is_crash);

/* Frees all parts, the host first if it still is there. */
void soc_assembly_free(struct soc_assembly *parts);

/* Puts an older state aside into DIRECTORY/previous. SOC_OK also if there is none;
 * SOC_ELOCKED, SOC_EACCESS, SOC_EIO. */
int soc_assembly_put_aside(const char *directory, struct soc_detail *detail);

#endif

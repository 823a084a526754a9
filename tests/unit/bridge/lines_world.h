/* Lines world: a file that is written, spoilt and read.
 *
 * Layer: tests. Thread: any, one at a time. */
#ifndef SOC_TESTS_LINES_WORLD_H
#define SOC_TESTS_LINES_WORLD_H

#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bridge/files/lines.h"
#include "bridge/files/workdir.h"

#define NAME       "a.ack"
#define LINES_MAX  64
#define WAIT_MS    5000
#define LINE_BYTES 200

/* A file that is written, spoilt and read; what was taken, in order. */
struct world {
    char path[64];
    struct soc_workdir dir;
    struct soc_lines lines;
    struct soc_look_options options;
    struct soc_buf taken; /* texts, each with a newline */
    struct soc_buf notes; /* a letter for each note */
    char keys[LINES_MAX][SOC_LINES_KEY_BYTES];
    int key_count;
    int lines_taken;
    bool refuses;     /* takes no line */
    bool knows_lines; /* a line whose key came before is not taken again */
};

/* Tells whether a line was taken before. */
static inline bool is_known(struct world *world, const char *key)
{
    for (int i = 0; i < world->key_count; i++)
        if (strcmp(world->keys[i], key) == 0)
            return true;
    return false;
}

/* Takes a line, or notes what a look has found. */
static inline bool take(void *user, const struct soc_line *line)
{
    struct world *world = user;
    char key[SOC_LINES_KEY_BYTES];
    if (line->kind > SOC_LINE_UNENDED) {
        soc_buf_put_byte(&world->notes, "..LlTRGBO"[line->kind]);
        return true;
    }
    if (world->refuses)
        return false;
    if (line->kind == SOC_LINE_UNENDED && line->text.data[line->text.length - 1] != '}') {
        soc_buf_put_byte(&world->notes, 'U');
        soc_lines_leave_torn(&world->lines);
        return false;
    }
    soc_lines_key(&world->lines, NAME, line, key);
    if (world->knows_lines && is_known(world, key))
        return true;
    if (world->key_count < LINES_MAX)
        memcpy(world->keys[world->key_count++], key, sizeof(key));
    soc_buf_put_slice(&world->taken, line->text);
    soc_buf_put_byte(&world->taken, '\n');
    world->lines_taken++;
    return true;
}

/* Makes an empty directory to work in. */
static inline void open_world(struct world *world)
{
    struct soc_detail detail = {0};
    *world = (struct world){.path = "/tmp/society_lines_XXXXXX"};
    world->options = (struct soc_look_options){.dir = &world->dir,
                                               .place = SOC_PLACE_AGENTS,
                                               .name = NAME,
                                               .line_bytes_max = LINE_BYTES,
                                               .lines_max = 100,
                                               .now_ms = 1000,
                                               .wait_ms = WAIT_MS};
    CHECK(mkdtemp(world->path) != NULL);
    CHECK_INT(soc_workdir_open(&world->dir, world->path, true, 0700, 0600, &detail), SOC_OK);
}

/* Removes it. */
static inline void close_world(struct world *world)
{
    char command[128];
    soc_workdir_close(&world->dir);
    soc_buf_fini(&world->taken);
    soc_buf_fini(&world->notes);
    snprintf(command, sizeof(command), "rm -rf '%s'", world->path);
    CHECK_INT(system(command), 0);
}

/* Looks once. */
static inline bool look(struct world *world)
{
    return soc_lines_look(&world->lines, &world->options, take, world);
}

/* Appends to the file. */
static inline void append(struct world *world, struct soc_slice text)
{
    CHECK_INT(soc_workdir_append(&world->dir, SOC_PLACE_AGENTS, NAME, text), 0);
}

/* Appends a text. */
static inline void put(struct world *world, const char *text)
{
    append(world, soc_slice_text(text));
}

/* Cuts the file. */
static inline void truncate_to(struct world *world, size_t length)
{
    int file = soc_workdir_open_file(&world->dir, SOC_PLACE_AGENTS, NAME, O_WRONLY);
    CHECK_INT(ftruncate(file, (off_t)length), 0);
    close(file);
}

/* Puts another file in its place. */
static inline void replace_by(struct world *world, const char *text)
{
    CHECK_INT(soc_workdir_replace(&world->dir, SOC_PLACE_AGENTS, NAME, soc_slice_text(text), NULL),
              0);
}

/* Forgets all but the position, as a restart does. */
static inline void restart(struct world *world)
{
    char position[SOC_LINES_POSITION_BYTES];
    soc_lines_put_position(&world->lines, position);
    world->lines = (struct soc_lines){0};
    CHECK(soc_lines_set_position(&world->lines, soc_slice_text(position)));
}

#define CHECK_TAKEN(world, expected) CHECK_TEXT(soc_buf_text(&(world)->taken), expected)
#define CHECK_NOTES(world, expected) CHECK_TEXT(soc_buf_text(&(world)->notes), expected)

#endif

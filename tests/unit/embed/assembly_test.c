/* The seed of a society's Lua state: that of its directory, which no script can guess.
 *
 * Covers: core/embed/assembly.c */
#include "embed/assembly.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "lualib/lua_heap.h"
#include "store/directory.h"

#define PATH_BYTES 64

static const char app[] = "local society = require('society')\n"
                          "society.root(function() return 'x' end)\n";

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    (void)user, (void)stream, (void)agent, (void)text;
    return true;
}

static void failed(void *user, const struct soc_detail *detail)
{
    (void)user;
    CHECK_TEXT(detail->text, "");
}

/* Loads the app and returns the seed of its Lua state. */
static uint32_t load(const char *state_dir, const char *seed_dir)
{
    static const char path[] = "app.lua";
    const struct soc_kept_file kept = {path, SOC_SLICE(app)};
    struct soc_assembly parts;
    struct soc_detail detail = {0};
    struct soc_assembly_options options = {
        .app_file = path,
        .state_dir = state_dir,
        .seed_dir = seed_dir,
        .home = ".",
        .is_simulated = state_dir == NULL,
        .seed = 1,
        .kept = &kept,
        .kept_count = 1,
        .has_files = true,
        .log = {.level = SOC_LOG_NONE},
        .show = show,
        .failed = failed,
    };
    CHECK_INT(soc_assembly_load(&parts, &options, &detail), SOC_OK);
    CHECK_TEXT(detail.text, "");
    uint32_t seed = soc_lua_heap_seed(parts.L);
    soc_assembly_free(&parts);
    return seed;
}

static void texts_are_hashed_by_a_seed_of_the_state_directory(void)
{
    char directory[] = "/tmp/society_seed_XXXXXX";
    char first[PATH_BYTES], second[PATH_BYTES], command[2 * PATH_BYTES];
    CHECK(mkdtemp(directory) != NULL);
    snprintf(first, sizeof(first), "%s/a", directory);
    snprintf(second, sizeof(second), "%s/b", directory);
    CHECK_INT(soc_directory_seed(first), 0);
    uint32_t seed = load(first, NULL); /* which makes the directory */
    CHECK(seed != 0);
    CHECK_INT(soc_directory_seed(first), seed);
    CHECK_INT(load(first, NULL), seed);
    CHECK(load(second, NULL) != seed);
    CHECK_INT(load(NULL, first), seed); /* a replay of what happened there */
    CHECK_INT(load(NULL, NULL), 0);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    CHECK_INT(system(command), 0);
}

int main(void)
{
    RUN(texts_are_hashed_by_a_seed_of_the_state_directory);
    return check_done();
}

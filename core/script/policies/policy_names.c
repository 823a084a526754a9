#include "script/policies/policy_names.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "script/policies/policy_load.h"

/* Names, owned. */
struct names {
    char **items;
    size_t count;
};

/* Returns the length of a name without `.lua`; 0 if it is not that of a policy. */
static size_t name_length(const char *file)
{
    size_t length = strlen(file);
    bool is_policy = length > 4 && strcmp(file + length - 4, ".lua") == 0 && file[0] != '.';
    return is_policy ? length - 4 : 0;
}

static void add_folder(struct names *names, const char *root, const char *kind)
{
    char path[SOC_PATH_BYTES_MAX];
    const struct dirent *entry;
    int length = root == NULL ? -1 : snprintf(path, sizeof(path), "%s/policies/%s", root, kind);
    DIR *folder = length < 0 || (size_t)length >= sizeof(path) ? NULL : opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        size_t bytes = name_length(entry->d_name);
        if (bytes == 0)
            continue;
        names->items = soc_realloc(names->items, (names->count + 1) * sizeof(*names->items));
        names->items[names->count++] = soc_copy_text(entry->d_name, bytes);
    }
    if (folder != NULL)
        closedir(folder);
}

static int compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

void soc_policy_names_put(const char *app_dir, const char *home, const char *kind,
                          struct soc_buf *out)
{
    struct names names = {0};
    add_folder(&names, app_dir, kind);
    add_folder(&names, home, kind);
    if (names.count > 0)
        qsort(names.items, names.count, sizeof(*names.items), compare);
    soc_buf_put_byte(out, '[');
    for (size_t i = 0; i < names.count; i++) {
        bool is_new = i == 0 || strcmp(names.items[i - 1], names.items[i]) != 0;
        if (is_new && i > 0)
            soc_buf_put_byte(out, ',');
        if (is_new)
            soc_json_put_string(out, soc_slice_text(names.items[i]));
    }
    soc_buf_put_byte(out, ']');
    for (size_t i = 0; i < names.count; i++)
        free(names.items[i]);
    free(names.items);
}

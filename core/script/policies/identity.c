#include "script/policies/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* "policies/contacts/mine.lua" is called mine. */
static char *copy_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *start = slash == NULL ? name : slash + 1;
    size_t length = strlen(start);
    if (length > 4 && strcmp(start + length - 4, ".lua") == 0)
        length -= 4;
    return soc_copy_text(start, length);
}

void soc_identity_set(struct soc_identity *identity, const char *name, const char *path,
                      const char *hash)
{
    struct soc_identity new = {.name = copy_name(name)};
    if (path != NULL)
        new.path = soc_copy_text(path, strlen(path));
    snprintf(new.hash, sizeof(new.hash), "%s", hash == NULL ? "app" : hash);
    soc_identity_fini(identity);
    *identity = new;
}

void soc_identity_fini(struct soc_identity *identity)
{
    free(identity->name);
    free(identity->path);
    *identity = (struct soc_identity){0};
}

void soc_identity_hash(char hash[SOC_IDENTITY_HASH_BYTES], struct soc_slice bytes)
{
    snprintf(hash, SOC_IDENTITY_HASH_BYTES, "%016" PRIx64, soc_hash(bytes.data, bytes.length, 0));
}

void soc_identity_hash_more(char hash[SOC_IDENTITY_HASH_BYTES], struct soc_slice bytes)
{
    uint64_t before = strtoull(hash, NULL, 16);
    snprintf(hash, SOC_IDENTITY_HASH_BYTES, "%016" PRIx64,
             soc_hash(bytes.data, bytes.length, before));
}

#include "bridge/http/tokens.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "check.h"
#include "kernel/operations/operation.h"

struct tokens_world {
    char path[64];
    struct soc_detail detail;
};

static void open_world(struct tokens_world *world)
{
    *world = (struct tokens_world){.path = "/tmp/tokens_test_XXXXXX"};
    CHECK(mkdtemp(world->path) != NULL);
}

static void close_world(struct tokens_world *world)
{
    static const char *const names[] = {"http.token", "http.tokens", "http.tokens.new"};
    char path[128];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", world->path, names[i]);
        unlink(path);
    }
    CHECK(rmdir(world->path) == 0);
}

static void write_file(const struct tokens_world *world, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", world->path, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static int mode_of(const struct tokens_world *world, const char *name)
{
    struct stat info;
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", world->path, name);
    return stat(path, &info) == 0 ? (int)(info.st_mode & 0777) : -1;
}

static bool file_has(const struct tokens_world *world, const char *name, struct soc_slice text)
{
    char path[128];
    char bytes[4096];
    snprintf(path, sizeof(path), "%s/%s", world->path, name);
    FILE *file = fopen(path, "r");
    size_t length = file == NULL ? 0 : fread(bytes, 1, sizeof(bytes), file);
    if (file != NULL)
        fclose(file);
    return memmem(bytes, length, text.data, text.length) != NULL;
}

static void the_owner_has_a_token_from_the_first_start_on(void)
{
    struct tokens_world world;
    struct soc_tokens *tokens;
    struct soc_buf key = {0};
    open_world(&world);
    CHECK_INT(soc_tokens_read_key(world.path, &key, &world.detail), SOC_ENOFILE);
    CHECK_INT(soc_tokens_open(&tokens, world.path, &world.detail), SOC_OK);
    CHECK_INT(mode_of(&world, "http.token"), 0600);
    CHECK_INT(soc_tokens_read_key(world.path, &key, &world.detail), SOC_OK);
    CHECK(soc_slice_equal(soc_buf_slice(&key), soc_tokens_key(tokens)));
    CHECK_INT(key.length, 68);
    const struct soc_token *owner = soc_tokens_find(tokens, soc_buf_slice(&key));
    CHECK(owner != NULL);
    if (owner != NULL) {
        CHECK_TEXT(owner->name, "owner");
        CHECK_INT(owner->scopes, SOC_SCOPE_ALL);
    }
    CHECK(soc_tokens_find(tokens, SOC_SLICE("soc_")) == NULL);
    CHECK(soc_tokens_find(tokens, SOC_SLICE("")) == NULL);
    soc_tokens_free(tokens);
    /* The same at the next start. */
    CHECK_INT(soc_tokens_open(&tokens, world.path, &world.detail), SOC_OK);
    CHECK(soc_slice_equal(soc_buf_slice(&key), soc_tokens_key(tokens)));
    soc_tokens_free(tokens);
    soc_buf_fini(&key);
    close_world(&world);
}

static void tokens_are_added_and_removed_while_the_door_is_open(void)
{
    struct tokens_world world;
    struct soc_tokens *tokens;
    struct soc_buf one = {0};
    struct soc_buf two = {0};
    open_world(&world);
    CHECK_INT(soc_tokens_open(&tokens, world.path, &world.detail), SOC_OK);
    CHECK_INT(soc_tokens_add(world.path, "one", "read", NULL, &one, &world.detail), SOC_OK);
    CHECK_INT(soc_tokens_add(world.path, "two", "write,decide", "worker", &two, &world.detail),
              SOC_OK);
    CHECK_INT(mode_of(&world, "http.tokens"), 0600);
    CHECK(!file_has(&world, "http.tokens", soc_buf_slice(&one)));
    CHECK(file_has(&world, "http.tokens", SOC_SLICE("\"two\"")));
    const struct soc_token *found = soc_tokens_find(tokens, soc_buf_slice(&one));
    CHECK(found != NULL && found->scopes == SOC_SCOPE_READ && found->agent == NULL);
    found = soc_tokens_find(tokens, soc_buf_slice(&two));
    CHECK(found != NULL && found->scopes == (SOC_SCOPE_WRITE | SOC_SCOPE_DECIDE));
    CHECK(found != NULL && strcmp(found->agent, "worker") == 0);
    CHECK_INT(soc_tokens_remove(world.path, "one", &world.detail), SOC_OK);
    CHECK(soc_tokens_find(tokens, soc_buf_slice(&one)) == NULL);
    CHECK(soc_tokens_find(tokens, soc_buf_slice(&two)) != NULL);
    CHECK_INT(soc_tokens_remove(world.path, "one", &world.detail), SOC_ENOFILE);
    CHECK_INT(soc_tokens_remove(world.path, "two", &world.detail), SOC_OK);
    CHECK(soc_tokens_find(tokens, soc_buf_slice(&two)) == NULL);
    soc_tokens_free(tokens);
    soc_buf_fini(&one);
    soc_buf_fini(&two);
    close_world(&world);
}

static void a_list_has_no_secrets(void)
{
    struct tokens_world world;
    struct soc_tokens *tokens;
    struct soc_buf token = {0};
    struct soc_buf list = {0};
    open_world(&world);
    CHECK_INT(soc_tokens_list("/nonexistent/tokens_test", &list, &world.detail), SOC_ENOFILE);
    CHECK_INT(soc_tokens_open(&tokens, world.path, &world.detail), SOC_OK);
    CHECK_INT(soc_tokens_add(world.path, "one", "read", "worker", &token, &world.detail), SOC_OK);
    CHECK_INT(soc_tokens_list(world.path, &list, &world.detail), SOC_OK);
    CHECK_INT(soc_json_check(soc_buf_slice(&list), NULL), SOC_OK);
    CHECK(strstr(soc_buf_text(&list),
                 "{\"name\":\"one\",\"scopes\":[\"read\"],\"as\":\"worker\"") != NULL);
    CHECK(strstr(soc_buf_text(&list), "sha256") == NULL);
    CHECK(strstr(soc_buf_text(&list), "soc_") == NULL);
    soc_tokens_free(tokens);
    soc_buf_fini(&token);
    soc_buf_fini(&list);
    close_world(&world);
}

static void bad_names_scopes_and_agents_are_refused(void)
{
    struct tokens_world world;
    struct soc_buf token = {0};
    open_world(&world);
    CHECK_INT(soc_tokens_add(world.path, "one", "read", NULL, &token, &world.detail), SOC_OK);
    CHECK_INT(soc_tokens_add(world.path, "one", "read", NULL, &token, &world.detail), SOC_EEXISTS);
    CHECK_INT(soc_tokens_add(world.path, "owner", "read", NULL, &token, &world.detail), SOC_EINVAL);
    CHECK_INT(soc_tokens_add(world.path, "a b", "read", NULL, &token, &world.detail), SOC_EINVAL);
    CHECK_INT(soc_tokens_add(world.path, "", "read", NULL, &token, &world.detail), SOC_EINVAL);
    CHECK_INT(soc_tokens_add(world.path, "two", "", NULL, &token, &world.detail), SOC_EINVAL);
    CHECK_INT(soc_tokens_add(world.path, "two", "all", NULL, &token, &world.detail), SOC_EINVAL);
    CHECK_INT(soc_tokens_add(world.path, "two", "read", "a/b", &token, &world.detail), SOC_EINVAL);
    soc_buf_fini(&token);
    close_world(&world);
}

static void a_malformed_file_does_not_open_the_door(void)
{
    struct tokens_world world;
    struct soc_tokens *tokens;
    struct soc_buf token = {0};
    open_world(&world);
    CHECK_INT(soc_tokens_open(&tokens, world.path, &world.detail), SOC_OK);
    CHECK_INT(soc_tokens_add(world.path, "one", "read", NULL, &token, &world.detail), SOC_OK);
    CHECK(soc_tokens_find(tokens, soc_buf_slice(&token)) != NULL);
    write_file(&world, "http.tokens", "{\"name\":\"two\",\"scopes\":[\"read\"]}\n");
    CHECK(soc_tokens_find(tokens, soc_buf_slice(&token)) != NULL); /* as it was before */
    soc_tokens_free(tokens);
    CHECK_INT(soc_tokens_open(&tokens, world.path, &world.detail), SOC_EINVAL);
    write_file(&world, "http.tokens", "");
    write_file(&world, "http.token", "\n");
    CHECK_INT(soc_tokens_open(&tokens, world.path, &world.detail), SOC_EINVAL);
    soc_buf_fini(&token);
    close_world(&world);
}

int main(void)
{
    RUN(the_owner_has_a_token_from_the_first_start_on);
    RUN(tokens_are_added_and_removed_while_the_door_is_open);
    RUN(a_list_has_no_secrets);
    RUN(bad_names_scopes_and_agents_are_refused);
    RUN(a_malformed_file_does_not_open_the_door);
    return check_done();
}

#include "bridge/http/website.h"

#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_site(void)
{
    char path[128];
    char target[128];
    snprintf(root, sizeof(root), "/tmp/website_test_XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    snprintf(path, sizeof(path), "%s/web", root);
    CHECK(mkdir(path, 0755) == 0);
    snprintf(path, sizeof(path), "%s/web/js", root);
    CHECK(mkdir(path, 0755) == 0);
    write_file("secret.txt", "secret");
    write_file("web/index.html", "the page");
    write_file("web/.hidden", "hidden");
    write_file("web/js/app.js", "code");
    write_file("web/js/index.html", "inner");
    snprintf(path, sizeof(path), "%s/web/link.txt", root);
    snprintf(target, sizeof(target), "%s/secret.txt", root);
    CHECK(symlink(target, path) == 0);
}

static void remove_site(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", root);
    CHECK(system(command) == 0);
}

static void expect(const struct soc_website *website, const char *path, const char *text,
                   const char *type)
{
    struct soc_website_file file;
    bool is_found = soc_website_find(website, soc_slice_text(path), &file);
    if (!CHECK(is_found == (text != NULL)))
        printf("# %s\n", path);
    if (!is_found)
        return;
    CHECK_TEXT(soc_buf_text(&file.body), text);
    CHECK_TEXT(file.type, type);
    CHECK_INT(strlen(file.tag), SOC_WEBSITE_TAG_BYTES - 1);
    soc_buf_fini(&file.body);
}

static void files_are_found_with_their_type(void)
{
    char path[128];
    make_site();
    snprintf(path, sizeof(path), "%s/web", root);
    struct soc_website *website = soc_website_new(path);
    expect(website, "/", "the page", "text/html; charset=utf-8");
    expect(website, "/index.html", "the page", "text/html; charset=utf-8");
    expect(website, "/js/app.js", "code", "text/javascript; charset=utf-8");
    expect(website, "/js/", "inner", "text/html; charset=utf-8");
    expect(website, "/js", NULL, NULL);
    expect(website, "/missing.js", NULL, NULL);
    soc_website_free(website);
    remove_site();
}

static void nothing_outside_can_be_named(void)
{
    static const char *const paths[] = {"/../secret.txt",   "/js/../../secret.txt",
                                        "//secret.txt",     "/%2e%2e/secret.txt",
                                        "/.hidden",         "/link.txt",
                                        "/./index.html",    "/js//app.js",
                                        "secret.txt",       "",
                                        "/index.html/",     "/..",
                                        "/js/app.js/..",    "/index.html\n",
                                        "/\\..\\secret.txt"};
    char path[128];
    make_site();
    snprintf(path, sizeof(path), "%s/web", root);
    struct soc_website *website = soc_website_new(path);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        expect(website, paths[i], NULL, NULL);
    soc_website_free(website);
    remove_site();
}

static void without_files_the_root_says_so(void)
{
    struct soc_website *website = soc_website_new("/nonexistent/website_test");
    struct soc_website_file file;
    CHECK(soc_website_find(website, SOC_SLICE("/"), &file));
    CHECK(strstr(soc_buf_text(&file.body), "no page") != NULL);
    soc_buf_fini(&file.body);
    CHECK(!soc_website_find(website, SOC_SLICE("/index.html"), &file));
    soc_website_free(website);
}

int main(void)
{
    RUN(files_are_found_with_their_type);
    RUN(nothing_outside_can_be_named);
    RUN(without_files_the_root_says_so);
    return check_done();
}

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/limits.h"
#include "main/args.h"
#include "main/command.h"
#include "main/output.h"

static const char app_text[] =
    "-- A first app: the person asks root, root has a greeter answer.\n"
    "\n"
    "local society = require(\"society\")\n"
    "\n"
    "society.config { name = \"%s\" } -- the state directory is this app's alone\n"
    "\n"
    "society.role {\n"
    "  id = \"greeter\", name = \"greeter\",\n"
    "  prompt = \"Greets people.\",\n"
    "  behaviour = function(agent, message)\n"
    "    agent.state.count = (agent.state.count or 0) + 1 -- lasts, also over a crash\n"
    "    return { text = \"hello, \" .. message.payload.text, count = agent.state.count }\n"
    "  end,\n"
    "}\n"
    "\n"
    "society.root(function(root, message)\n"
    "  root.state.greeter = root.state.greeter or assert(root:spawn_agent(\"greeter\", {\n"
    "    objective = \"greet\", constraints = {}, inputs = \"a name\", outputs = \"a greeting\",\n"
    "    completion_criteria = \"a greeting was sent\",\n"
    "  })).id\n"
    "  local answer, err = root:request { to = root.state.greeter, payload = message.payload }\n"
    "  return answer and answer.payload or err\n"
    "end)\n"
    "\n"
    "society.main(function(user)\n"
    "  local name = arg[1] or \"world\"\n"
    "  local answer = assert(user:request { to = \"root\", payload = { text = name } })\n"
    "  print(answer.payload.text)\n"
    "end)\n";

static const char spec_text[] =
    "-- Run with: society test\n"
    "\n"
    "local society = require(\"society\")\n"
    "\n"
    "describe(\"the app\", function()\n"
    "  local s\n"
    "\n"
    "  before_each(function()\n"
    "    s = society.new { app = \"app.lua\" }\n"
    "    s:run()\n"
    "  end)\n"
    "\n"
    "  after_each(function()\n"
    "    s:close()\n"
    "  end)\n"
    "\n"
    "  it(\"greets whoever is named\", function()\n"
    "    local answer = assert(s:dispatch(\"root\", { text = \"Ada\" }))\n"
    "    assert.equal(\"hello, Ada\", answer.payload.text)\n"
    "  end)\n"
    "\n"
    "  it(\"counts its greetings over a crash\", function()\n"
    "    s:crash()\n"
    "    s:recover()\n"
    "    local answer = assert(s:dispatch(\"root\", { text = \"Ada\" }))\n"
    "    assert.equal(2, answer.payload.count) -- main's was the first\n"
    "  end)\n"
    "end)\n";

static const char readme_text[] =
    "# %s\n"
    "\n"
    "    society run app.lua              run it; the state is kept in .society\n"
    "    society run app.lua -- Ada       with an argument\n"
    "    society sim app.lua --seed 1     the same in virtual time\n"
    "    society test                     run spec/\n"
    "    society inspect messages         look at what happened\n";

static bool is_empty_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return false;
    int entries = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            entries++;
    closedir(directory);
    return entries == 0;
}

static int make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_empty_directory(path)))
        return SOC_EXIT_DONE;
    if (errno == EEXIST)
        return soc_complain(SOC_EXIT_FAILED, "%s is there already and not an empty directory",
                            path);
    return soc_complain(SOC_EXIT_FAILED, "%s: %s", path, strerror(errno));
}

static int write_file(const char *directory, const char *name, const char *text)
{
    struct soc_buf path = {0};
    soc_buf_printf(&path, "%s/%s", directory, name);
    FILE *file = fopen(soc_buf_text(&path), "wx");
    int code = SOC_EXIT_DONE;
    bool is_written = file != NULL && fputs(text, file) >= 0;
    if (file != NULL && fclose(file) != 0)
        is_written = false;
    if (!is_written)
        code = soc_complain(SOC_EXIT_FAILED, "%s: %s", path.data, strerror(errno));
    soc_buf_fini(&path);
    return code;
}

static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9');
}

/* The app's name, an id like that of its directory: two apps in one place are told apart
 * by it, since the file of each is called app.lua. */
static void put_name(struct soc_buf *out, const char *directory)
{
    for (const char *byte = directory; *byte != '\0' && out->length < SOC_ID_BYTES_MAX; byte++) {
        if (is_plain(*byte) || (out->length > 0 && strchr("_.-", *byte) != NULL))
            soc_buf_put_byte(out, *byte);
        else if (out->length > 0)
            soc_buf_put_byte(out, '-');
    }
    if (out->length == 0)
        soc_buf_put_text(out, "app");
}

/* Writes app.lua and README.md, which say what the project is called: as its directory,
 * which may have been given as `.` or with a slash behind it. */
static int write_named(const char *path)
{
    struct soc_buf name = {0};
    struct soc_buf app = {0};
    struct soc_buf readme = {0};
    char *whole = realpath(path, NULL);
    const char *directory = whole == NULL ? path : strrchr(whole, '/') + 1;
    put_name(&name, directory);
    soc_buf_printf(&app, app_text, soc_buf_text(&name));
    soc_buf_printf(&readme, readme_text, directory);
    int code = write_file(path, "app.lua", soc_buf_text(&app));
    if (code == SOC_EXIT_DONE)
        code = write_file(path, "README.md", soc_buf_text(&readme));
    soc_buf_fini(&readme);
    soc_buf_fini(&app);
    soc_buf_fini(&name);
    free(whole);
    return code;
}

static int make_project(const char *path)
{
    struct soc_buf spec = {0};
    soc_buf_printf(&spec, "%s/spec", path);
    int code = make_directory(path);
    if (code == SOC_EXIT_DONE)
        code = make_directory(soc_buf_text(&spec));
    if (code == SOC_EXIT_DONE)
        code = write_named(path);
    if (code == SOC_EXIT_DONE)
        code = write_file(path, "spec/app_spec.lua", spec_text);
    if (code == SOC_EXIT_DONE)
        code = write_file(path, ".gitignore", ".society/\n");
    spec.length = 0;
    soc_output_put_word(&spec, path);
    if (code == SOC_EXIT_DONE)
        printf("made %s; now: cd %s && society run app.lua\n", path, soc_buf_text(&spec));
    soc_buf_fini(&spec);
    return code;
}

int soc_cmd_init(int argc, char **argv)
{
    struct soc_args args = {.command = "init"};
    const struct soc_option none[] = {{NULL, SOC_OPTION_FLAG, NULL}};
    int code = soc_args_parse(&args, argc, argv, none, 1, 1);
    if (code == SOC_ARGS_GO)
        code = make_project(args.words.items[0]);
    soc_text_list_fini(&args.words);
    return code;
}

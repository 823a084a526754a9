/* Isolated agents whose worker processes say what no guest of ours would say.
 *
 * The test program is its own zygote: started with the argument of one, it forks workers that
 * say the frames of a case, one after the other, whatever they are answered. Which case, the
 * message tells that they are to handle.
 * Covers: core/script/turns/isolated.c, core/script/turns/seat.c, core/script/turns/question.c */
#include "check.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "embed/assembly.h"
#include "kernel/look.h"
#include "worker/parcel.h"
#include "worker/zygote.h"

#define FRAMES_MAX 5
#define NAME_BYTES 64

/* What comes of the errors of a failed message. */
#define NONSENSE "worker_died: the worker process spoke nonsense"
#define DIED     "worker_died: the worker process ended without an answer"
#define DONE     "[\"done\",\"survived\",null]"

struct scripted {
    const char *said[FRAMES_MAX];
    const char *expected; /* begin of the reply, or of the error */
    const char *told;     /* a part of the first answer that the worker gets; NULL: any */
};

/* Frames that are too long to be written down. */
#define LONG_VALUES    "*values"    /* one value more than a frame may have */
#define LONG_MOST      "*most"      /* as many as it may have */
#define LONG_NAMES     "*names"     /* the same, as members of an object */
#define LONG_ARGUMENTS "*arguments" /* 201 */
#define LONG_STATE     "*state"     /* an object of more than 1 MB */
#define LONG_DEEP      "*deep"      /* 65 lists inside each other */
#define LONG_TEXT      "*text"      /* a payload of 2.4 MB */
#define LONG_TRACEBACK "*traceback" /* of 2 MB */

static const struct scripted cases[] = {
    {{DONE}, "survived", NULL},
    {{"[\"agent\",\"send_message\",[{\"payload\":\"x\",\"to\":\"bystander\"}]]", DONE},
     "survived",
     "messageId"},
    /* No question at all. */
    {{"nonsense", DONE}, DIED, NULL},
    {{"[", DONE}, DIED, NULL},
    {{"{}", DONE}, DIED, NULL},
    {{"null", DONE}, DIED, NULL},
    {{" [\"time\"]", DONE}, DIED, NULL},
    {{"[\"time\"] ", DONE}, "survived", NULL},
    {{"[\"time\"]x", DONE}, DIED, NULL},
    {{"[\"print\",[\"\xff\"]]", DONE}, DIED, NULL},
    {{"[\"print\",[{\"a\":1,\"\\u0061\":2}]]", DONE}, DIED, NULL},
    {{LONG_DEEP, DONE}, DIED, NULL},
    {{"[]"}, NONSENSE, NULL},
    {{"[1]"}, NONSENSE, NULL},
    {{"[\"Agent\",\"now\",[]]"}, NONSENSE, NULL},
    {{"[\"\\u0074ime\"]"}, NONSENSE, NULL},
    {{"[[\"time\"]]"}, NONSENSE, NULL},
    /* No method, or no arguments. */
    {{"[\"agent\"]"}, NONSENSE, NULL},
    {{"[\"agent\",1,[]]"}, NONSENSE, NULL},
    {{"[\"agent\",\"no_such\",[]]"}, NONSENSE, NULL},
    {{"[\"agent\",\"state\",[]]"}, NONSENSE, NULL},
    {{"[\"agent\",\"__index\",[]]"}, NONSENSE, NULL},
    {{"[\"agent\",\"no\\u0077\",[]]"}, NONSENSE, NULL},
    {{"[\"agent\",\"now\"]"}, NONSENSE, NULL},
    {{"[\"agent\",\"now\",{}]"}, NONSENSE, NULL},
    {{"[\"agent\",\"now\",\"x\"]"}, NONSENSE, NULL},
    {{LONG_ARGUMENTS}, NONSENSE, NULL},
    /* What changes the society is not for them. */
    {{"[\"society\",\"config\",[{\"cpu_ms_max\":100000}]]"}, NONSENSE, NULL},
    {{"[\"society\",\"role\",[{\"id\":\"x\",\"name\":\"x\"}]]"}, NONSENSE, NULL},
    {{"[\"society\",\"root\",[\"x\"]]"}, NONSENSE, NULL},
    {{"[\"society\",\"main\",[\"x\"]]"}, NONSENSE, NULL},
    {{"[\"society\",\"policy\",[\"contacts\",\"open\"]]"}, NONSENSE, NULL},
    {{"[\"society\",\"new\",[{}]]"}, NONSENSE, NULL},
    {{"[\"society\",\"version\",[]]"}, NONSENSE, NULL},
    /* Odd values where something else is expected: the worker is told, and may go on. */
    {{"[\"agent\",\"send_message\",[null,[],{},\"\\u0000\",1e300]]", DONE},
     "survived",
     "[\"raise\""},
    {{"[\"agent\",\"send_message\",[{\"payload\":[],\"to\":{}}]]", DONE}, "survived", NULL},
    {{"[\"agent\",\"spawn_agent\",[[],[],[]]]", DONE}, "survived", NULL},
    {{"[\"text\",5]", DONE}, "survived", "[\"raise\""},
    {{"[\"text\",null]", DONE}, "survived", "[\"raise\""},
    {{"[\"text\",{}]", DONE}, "survived", "["},
    {{"[\"text\",[1,[2]]]", DONE}, "survived", "["},
    {{"[\"text\",{\"from\":[],\"id\":{},\"payload\":[[]],\"text\":7,\"to\":-1,\"type\":{}}]", DONE},
     "survived",
     "["},
    {{"[\"text\"]"}, NONSENSE, NULL},
    {{"[\"require\",\"../../etc/passwd\"]", DONE}, "survived", "is not a module name"},
    {{"[\"require\",\"/etc/passwd\"]", DONE}, "survived", "is not a module name"},
    {{"[\"require\",\"a\\u0000b\"]", DONE}, "survived", "is not a module name"},
    {{"[\"require\",{}]", DONE}, "survived", "[\"raise\""},
    {{"[\"random\",[\"x\",{}]]", DONE}, "survived", "[\"raise\""},
    {{"[\"random\",[5,1]]", DONE}, "survived", "[\"raise\""},
    {{"[\"random\"]"}, NONSENSE, NULL},
    {{"[\"print\",[null,[],{\"a\":\"\\u0000\"}]]", DONE}, "survived", "[\"ok\""},
    {{"[\"time\",[1,2,3],{}]", "[\"clock\"]", "[\"status\",5]", DONE}, "survived", "[\"ok\""},
    /* Ends that no script has. */
    {{"[\"done\"]"}, NONSENSE, NULL},
    {{"[\"done\",\"x\"]"}, NONSENSE, NULL},
    {{"[\"done\",\"x\",5]"}, NONSENSE, NULL},
    {{"[\"done\",\"x\",\"state\"]"}, NONSENSE, NULL},
    {{"[\"done\",\"survived\",[1,2]]"}, "survived", NULL},
    {{LONG_STATE}, "script_error: agent.state exceeds", NULL},
    {{"[\"over\"]"}, NONSENSE, NULL},
    {{"[\"over\",\"cpu_ms\",1]"}, NONSENSE, NULL},
    {{"[\"over\",\"memory\",-1]"}, "budget_exceeded: memory 67108864", NULL},
    {{"[\"over\",\"text_bytes\",{}]"}, "budget_exceeded: text_bytes 33554432", NULL},
    {{"[\"error\"]"}, "script_error: an error that is not JSON", NULL},
    {{"[\"error\",null,5]"}, "script_error", NULL},
    {{"[\"error\",\"%s%n\\u0000%d\",\"\\u0000%n\"]"}, "script_error: %s%n", NULL},
    {{"[\"error\",{\"error\":\"budget_exceeded\",\"limit\":1,\"which\":\"cpu_ms\"},\"\"]"},
     "script_error: {\"error\"",
     NULL},
    {{"[\"error\",\"{\\\"error\\\":\\\"budget_exceeded\\\"}\"]"}, "script_error: {\"error\"", NULL},
    {{LONG_TRACEBACK}, "script_error: with a long traceback", NULL},
    /* Too much at once. */
    {{LONG_VALUES, DONE}, DIED, NULL},
    {{LONG_NAMES, DONE}, DIED, NULL},
    {{LONG_MOST, DONE}, "survived", "[\"ok\""},
    {{LONG_TEXT, DONE}, "survived", "messageId"},
    /* No frames, bytes as they are: empty, too long, cut off, followed by something. */
    {{"=00000000", DONE}, DIED, NULL},
    {{"=ffffffff5b5d", DONE}, DIED, NULL},
    {{"=010028005b"}, DIED, NULL},
    {{"=050000005b"}, DIED, NULL},
    {{"=080000005b2274696d65225d5b"}, DIED, NULL},
    {{NULL}, DIED, NULL},
    /* An answer can have 8 MB. */
    {{"[\"agent\",\"request\",[{\"payload\":\"much\",\"to\":\"bystander\"}]]", DONE},
     "survived",
     "[\"raise\",\"the answer is too large"},
    {{"[\"agent\",\"request\",[{\"payload\":\"less\",\"to\":\"bystander\"}]]", DONE},
     "survived",
     "[\"ok\""},
    /* One that dies while it waits is replaced, if not too often, by one that asks the same. */
    {{"![\"agent\",\"sleep\",[20]]"}, DIED, NULL},
    {{"@", "![\"agent\",\"sleep\",[20]]", DONE},
     "nondeterministic: the script did something else",
     NULL},
    /* Questions of the former activation are over with it. */
    {{"[\"time\"]", "[\"clock\"]", "[\"agent\",\"reply\",[\"survived\"]]", DONE}, "survived", NULL},
};

#define CASES ((int)(sizeof(cases) / sizeof(cases[0])))

static void repeat(struct soc_buf *out, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        soc_buf_put_text(out, text);
}

/* Appends the frame that a text of a case stands for. */
static void put_frame(struct soc_buf *out, const char *text)
{
    static const char to[] = "[\"agent\",\"send_message\",[{\"to\":\"bystander\",\"payload\":";
    if (strcmp(text, LONG_VALUES) == 0 || strcmp(text, LONG_MOST) == 0) {
        /* Nine others are around the elements: lists, objects, names and texts. */
        int count = SOC_WORKER_VALUES_MAX - 9 + (strcmp(text, LONG_VALUES) == 0);
        soc_buf_put_text(out, to);
        soc_buf_put_text(out, "[[]");
        repeat(out, ",[]", count - 1);
        soc_buf_put_text(out, "]}]]");
    } else if (strcmp(text, LONG_NAMES) == 0) {
        soc_buf_put_text(out, to);
        soc_buf_put_text(out, "{\"a\":0");
        for (int i = 0; i < SOC_WORKER_VALUES_MAX / 2 - 4; i++)
            soc_buf_printf(out, ",\"%d\":0", i);
        soc_buf_put_text(out, "}}]]");
    } else if (strcmp(text, LONG_ARGUMENTS) == 0) {
        soc_buf_put_text(out, "[\"print\",[0");
        repeat(out, ",0", 200);
        soc_buf_put_text(out, "]]");
    } else if (strcmp(text, LONG_STATE) == 0) {
        soc_buf_put_text(out, "[\"done\",1,{\"a\":\"");
        repeat(out, "x", SOC_STATE_BYTES_MAX);
        soc_buf_put_text(out, "\"}]");
    } else if (strcmp(text, LONG_DEEP) == 0) {
        repeat(out, "[", SOC_JSON_DEPTH_MAX + 1);
        repeat(out, "]", SOC_JSON_DEPTH_MAX + 1);
    } else if (strcmp(text, LONG_TEXT) == 0) {
        soc_buf_put_text(out, to);
        soc_buf_put_byte(out, '"');
        repeat(out, "x", 2400000);
        soc_buf_put_text(out, "\"}]]");
    } else if (strcmp(text, LONG_TRACEBACK) == 0) {
        soc_buf_put_text(out, "[\"error\",\"with a long traceback\",\"");
        repeat(out, "x", 2 << 20);
        soc_buf_put_text(out, "\"]");
    } else {
        soc_buf_put_text(out, text);
    }
}

/* Writes bytes that are given as digits. */
static void write_raw(int fd, const char *digits)
{
    char bytes[NAME_BYTES];
    size_t count = 0;
    unsigned byte;
    for (; count < sizeof(bytes) && sscanf(digits + 2 * count, "%2x", &byte) == 1; count++)
        bytes[count] = (char)byte;
    if (write(fd, bytes, count) < 0)
        _exit(1);
}

/* A worker's life: it says its frames, each after the answer to the one before. One that begins
 * with = are bytes as they are, @ prints the number of the process, and one with ! is the last
 * one: the worker dies before it is answered. */
static void play(int fd)
{
    struct soc_buf in = {0};
    struct soc_buf out = {0};
    int64_t number = 0;
    if (!soc_parcel_read(fd, &in))
        _exit(1);
    struct soc_slice run = soc_json_member(soc_buf_slice(&in), "run");
    struct soc_slice payload = soc_json_member(soc_json_member(run, "message"), "payload");
    if (!soc_json_integer(soc_json_member(payload, "number"), &number) || number >= CASES)
        _exit(1);
    const struct scripted *scripted = &cases[number];
    for (int i = 0; i < FRAMES_MAX && scripted->said[i] != NULL; i++) {
        const char *said = scripted->said[i];
        out.length = in.length = 0;
        if (said[0] == '@')
            soc_buf_printf(&out, "[\"print\",[%d]]", (int)getpid());
        else
            put_frame(&out, said + (said[0] == '!'));
        if (said[0] == '!')
            shutdown(fd, SHUT_RD); /* so that the answer fails, however late it dies */
        if (said[0] == '=')
            write_raw(fd, said + 1);
        else if (said[0] == '!' && soc_parcel_write(fd, soc_buf_slice(&out)))
            break;
        else if (!soc_parcel_write(fd, soc_buf_slice(&out)) || !soc_parcel_read(fd, &in))
            break;
        if (i == 0 && scripted->told != NULL && strstr(soc_buf_text(&in), scripted->told) == NULL) {
            fprintf(stderr, "# case %d was told %s\n", (int)number, soc_buf_text(&in));
            break;
        }
    }
    _exit(0);
}

/* As soc_zygote_main, for such workers. */
static int be_zygote(int fd)
{
    struct soc_zygote_request request;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    for (;;) {
        struct iovec part = {&request, sizeof(request)};
        struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
        header.msg_controllen = sizeof(control);
        if (recvmsg(fd, &header, 0) != (ssize_t)sizeof(request))
            return 0;
        const struct cmsghdr *passed = CMSG_FIRSTHDR(&header);
        int socket = -1;
        if (passed == NULL) {
            waitpid(request.released, NULL, 0);
            continue;
        }
        memcpy(&socket, CMSG_DATA(passed), sizeof(int));
        pid_t pid = fork();
        if (pid == 0) {
            close(fd);
            play(socket);
        }
        close(socket);
        if (send(fd, &pid, sizeof(pid), MSG_NOSIGNAL) < 0)
            return 1;
    }
}

static const char app[] =
    "local society = require('society')\n"
    "local brief = { objective = 'o', constraints = {}, inputs = 'i', outputs = 'o',\n"
    "  completion_criteria = 'c' }\n"
    "society.policy('contacts', 'open')\n"
    "society.role{ id = 'guest', name = 'guest', isolated = true, behaviour = 'nowhere' }\n"
    "society.role{ id = 'bystander', name = 'b', behaviour = function(agent, message)\n"
    "  if message.payload.text == 'still there?' then return 'alive' end\n"
    "  if message.payload.text == 'much' then return ('x'):rep(8400000) end\n"
    "  if message.payload.text == 'less' then return ('x'):rep(8380000) end\n"
    "end }\n"
    "society.root(function(root)\n"
    "  root:spawn_agent('bystander', brief, { id = 'bystander' })\n"
    "  for i = 0, tonumber(arg[1]) - 1 do\n"
    "    local id = 'g' .. i\n"
    "    assert(root:spawn_agent('guest', brief, { id = id }))\n"
    "    local reply, err = root:request({ to = id, payload = { number = i } })\n"
    "    print(i, reply and reply.payload.text or err.error)\n"
    "    assert(root:request({ to = 'bystander', payload = 'still there?' }).payload.text ==\n"
    "      'alive')\n"
    "  end\n"
    "  return 'over'\n"
    "end)\n"
    "society.main(function(user)\n"
    "  print('main', user:request({ to = 'root', payload = 'go',\n"
    "    timeout_ms = 3600000 }).payload.text)\n"
    "end)\n";

struct scene {
    struct soc_assembly parts;
    struct soc_buf shown;
    struct soc_buf outcomes[sizeof(cases) / sizeof(cases[0])];
    bool is_told; /* the dead letters have been looked at */
};

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    struct scene *scene = user;
    (void)stream, (void)agent;
    soc_buf_put_slice(&scene->shown, text);
    soc_buf_put_byte(&scene->shown, '\n');
    return true;
}

static void failed(void *user, const struct soc_detail *detail)
{
    (void)user;
    CHECK_TEXT(detail->text, "");
}

static int64_t tick(void *user)
{
    struct scene *scene = user;
    int64_t wait_ms = soc_host_tick(scene->parts.host);
    if (soc_host_main_is_done(scene->parts.host) || soc_host_main_has_failed(scene->parts.host))
        soc_loop_stop(scene->parts.loop);
    return wait_ms;
}

static void put_string(struct soc_buf *out, struct soc_slice value)
{
    if (value.data != NULL && !soc_json_string(value, out))
        soc_buf_put_slice(out, value);
}

/* Notes what a dead letter says: error, message or budget. */
static void note_dead(struct scene *scene, struct soc_slice letter)
{
    int number = -1;
    struct soc_slice error = soc_json_member(letter, "error");
    struct soc_slice to = soc_json_plain_string(soc_json_member(letter, "to"));
    if (to.data == NULL || sscanf(to.data, "g%d", &number) != 1 || number < 0 || number >= CASES)
        return;
    struct soc_slice traceback = soc_json_member(error, "traceback");
    CHECK(traceback.length <= SOC_ERROR_BYTES_MAX + 2); /* with its quotes */
    if (strcmp(cases[number].said[0] == NULL ? "" : cases[number].said[0], LONG_TRACEBACK) == 0)
        CHECK_INT(traceback.length, SOC_ERROR_BYTES_MAX + 2);
    struct soc_buf *out = &scene->outcomes[number];
    struct soc_slice which = soc_json_member(error, "which");
    out->length = 0;
    put_string(out, soc_json_member(error, "error"));
    soc_buf_put_text(out, ": ");
    put_string(out, which.data == NULL ? soc_json_member(error, "message") : which);
    if (which.data != NULL) {
        soc_buf_put_byte(out, ' ');
        put_string(out, soc_json_member(error, "limit"));
    }
}

static void take_dead(int rc, struct soc_slice rows, void *user)
{
    struct scene *scene = user;
    struct soc_json_walk walk;
    CHECK_INT(rc, SOC_OK);
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk))
        note_dead(scene, walk.value);
    scene->is_told = true;
}

/* Takes the replies from what root has printed: a number and a text. */
static void take_replies(struct scene *scene)
{
    char *line = (char *)soc_buf_text(&scene->shown);
    char *end;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *text = line;
        long number = strtol(line, &text, 10);
        if (text > line && number >= 0 && number < CASES && scene->outcomes[number].length == 0)
            soc_buf_put(&scene->outcomes[number], text + 1, (size_t)(end - text - 1));
    }
}

static void write_app(const char *path)
{
    FILE *file = fopen(path, "w");
    if (CHECK(file != NULL)) {
        fputs(app, file);
        fclose(file);
    }
}

static void open_scene(struct scene *scene, const char *path)
{
    char count[NAME_BYTES];
    char *arguments[] = {count};
    struct soc_detail detail = {0};
    *scene = (struct scene){0};
    snprintf(count, sizeof(count), "%d", CASES);
    write_app(path);
    struct soc_assembly_options options = {
        .app_file = path,
        .home = ".",
        .program = "/proc/self/exe",
        .seed = 1,
        .arguments = arguments,
        .argument_count = 1,
        .log = {.level = SOC_LOG_NONE},
        .show = show,
        .failed = failed,
        .user = scene,
    };
    CHECK_INT(soc_assembly_load(&scene->parts, &options, &detail), SOC_OK);
    CHECK_INT(soc_assembly_start(&scene->parts, &detail), SOC_OK);
    CHECK_TEXT(detail.text, "");
}

static void close_scene(struct scene *scene)
{
    soc_host_close(scene->parts.host, 0);
    scene->parts.host = NULL;
    soc_assembly_free(&scene->parts);
    soc_buf_fini(&scene->shown);
    for (int i = 0; i < CASES; i++)
        soc_buf_fini(&scene->outcomes[i]);
}

/* The alarm ends a society that hangs. */
static void what_a_hostile_worker_says_fails_its_own_turn_and_nothing_else(void)
{
    static struct scene scene;
    char path[] = "/tmp/society_isolated_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    alarm(600);
    open_scene(&scene, path);
    soc_loop_run(scene.parts.loop, tick, &scene);
    soc_look_query(scene.parts.host, &(struct soc_query){.what = "dead_letters"}, take_dead,
                   &scene);
    /* What was printed is shown when it is durable. */
    while (!scene.is_told || strstr(soc_buf_text(&scene.shown), "main\tover") == NULL)
        soc_loop_poll(scene.parts.loop, 10);
    alarm(0);
    take_replies(&scene);
    for (int i = 0; i < CASES; i++)
        if (!CHECK(strncmp(soc_buf_text(&scene.outcomes[i]), cases[i].expected,
                           strlen(cases[i].expected)) == 0))
            printf("# case %d, %s: %s\n", i, cases[i].said[0], soc_buf_text(&scene.outcomes[i]));
    close_scene(&scene);
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], SOC_ZYGOTE_ARGUMENT) == 0)
        return be_zygote(STDIN_FILENO);
    RUN(what_a_hostile_worker_says_fails_its_own_turn_and_nothing_else);
    return check_done();
}

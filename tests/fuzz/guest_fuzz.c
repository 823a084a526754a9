/* Guest fuzz: any bytes as what the worker processes of isolated agents say, each line a frame.
 *
 * A society in memory serves them (core/script/turns/isolated.c, seat.c): this file stands in
 * for worker/workers.c, so there are no processes. An empty line is a worker that is slow. Each
 * turn fails, or is done as the API allows; the agents beside it answer. libFuzzer prints how
 * many inputs a second were run.
 * Layer: tests. Thread: one. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "embed/assembly.h"
#include "script/turns/box.h"
#include "worker/workers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs that one society gets. */
#define ROUNDS 32

/* Workers that one input gets, since each may have its agent spawn more of them. */
#define WORKERS_MAX 40

/* Steps of the host for one input, of which none needs as many. */
#define STEPS_MAX 200000

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "guest_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

struct soc_worker {
    struct soc_workers *workers;
    size_t place; /* in the input */
    size_t count; /* bytes of the line that is said */
    bool has_said;
};

struct soc_workers {
    struct soc_slice input;
    int started;
    int open;
};

struct soc_workers *soc_workers_new(struct soc_loop *loop, const char *program)
{
    (void)loop, (void)program;
    return calloc(1, sizeof(struct soc_workers));
}

void soc_workers_free(struct soc_workers *workers)
{
    MUST(workers == NULL || workers->open == 0);
    free(workers);
}

struct soc_worker *soc_workers_start(struct soc_workers *workers, struct soc_slice request,
                                     soc_workers_cb *cb, void *user)
{
    (void)workers, (void)request, (void)cb, (void)user;
    return NULL; /* no run_lua here */
}

bool soc_workers_are_busy(const struct soc_workers *workers)
{
    (void)workers;
    return false;
}

struct soc_worker *soc_workers_converse(struct soc_workers *workers, struct soc_slice frame,
                                        soc_workers_cb *cb, void *user)
{
    (void)frame, (void)cb, (void)user;
    if (workers->started == WORKERS_MAX)
        return NULL;
    struct soc_worker *worker = calloc(1, sizeof(*worker));
    MUST(worker != NULL);
    worker->workers = workers;
    workers->started++;
    workers->open++;
    return worker;
}

enum soc_workers_heard soc_workers_listen(struct soc_worker *worker, int64_t wait_us,
                                          struct soc_slice *frame)
{
    struct soc_slice input = worker->workers->input;
    (void)wait_us;
    if (worker->place >= input.length)
        return SOC_WORKERS_DEATH;
    const char *line = input.data + worker->place;
    const char *end = memchr(line, '\n', input.length - worker->place);
    worker->count = end == NULL ? input.length - worker->place : (size_t)(end - line);
    worker->has_said = worker->count > 0;
    *frame = soc_slice(line, worker->count);
    if (worker->has_said)
        return SOC_WORKERS_FRAME;
    worker->place++;
    return SOC_WORKERS_NOTHING;
}

bool soc_workers_say(struct soc_worker *worker, struct soc_slice frame)
{
    MUST(frame.length > 0 && frame.length <= SOC_WORKER_TOLD_BYTES_MAX);
    worker->place += worker->has_said ? worker->count + 1 : 0;
    worker->has_said = false;
    return worker->place % 7 != 6; /* some die while they wait */
}

void soc_workers_set_user(struct soc_worker *worker, void *user)
{
    (void)worker, (void)user;
}

void soc_workers_stop(struct soc_worker *worker)
{
    worker->workers->open--;
    free(worker);
}

int64_t soc_workers_cpu_ms(const struct soc_worker *worker)
{
    (void)worker;
    return 0;
}

/* Time stands still: what takes long is not what is tried here. */
int64_t soc_workers_own_cpu_us(void)
{
    return 0;
}

int64_t soc_workers_clock_us(void)
{
    return 0;
}

int soc_workers_pid(const struct soc_worker *worker)
{
    (void)worker;
    return 0;
}

static const char app[] =
    "local society = require('society')\n"
    "local brief = { objective = 'o', constraints = {}, inputs = 'i', outputs = 'o',\n"
    "  completion_criteria = 'c' }\n"
    "society.policy('contacts', 'open')\n"
    "society.role{ id = 'guest', name = 'guest', isolated = true, behaviour = 'nowhere' }\n"
    "society.role{ id = 'bystander', name = 'b', behaviour = function(_, message)\n"
    "  if message.payload.text == 'still there?' then return 'alive' end\n"
    "end }\n"
    "society.root(function(root, message)\n"
    "  if message.from ~= 'user' then return end\n"
    "  root:spawn_agent('bystander', brief, { id = 'bystander' })\n"
    "  local guest = assert(root:spawn_agent('guest', brief)).id\n"
    "  root:request({ to = guest, payload = { text = 'go', list = {}, more = { a = 1 } } })\n"
    "  assert(root:request({ to = 'bystander', payload = 'still there?' }).payload.text ==\n"
    "    'alive')\n"
    "  return 'over'\n"
    "end)\n"
    "society.main(function(user)\n"
    "  while true do\n"
    "    local reply, err = user:request({ to = 'root', payload = 'go', timeout_ms = 1e9 })\n"
    "    print(reply and reply.payload.text or err.error)\n"
    "    user:sleep(1)\n"
    "  end\n"
    "end)\n";

struct fuzzed {
    struct soc_assembly parts;
    struct soc_buf shown;
    int rounds;
};

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    struct fuzzed *fuzzed = user;
    (void)stream;
    if (soc_slice_equal(agent, SOC_SLICE("user")))
        soc_buf_put_slice(&fuzzed->shown, text);
    return true;
}

static void failed(void *user, const struct soc_detail *detail)
{
    (void)user;
    must(false, detail->text);
}

static void open_society(struct fuzzed *fuzzed)
{
    static const char path[] = "app.lua";
    const struct soc_kept_file kept = {path, SOC_SLICE(app)};
    struct soc_detail detail = {0};
    struct soc_assembly_options options = {
        .app_file = path,
        .home = ".",
        .is_simulated = true,
        .seed = 1,
        .kept = &kept,
        .kept_count = 1,
        .has_files = true,
        .log = {.level = SOC_LOG_NONE},
        .show = show,
        .failed = failed,
        .user = fuzzed,
    };
    must(soc_assembly_load(&fuzzed->parts, &options, &detail) == SOC_OK, detail.text);
    /* Workers as for real; clock, models and servers are those of a simulation. */
    fuzzed->parts.script->workers = soc_workers_new(NULL, NULL);
    must(soc_assembly_start(&fuzzed->parts, &detail) == SOC_OK, detail.text);
    fuzzed->rounds = 0;
}

static void close_society(struct fuzzed *fuzzed)
{
    soc_host_close(fuzzed->parts.host, 0);
    fuzzed->parts.host = NULL;
    soc_assembly_free(&fuzzed->parts);
}

/* Runs until main has printed that the round is over. */
static void run_round(struct fuzzed *fuzzed)
{
    struct soc_host *host = fuzzed->parts.host;
    fuzzed->shown.length = 0;
    for (int i = 0; fuzzed->shown.length == 0; i++) {
        must(i < STEPS_MAX, "it does not end");
        if (soc_host_tick(host) == SOC_TICK_NOW || fuzzed->shown.length > 0)
            continue;
        MUST(soc_host_next_due(host) != 0);
        soc_clock_move(soc_host_clock(host), soc_host_next_due(host));
    }
    must(strcmp(soc_buf_text(&fuzzed->shown), "over") == 0, soc_buf_text(&fuzzed->shown));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzzed fuzzed;
    if (fuzzed.parts.host == NULL)
        open_society(&fuzzed);
    struct soc_workers *workers = fuzzed.parts.script->workers;
    workers->input = soc_slice((const char *)data, size);
    workers->started = 0;
    run_round(&fuzzed);
    workers->input.length = 0;
    if (++fuzzed.rounds == ROUNDS)
        close_society(&fuzzed);
    return 0;
}

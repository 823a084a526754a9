#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "embed/assembly.h"
#include "env/clock.h"
#include "host/look.h"
#include "main/args.h"
#include "main/command.h"
#include "main/output.h"
#include "main/show.h"

#define PROGRESS_US 1000000 /* between two lines about how far it is */

struct sim {
    struct soc_args args;
    const char *seed;
    const char *seeds;
    bool is_json;
    bool is_many; /* seeds: no transcripts */
    struct soc_text_list policies;
    struct soc_text_list settings;
    struct soc_detail failure; /* of the store */
    int output_error;          /* errno of stdout, 0: it takes what is shown */
};

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    struct sim *sim = user;
    if (sim->is_many)
        return true;
    if (sim->output_error == 0 && !soc_show(stream.data, agent.data, text, sim->is_json))
        sim->output_error = errno == 0 ? EIO : errno;
    return sim->output_error == 0;
}

static void note_failure(void *user, const struct soc_detail *detail)
{
    struct sim *sim = user;
    sim->failure = *detail;
}

static void write_transcript(struct soc_slice line, void *user)
{
    (void)user;
    fwrite(line.data, 1, line.length, stdout);
}

static int complain_of_waits(const struct soc_assembly *parts)
{
    struct soc_buf waits = {0};
    struct soc_json_walk walk;
    fflush(stdout);
    soc_look_waits(parts->host, &waits);
    soc_complain(0, "nothing can happen any more and main has not finished; what waits:");
    soc_json_walk(&walk, soc_buf_slice(&waits));
    while (soc_json_next(&walk))
        fprintf(stderr, "  %.*s\n", (int)walk.value.length, walk.value.data);
    soc_buf_fini(&waits);
    return SOC_EXIT_FAILED;
}

/* Virtual time moves from one thing that is due to the next. */
static int run_parts(struct sim *sim, struct soc_assembly *parts)
{
    for (;;) {
        while (soc_host_step(parts->host))
            continue;
        if (sim->failure.text[0] != '\0')
            return soc_complain(SOC_EXIT_DISK, "%s", sim->failure.text);
        if (sim->output_error != 0)
            return soc_complain(SOC_EXIT_FAILED, "stdout: %s", strerror(sim->output_error));
        if (soc_host_main_has_failed(parts->host))
            return SOC_EXIT_FAILED;
        bool is_done = soc_host_main_is_done(parts->host);
        if (is_done && soc_host_is_quiet(parts->host))
            return SOC_EXIT_DONE;
        int64_t due_ms = soc_host_next_due(parts->host);
        if (due_ms == 0)
            return is_done ? SOC_EXIT_DONE : complain_of_waits(parts);
        soc_clock_move(soc_host_clock(parts->host), due_ms);
    }
}

static int simulate(struct sim *sim, uint64_t seed)
{
    struct soc_assembly parts;
    struct soc_detail detail = {0};
    struct soc_assembly_options options = {
        .app_file = sim->args.words.items[0],
        .is_simulated = true,
        .seed = seed,
        .arguments = sim->args.rest,
        .argument_count = sim->args.rest_count,
        .policies = sim->policies.items,
        .settings = sim->settings.items,
        .log = {.level = sim->is_many ? SOC_LOG_ERROR : SOC_LOG_INFO,
                .is_json = sim->is_json,
                .write = sim->is_many ? NULL : write_transcript},
        .show = show,
        .failed = note_failure,
        .user = sim,
    };
    int rc = soc_assembly_load(&parts, &options, &detail);
    if (rc == SOC_OK)
        rc = soc_assembly_start(&parts, &detail);
    int code = rc < 0 ? soc_complain(soc_exit_of(rc), "%s", detail.text) : run_parts(sim, &parts);
    soc_assembly_free(&parts);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == SOC_EXIT_DONE)
        code = soc_complain(SOC_EXIT_FAILED, "stdout takes no more");
    return code;
}

/* The one command that repeats a seed. */
static void say_how_to_repeat(const struct sim *sim, uint64_t seed)
{
    struct soc_buf words = {0};
    soc_output_put_word(&words, sim->args.words.items[0]);
    soc_buf_printf(&words, " --seed %llu", (unsigned long long)seed);
    for (int i = 0; i < sim->policies.count; i++) {
        soc_buf_put_text(&words, " --policy ");
        soc_output_put_word(&words, sim->policies.items[i]);
    }
    for (int i = 0; i < sim->settings.count; i++) {
        soc_buf_put_text(&words, " --set ");
        soc_output_put_word(&words, sim->settings.items[i]);
    }
    for (int i = 0; i < sim->args.rest_count; i++) {
        soc_buf_put_text(&words, i == 0 ? " -- " : " ");
        soc_output_put_word(&words, sim->args.rest[i]);
    }
    soc_complain(0, "seed %llu failed; repeat it with: society sim %s", (unsigned long long)seed,
                 soc_buf_text(&words));
    soc_buf_fini(&words);
}

static void print_progress(uint64_t done, uint64_t count, int64_t elapsed_us)
{
    double seconds = elapsed_us < 1 ? 1e-6 : (double)elapsed_us / 1e6;
    fprintf(stderr, "%llu of %llu seeds, %.1f seeds/s\n", (unsigned long long)done,
            (unsigned long long)count, (double)done / seconds);
}

static int simulate_many(struct sim *sim, uint64_t first, uint64_t last)
{
    int64_t start_us = soc_clock_monotonic_us();
    int64_t told_us = start_us;
    uint64_t count = last - first + 1;
    sim->is_many = true;
    for (uint64_t seed = first;; seed++) {
        int code = simulate(sim, seed);
        if (sim->is_json)
            printf("{\"seed\":%llu,\"ok\":%s}\n", (unsigned long long)seed,
                   code == SOC_EXIT_DONE ? "true" : "false");
        if (code != SOC_EXIT_DONE) {
            say_how_to_repeat(sim, seed);
            return code;
        }
        int64_t now_us = soc_clock_monotonic_us();
        if (seed == last || now_us - told_us >= PROGRESS_US) {
            print_progress(seed - first + 1, count, now_us - start_us);
            told_us = now_us;
        }
        if (seed == last)
            return SOC_EXIT_DONE;
    }
}

static bool parse_span(const char *text, uint64_t *first, uint64_t *last)
{
    const char *dots = strstr(text, "..");
    char number[32];
    if (dots == NULL || (size_t)(dots - text) >= sizeof(number))
        return false;
    memcpy(number, text, (size_t)(dots - text));
    number[dots - text] = '\0';
    return soc_number_parse(number, first) && soc_number_parse(dots + 2, last) && *first <= *last;
}

static int choose_seeds(struct sim *sim)
{
    uint64_t first = 1;
    uint64_t last = 1;
    if (sim->seed != NULL && sim->seeds != NULL)
        return soc_complain(SOC_EXIT_USAGE, "sim: --seed or --seeds, not both");
    if (sim->seeds != NULL) {
        if (!parse_span(sim->seeds, &first, &last))
            return soc_complain(SOC_EXIT_USAGE, "sim: --seeds A..B with A <= B, not '%s'",
                                sim->seeds);
        return simulate_many(sim, first, last);
    }
    if (sim->seed != NULL && !soc_number_parse(sim->seed, &first))
        return soc_complain(SOC_EXIT_USAGE, "sim: --seed needs a whole number, not '%s'",
                            sim->seed);
    return simulate(sim, first);
}

int soc_cmd_sim(int argc, char **argv)
{
    struct sim sim = {.args = {.command = "sim"}};
    const struct soc_option options[] = {
        {"seed", SOC_OPTION_TEXT, &sim.seed},       {"seeds", SOC_OPTION_TEXT, &sim.seeds},
        {"policy", SOC_OPTION_LIST, &sim.policies}, {"set", SOC_OPTION_LIST, &sim.settings},
        {"json", SOC_OPTION_FLAG, &sim.is_json},    {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&sim.args, argc, argv, options, 1, 1);
    if (code == SOC_ARGS_GO)
        code = choose_seeds(&sim);
    soc_text_list_fini(&sim.args.words);
    soc_text_list_fini(&sim.policies);
    soc_text_list_fini(&sim.settings);
    return code;
}

#include "sim/faults.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/slice.h"
#include "kernel/state.h"

#define FAULTS_SEED 0x6661756c7473ull /* separates these draws from others of the seed */

#define NAME_BYTES_SHOWN 64 /* of an unknown name, so that the known ones fit */

#define STEPS_SEED 0x7374657073ull

#define CRASHES_MAX 6
#define PAUSE_MS    5000
#define JUMP_MS     3600000
#define STEPS_IN    64 /* clock steps in a running society are rarer by this factor */
#define STARTS_IN   4  /* one restart in this many crashes as well */
#define START_CALLS 80 /* within this many disk calls */

struct kind {
    const char *name;
    const char *text;
};

static const struct kind kinds[SOC_FAULT_COUNT] = {
#define F(tag, name, text) [SOC_FAULT_##tag] = {name, text},
    SOC_FAULT_MAP(F)
#undef F
};

/* Out of SOC_CHANCE_WHOLE; each seed draws one column per kind. Folding creates a
 * database, which costs more than everything else, so few seeds do it. */
#define CHANCES 8
static const uint32_t chances[SOC_FAULT_COUNT][CHANCES] = {
    [SOC_FAULT_EVICT] = {0, 0, 0, 256, 1024, 1024, 4096, 65536},
    [SOC_FAULT_CRASH] = {0, 0, 0, 0, 48, 64, 96, 768},
    [SOC_FAULT_LAG] = {0, 0, 32768, 32768, 57344, 61440, 64512, 65408},
    [SOC_FAULT_RAISE] = {0, 0, 0, 64, 128, 256, 1024, 4096},
    [SOC_FAULT_SLOW] = {0, 0, 0, 64, 256, 1024, 4096, 16384},
    [SOC_FAULT_JUMP] = {0, 0, 0, 0, 0, 8192, 32768, 65536},
    [SOC_FAULT_FOLD] = {0, 0, 0, 0, 0, 0, 0, 128},
    [SOC_FAULT_POWER] = {0, 48, 64, 96, 128, 256, 512, 768},
    [SOC_FAULT_FULL] = {0, 0, 0, 32, 64, 128, 256, 1024},
    [SOC_FAULT_IO] = {0, 0, 0, 0, 16, 32, 64, 256},
    [SOC_FAULT_DROP] = {0, 0, 1024, 4096, 4096, 8192, 16384, 32768},
    [SOC_FAULT_DOUBLE] = {0, 0, 1024, 4096, 8192, 16384, 32768, 65536},
    [SOC_FAULT_DELAY] = {0, 0, 1024, 4096, 8192, 16384, 32768, 65536},
    [SOC_FAULT_MODEL] = {0, 0, 1024, 4096, 8192, 16384, 32768, 65536},
    [SOC_FAULT_DEAD] = {0, 0, 0, 0, 256, 1024, 2048, 4096},
};

/* Out of SOC_CHANCE_WHOLE, for every seed: folds that are named are meant. */
#define FOLD_CHANCE 4096

/* These need a disk, which makes a seed several times slower: with all faults, one seed
 * in this many has one. */
#define DISK_SET      (1u << SOC_FAULT_POWER | 1u << SOC_FAULT_FULL | 1u << SOC_FAULT_IO)
#define DISK_SEEDS_IN 16

const char *soc_faults_name(int kind, const char **text)
{
    if (kind < 0 || kind >= SOC_FAULT_COUNT)
        return NULL;
    if (text != NULL)
        *text = kinds[kind].text;
    return kinds[kind].name;
}

static int find_kind(struct soc_slice name)
{
    for (int i = 0; i < SOC_FAULT_COUNT; i++)
        if (soc_slice_equal(name, soc_slice_text(kinds[i].name)))
            return i;
    return -1;
}

/* Names the unknown fault and lists the known ones. */
static void refuse_name(struct soc_slice name, struct soc_detail *detail)
{
    struct soc_buf names = {0};
    for (int i = 0; i < SOC_FAULT_COUNT; i++)
        soc_buf_printf(&names, "%s%s", i == 0 ? "" : ", ", kinds[i].name);
    name = soc_slice_cut(name, NAME_BYTES_SHOWN);
    soc_fail(detail, SOC_EINVAL, "unknown fault '%.*s'; use none, default, or names from %s",
             (int)name.length, name.data, soc_buf_text(&names));
    soc_buf_fini(&names);
}

bool soc_faults_parse(const char *list, uint32_t *set, struct soc_detail *detail)
{
    *set = SOC_FAULTS_NONE;
    if (strcmp(list, "none") == 0)
        return true;
    if (strcmp(list, "default") == 0) {
        *set = SOC_FAULTS_ALL;
        return true;
    }
    while (true) {
        size_t length = strcspn(list, ",");
        int kind = find_kind(soc_slice(list, length));
        if (kind < 0) {
            refuse_name(soc_slice(list, length), detail);
            return false;
        }
        *set |= 1u << kind;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

/* Each kind has a draw of its own, so adding a kind changes no other. */
static uint64_t draw(uint64_t seed, int kind, uint64_t bound)
{
    struct soc_rng rng;
    soc_rng_init(&rng, seed ^ FAULTS_SEED ^ (uint64_t)(kind + 1) << 40);
    return soc_rng_below(&rng, bound);
}

/* Not if the supervision policy would declare the agent failed: a fault must not cause
 * work to be given up. */
static bool raises(void *user, struct soc_host *host, const struct soc_activation *activation)
{
    struct soc_faults *faults = user;
    if (!soc_faults_happens(faults, SOC_FAULT_RAISE))
        return false;
    for (size_t i = 0; host->parts.calls.turn_failed[i] != NULL; i++)
        if (host->parts.calls.turn_failed[i](host, activation->agent, true))
            return false;
    soc_faults_log(faults, SOC_FAULT_RAISE, soc_clock_date(&host->clock),
                   soc_agent_id(activation->agent), "the turn raises at its end");
    faults->has_raised = true;
    return true;
}

static const char *model_fault(void *user, struct soc_host *host)
{
    static const char *const words[] = {"busy", "limited", "cut", "garbled", "slow"};
    struct soc_faults *faults = user;
    if (!soc_faults_happens(faults, SOC_FAULT_MODEL))
        return NULL;
    const char *word = words[soc_rng_below(&faults->rng, sizeof(words) / sizeof(words[0]))];
    soc_faults_log(faults, SOC_FAULT_MODEL, soc_clock_date(&host->clock), (struct soc_slice){0},
                   "model call is %s", word);
    return word;
}

void soc_faults_init(struct soc_faults *faults, uint32_t set, uint64_t seed)
{
    assert((set & ~SOC_FAULTS_ALL) == 0);
    *faults = (struct soc_faults){
        .set = set,
        .crashes_left = CRASHES_MAX,
        .injector = {raises, model_fault, faults},
    };
    soc_rng_init(&faults->rng, seed ^ FAULTS_SEED);
    soc_rng_init(&faults->steps, seed ^ STEPS_SEED);
    bool is_all = set == SOC_FAULTS_ALL;
    bool is_drawn = draw(seed, -1, DISK_SEEDS_IN) == 0;
    faults->has_disk = (set & DISK_SET) != 0 && (is_drawn || !is_all);
    if (!faults->has_disk)
        set &= ~DISK_SET;
    for (int i = 0; i < SOC_FAULT_COUNT; i++)
        if ((set & 1u << i) != 0)
            faults->chance[i] = chances[i][draw(seed, i, CHANCES)];
    if (!is_all && (set & 1u << SOC_FAULT_FOLD) != 0)
        faults->chance[SOC_FAULT_FOLD] = FOLD_CHANCE;
}

void soc_faults_end(struct soc_faults *faults)
{
    memset(faults->chance, 0, sizeof(faults->chance));
}

bool soc_faults_happens(struct soc_faults *faults, enum soc_fault_kind kind)
{
    assert(kind < SOC_FAULT_COUNT);
    uint32_t chance = faults->chance[kind];
    if (chance == 0 || (soc_rng_next(&faults->rng) >> 48) >= chance)
        return false;
    if (kind != SOC_FAULT_CRASH && kind != SOC_FAULT_POWER && kind != SOC_FAULT_IO)
        return true;
    return faults->crashes_left > 0 && faults->crashes_left-- > 0;
}

uint64_t soc_faults_draw_start_crash(struct soc_faults *faults)
{
    if (faults->chance[SOC_FAULT_POWER] == 0 || faults->crashes_left == 0 ||
        soc_rng_below(&faults->rng, STARTS_IN) > 0)
        return 0;
    faults->crashes_left--;
    return 1 + soc_rng_below(&faults->rng, START_CALLS);
}

int64_t soc_faults_draw_clock_step(struct soc_faults *faults)
{
    uint32_t chance = faults->chance[SOC_FAULT_JUMP] / STEPS_IN;
    if (chance == 0 || (soc_rng_next(&faults->steps) >> 48) >= chance)
        return 0;
    return (int64_t)soc_rng_below(&faults->steps, 2 * JUMP_MS) - JUMP_MS;
}

int64_t soc_faults_draw_pause(struct soc_faults *faults)
{
    if (soc_faults_happens(faults, SOC_FAULT_JUMP))
        return (int64_t)soc_rng_below(&faults->rng, 2 * JUMP_MS) - JUMP_MS;
    return (int64_t)soc_rng_below(&faults->rng, PAUSE_MS);
}

void soc_faults_log(struct soc_faults *faults, enum soc_fault_kind kind, int64_t now_ms,
                    struct soc_slice agent, const char *format, ...)
{
    struct soc_buf detail = {0};
    char text[200];
    va_list arguments;
    if (faults->log == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!faults->log->is_json) {
        soc_log_printf(faults->log, SOC_LOG_INFO, now_ms, "fault", agent, "%s: %s",
                       kinds[kind].name, text);
        return;
    }
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "fault", soc_slice_text(kinds[kind].name));
    soc_json_put_text_member(&detail, "text", soc_slice_text(text));
    soc_buf_put_byte(&detail, '}');
    soc_log_event(faults->log, SOC_LOG_INFO, now_ms, "fault", agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

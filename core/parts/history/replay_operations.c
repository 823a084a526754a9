#include "parts/history/replay_operations.h"

#include "base/limits.h"
#include "kernel/operations/given.h"
#include "kernel/refusal.h"
#include "parts/history/history_state.h"

static const struct soc_param start_params[] = {
    {.name = "policies",
     .kind = SOC_PARAM_OBJECT,
     .summary = "names of policies by their kinds, instead of those of then"},
    {.name = NULL},
};

static const struct soc_param result_params[] = {
    {.name = "replay_id",
     .most = SOC_KEY_BYTES_MAX,
     .is_needed = true,
     .summary = "the replay's id"},
    {.name = NULL},
};

static const struct soc_param members[] = {
    {.name = "id", .is_needed = true, .summary = "the replay's id"},
    {.name = "state", .is_needed = true, .summary = "running, same, different or failed"},
    {.name = "code", .kind = SOC_PARAM_INTEGER, .summary = "the exit code of `society replay`"},
    {.name = "message", .summary = "why it has failed"},
    {.name = "findings",
     .kind = SOC_PARAM_LIST,
     .summary = "what `society replay --json` prints, up to 1,000 lines of 1 MB in all"},
    {.name = NULL},
};

static void refuse(struct soc_given *given, const char *sentence)
{
    struct soc_buf error = {0};
    soc_refuse_named(&error, "not_possible", sentence);
    soc_given_refuse(given, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

static void start(struct soc_given *given)
{
    const struct soc_operations *society = given->society;
    struct soc_buf answer = {0};
    if (soc_history_state(society->host)->kept == NULL) {
        refuse(given, "nothing was kept to replay; set history = \"full\" in society.config");
        return;
    }
    if (society->start_replay == NULL) {
        refuse(given, "this society cannot start other programs");
        return;
    }
    int rc = society->start_replay(society->user, soc_given_json(given, "policies"), &answer);
    if (rc >= 0)
        soc_given_note_always(given);
    if (rc < 0)
        soc_given_refuse(given, soc_buf_slice(&answer));
    else
        soc_given_answer_when_durable(given, &answer);
    soc_buf_fini(&answer);
}

static void look_at_result(struct soc_given *given)
{
    const struct soc_operations *society = given->society;
    struct soc_buf answer = {0};
    struct soc_slice id = soc_given_text(given, "replay_id");
    if (society->put_replay == NULL) {
        refuse(given, "this society cannot start other programs");
        return;
    }
    if (society->put_replay(society->user, id, &answer) < 0)
        soc_given_refuse(given, soc_buf_slice(&answer));
    else
        soc_given_answer(given, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

const struct soc_operation soc_replay_operations[] = {
    {.name = "replay",
     .summary = "runs the history again in a process of its own, one at a time",
     .scope = SOC_SCOPE_OPERATE,
     .changes = true,
     .needs_running = true,
     .params = start_params,
     .answer = members,
     .run = start},
    {.name = "replay_result",
     .summary = "how far a replay has come and what it has found",
     .scope = SOC_SCOPE_READ,
     .needs_running = true,
     .params = result_params,
     .answer = members,
     .run = look_at_result},
    {.name = NULL},
};

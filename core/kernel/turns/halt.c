#include "kernel/turns/halt.h"

#include <assert.h>

#include "base/json.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"
#include "store/journal.h"

/* The name of the note. */
#define NOTE "halted"

static void put_note(struct soc_host *host, const struct soc_activation *activation,
                     struct soc_slice error)
{
    struct soc_buf value = {0};
    soc_buf_put_byte(&value, '{');
    soc_json_put_text_member(&value, "agent", soc_agent_id(activation->agent));
    soc_json_put_name(&value, "key");
    soc_json_put_integer(&value,
                         activation->message == NULL ? 0 : (int64_t)activation->message->key);
    soc_json_put_name(&value, "error");
    soc_buf_put_slice(&value, error);
    soc_buf_put_byte(&value, '}');
    soc_batch_put_meta(host, NOTE, soc_buf_slice(&value));
    soc_buf_fini(&value);
}

void soc_halt(struct soc_host *host, struct soc_slice error)
{
    const struct soc_activation *activation = NULL;
    const struct soc_agent *agent = NULL;
    if (host->turn.is_open) {
        activation = host->turn.activation;
        agent = host->turn.agent;
        host->batch.length = host->turn.batch_mark; /* memory is not needed any more */
        host->next_key = host->turn.key_mark;
        host->outbox.next = host->turn.output_mark;
        soc_turn_close(host);
    }
    soc_trace_event(host, SOC_LOG_ERROR, "halted", agent, error);
    if (activation != NULL)
        put_note(host, activation, error);
    if (host->journal == NULL)
        return;
    host->outbox.is_releasing = true; /* nothing leaves any more: the next start shows it, once */
    soc_batch_seal(host);
    soc_journal_close(host->journal, 0);
    host->journal = NULL;
}

void soc_halt_restore(struct soc_host *host, struct soc_slice value)
{
    int64_t key = 0;
    struct soc_halted *halted = &host->halted;
    halted->agent.length = halted->error.length = 0;
    if (value.length == 0 || !soc_json_string(soc_json_member(value, "agent"), &halted->agent) ||
        !soc_json_integer(soc_json_member(value, "key"), &key))
        return;
    halted->key = (uint64_t)key;
    soc_buf_put_slice(&halted->error, soc_json_member(value, "error"));
}

bool soc_halt_names(const struct soc_host *host, const struct soc_activation *activation)
{
    const struct soc_halted *halted = &host->halted;
    uint64_t key = activation->message == NULL ? 0 : activation->message->key;
    return halted->error.length > 0 && halted->key == key &&
           soc_slice_equal(soc_buf_slice(&halted->agent), soc_agent_id(activation->agent));
}

struct soc_buf soc_halt_take(struct soc_host *host)
{
    struct soc_buf error = host->halted.error;
    assert(error.length > 0);
    host->halted.error = (struct soc_buf){0};
    soc_batch_put_meta(host, NOTE, (struct soc_slice){"", 0});
    return error;
}

void soc_halt_fini(struct soc_host *host)
{
    soc_buf_fini(&host->halted.agent);
    soc_buf_fini(&host->halted.error);
}

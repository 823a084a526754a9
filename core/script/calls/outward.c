#include "script/calls/outward.h"

#include <assert.h>

#include "script/calls/chat.h"
#include "script/calls/errand.h"
#include "script/calls/visit.h"

static bool is_chat(const struct soc_outcall *call)
{
    return soc_slice_equal(call->kind, SOC_SLICE("chat"));
}

static bool is_errand(const struct soc_outcall *call)
{
    bool is = soc_slice_equal(call->kind, SOC_SLICE("lua"));
    assert(is || is_chat(call) || soc_slice_equal(call->kind, SOC_SLICE("http")));
    return is;
}

void soc_outward_call(void *user, struct soc_outcall *call)
{
    if (is_errand(call))
        soc_errand_begin(user, call);
    else if (is_chat(call))
        soc_chat_begin(user, call);
    else
        soc_visit_begin(user, call);
}

void soc_outward_due(void *user, struct soc_outcall *call)
{
    (void)user;
    if (is_errand(call))
        soc_errand_due(call->driver);
    else if (is_chat(call))
        soc_chat_due(call->driver);
    else
        soc_visit_due(call->driver);
}

void soc_outward_end(void *user, struct soc_outcall *call)
{
    (void)user;
    if (is_errand(call))
        soc_errand_end(call->driver);
    else if (is_chat(call))
        soc_chat_end(call->driver);
    else
        soc_visit_end(call->driver);
}

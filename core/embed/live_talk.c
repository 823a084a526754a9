#include "embed/live_talk.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static struct soc_live_speaker *find(struct soc_live_talk *talk, uint64_t call)
{
    for (size_t i = 0; i < talk->count; i++) {
        if (talk->speakers[i].call == call)
            return &talk->speakers[i];
    }
    return NULL;
}

static struct soc_live_speaker *begin(struct soc_live_talk *talk, uint64_t call)
{
    assert(find(talk, call) == NULL);
    if (talk->count == talk->room) {
        talk->room = talk->room == 0 ? 4 : 2 * talk->room;
        talk->speakers = soc_realloc(talk->speakers, talk->room * sizeof(*talk->speakers));
    }
    struct soc_live_speaker *speaker = &talk->speakers[talk->count++];
    *speaker = (struct soc_live_speaker){.call = call};
    return speaker;
}

void soc_live_talk_add(struct soc_live_talk *talk, uint64_t call, struct soc_slice name,
                       struct soc_slice text)
{
    assert(call != 0);
    if (text.length == 0)
        return;
    struct soc_live_speaker *speaker = find(talk, call);
    if (speaker == NULL)
        speaker = begin(talk, call);
    speaker->silent = 0;
    soc_live_text_add(&speaker->text, name, text);
}

void soc_live_talk_sweep(struct soc_live_talk *talk, bool (*is_open)(void *user, uint64_t call),
                         void *user)
{
    size_t kept = 0;
    for (size_t i = 0; i < talk->count; i++) {
        if (is_open(user, talk->speakers[i].call))
            talk->speakers[kept++] = talk->speakers[i];
        else
            soc_live_text_fini(&talk->speakers[i].text);
    }
    talk->count = kept;
}

/* Returns the speaker to show now; NULL if nobody speaks. */
static struct soc_live_speaker *choose(struct soc_live_talk *talk)
{
    struct soc_live_speaker *chosen = find(talk, talk->seen);
    if (chosen != NULL && chosen->silent < SOC_LIVE_SILENT_MAX)
        return chosen;
    for (size_t i = 0; i < talk->count; i++) {
        if (chosen == NULL || talk->speakers[i].silent < chosen->silent)
            chosen = &talk->speakers[i];
    }
    return chosen;
}

void soc_live_talk_draw(struct soc_live_talk *talk, size_t columns, struct soc_buf *out)
{
    struct soc_live_speaker *chosen = choose(talk);
    if (chosen == NULL)
        return;
    talk->seen = chosen->call;
    soc_live_text_put(&chosen->text, columns, out);
    for (size_t i = 0; i < talk->count; i++)
        talk->speakers[i].silent++;
}

void soc_live_talk_fini(struct soc_live_talk *talk)
{
    for (size_t i = 0; i < talk->count; i++)
        soc_live_text_fini(&talk->speakers[i].text);
    free(talk->speakers);
}

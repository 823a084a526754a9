#include "parts/outside/outside_letters.h"

#include <assert.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"

/* Ordered by age; a letter that is sent again returns to its place. Most letters are
 * the youngest, so the search starts at the end. */
void soc_outside_queue(struct soc_letter *letter)
{
    assert(letter->message->priority < SOC_PRIORITY_COUNT);
    struct soc_letter_list *list = &letter->outsider->waiting[letter->message->priority];
    struct soc_letter *before = list->last;
    if (letter->is_waiting)
        return;
    while (before != NULL && soc_message_is_younger(before->message, letter->message))
        before = before->previous;
    letter->is_waiting = true;
    letter->previous = before;
    letter->next = before == NULL ? list->first : before->next;
    *(letter->next == NULL ? &list->last : &letter->next->previous) = letter;
    *(before == NULL ? &list->first : &before->next) = letter;
}

void soc_outside_unqueue(struct soc_letter *letter)
{
    struct soc_letter_list *list = &letter->outsider->waiting[letter->message->priority];
    if (!letter->is_waiting)
        return;
    letter->is_waiting = false;
    assert(list->first != NULL && list->last != NULL);
    *(letter->next == NULL ? &list->last : &letter->next->previous) = letter->previous;
    *(letter->previous == NULL ? &list->first : &letter->previous->next) = letter->next;
}

/* Two senders may use the same external id: the older letter is found first. */
void soc_outside_name(struct soc_letter *letter)
{
    struct soc_slice id = soc_message_text(letter->message, SOC_TEXT_EXTERNAL_ID);
    struct soc_slice foreign = soc_message_text(letter->message, SOC_TEXT_FOREIGN_ID);
    if (foreign.data != NULL)
        soc_map_put(&letter->outsider->foreigns, foreign, letter);
    struct soc_letter *first =
        id.data == NULL ? NULL : soc_map_find(&letter->outsider->externals, id);
    if (first == NULL && id.data != NULL)
        soc_map_put(&letter->outsider->externals, id, letter);
    while (first != NULL && first->namesake != NULL)
        first = first->namesake;
    if (first != NULL)
        first->namesake = letter;
}

static void unname(struct soc_letter *letter)
{
    struct soc_map *externals = &letter->outsider->externals;
    struct soc_slice id = soc_message_text(letter->message, SOC_TEXT_EXTERNAL_ID);
    struct soc_slice foreign = soc_message_text(letter->message, SOC_TEXT_FOREIGN_ID);
    if (foreign.data != NULL)
        soc_map_take(&letter->outsider->foreigns, foreign);
    struct soc_letter *each = id.data == NULL ? NULL : soc_map_find(externals, id);
    if (each == letter) { /* the map borrows its key from the message */
        soc_map_take(externals, id);
        if (letter->namesake != NULL)
            soc_map_put(externals,
                        soc_message_text(letter->namesake->message, SOC_TEXT_EXTERNAL_ID),
                        letter->namesake);
        return;
    }
    while (each != NULL && each->namesake != letter)
        each = each->namesake;
    if (each != NULL)
        each->namesake = letter->namesake;
}

static uint64_t hash_id(struct soc_slice id)
{
    return id.data == NULL ? 0 : soc_hash(id.data, id.length, 1) | 1;
}

void soc_outside_remember(struct soc_letter *letter)
{
    struct soc_outsider *outsider = letter->outsider;
    const struct soc_message *message = letter->message;
    unname(letter);
    if (outsider->ended == NULL)
        outsider->ended = soc_alloc_zero(SOC_LETTERS_ENDED_MAX * sizeof(*outsider->ended));
    struct soc_ended_letter *ended =
        &outsider->ended[outsider->ended_count++ % SOC_LETTERS_ENDED_MAX];
    if (ended->key >= outsider->known_key)
        outsider->known_key = ended->key + 1;
    *ended = (struct soc_ended_letter){
        .key = message->key,
        .time_ms = message->time_ms,
        .external = hash_id(soc_message_text(message, SOC_TEXT_EXTERNAL_ID)),
        .foreign = hash_id(soc_message_text(message, SOC_TEXT_FOREIGN_ID)),
        .from = message->from,
        .wants_reply = (message->flags & SOC_MESSAGE_WANTS_REPLY) != 0,
        .is_broadcast = (message->flags & SOC_MESSAGE_IS_BROADCAST) != 0,
    };
}

struct soc_letter *soc_outside_find_letter(const struct soc_outsider *outsider, struct soc_slice id)
{
    uint64_t key;
    struct soc_letter *letter = NULL;
    if (soc_message_id_parse(id, &key))
        letter = soc_map_find_number(&outsider->letters, key);
    if (letter != NULL && soc_message_id_is(id, letter->message->time_ms, key))
        return letter;
    letter = soc_map_find(&outsider->foreigns, id);
    return letter != NULL ? letter : soc_map_find(&outsider->externals, id);
}

const struct soc_ended_letter *soc_outside_find_ended(const struct soc_outsider *outsider,
                                                      struct soc_slice id)
{
    uint64_t key = 0;
    uint64_t hash = hash_id(id);
    bool is_ours = soc_message_id_parse(id, &key);
    for (uint32_t i = 0; i < SOC_LETTERS_ENDED_MAX && i < outsider->ended_count; i++) {
        const struct soc_ended_letter *ended = &outsider->ended[i];
        if (ended->external == hash || (hash != 0 && ended->foreign == hash))
            return ended;
        if (is_ours && ended->key == key && soc_message_id_is(id, ended->time_ms, key))
            return ended;
    }
    return NULL;
}

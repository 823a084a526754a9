/* Check history: records for a checker, as a society would write them.
 *
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_CHECK_HISTORY_H
#define SOC_TESTS_CHECK_HISTORY_H

#include "check.h"

#include "check/check.h"
#include "store/record.h"

/* A history under construction: a checker, and the batch being written. */
struct history {
    struct soc_check *check;
    struct soc_buf batch;
    uint64_t sequence;
    int64_t now_ms;
    uint64_t next_key;
    uint64_t totals[6]; /* sent, then by outcome */
};

/* Adds a record to the batch. */
static inline void put(struct history *history, const struct soc_record *record)
{
    soc_record_put(&history->batch, record);
}

/* Adds a setting. */
static inline void put_meta(struct history *history, const char *name, const char *value)
{
    put(history, &(struct soc_record){
                     .type = SOC_RECORD_META,
                     .meta = {.name = soc_slice_text(name), .value = soc_slice_text(value)}});
}

/* Submits the batch, with the totals. */
static inline void seal(struct history *history)
{
    char cursor[200];
    const uint64_t *t = history->totals;
    snprintf(cursor, sizeof(cursor), "[%llu,%lld,1,%llu,%llu,%llu,%llu,%llu,%llu]",
             (unsigned long long)history->next_key, (long long)history->now_ms,
             (unsigned long long)t[0], (unsigned long long)t[1], (unsigned long long)t[2],
             (unsigned long long)t[3], (unsigned long long)t[4], (unsigned long long)t[5]);
    put_meta(history, "cursor", cursor);
    soc_check_sealed(history->check, ++history->sequence, soc_buf_slice(&history->batch));
    history->batch.length = 0;
}

/* Submits it and makes it durable. */
static inline void commit(struct history *history)
{
    seal(history);
    soc_check_durable(history->check, history->sequence);
}

/* Adds an agent. */
static inline void birth(struct history *history, const char *id, const char *parent,
                         const char *brief)
{
    put(history, &(struct soc_record){.type = SOC_RECORD_AGENT,
                                      .agent = {.id = soc_slice_text(id),
                                                .role = soc_slice_text(id),
                                                .parent = soc_slice_text(parent),
                                                .brief = soc_slice_text(brief)}});
}

/* Returns a history with user and root, and a and b, its children; b knows a. */
static inline struct history begin(void)
{
    struct history history = {.check = soc_check_new(), .now_ms = 1000, .next_key = 1};
    put_meta(&history, "policies",
             "[{\"kind\":\"contacts\",\"name\":\"strict\","
             "\"path\":\"[society]/policies/contacts/strict.lua\"},"
             "{\"kind\":\"introductions\",\"name\":\"parent\","
             "\"path\":\"[society]/policies/introductions/parent.lua\"}]");
    birth(&history, "user", NULL, NULL);
    birth(&history, "root", NULL, NULL);
    birth(&history, "a", "root", NULL);
    birth(&history, "b", "root", "{\"collaborators\":[{\"agentId\":\"a\"}]}");
    commit(&history);
    return history;
}

/* Ends the history and tells whether the checker reports something with `words` in it;
 * NULL: nothing. */
static inline bool ends_with(struct history *history, const char *words)
{
    const char *fault = soc_check_fault(history->check);
    bool is_right = words == NULL ? fault == NULL : fault != NULL && strstr(fault, words) != NULL;
    if (!is_right)
        printf("# the checker says: %s\n", fault == NULL ? "nothing" : fault);
    soc_check_free(history->check);
    soc_buf_fini(&history->batch);
    return is_right;
}

/* A message, as far as a test specifies it. */
struct mail {
    const char *from;
    const char *to;
    uint64_t priority;
    uint64_t flags;
    const char *payload;
};

/* Sends a message and returns its key. */
static inline uint64_t send(struct history *history, struct mail mail)
{
    uint64_t key = history->next_key++;
    history->totals[0]++;
    put(history,
        &(struct soc_record){
            .type = SOC_RECORD_MESSAGE,
            .message = {.key = key,
                        .priority = mail.priority,
                        .flags = mail.flags,
                        .from = soc_slice_text(mail.from),
                        .to = soc_slice_text(mail.to),
                        .type = SOC_SLICE("general"),
                        .payload = soc_slice_text(mail.payload == NULL ? "{}" : mail.payload)}});
    return key;
}

/* Ends it. */
static inline void end(struct history *history, uint64_t key, enum soc_outcome outcome)
{
    history->totals[outcome]++;
    put(history, &(struct soc_record){.type = SOC_RECORD_MESSAGE_END,
                                      .message_end = {.key = key, .outcome = outcome}});
}

#endif

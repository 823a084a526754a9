/* Dedupe keys: known for a window of time, then forgotten. */
#include "check.h"
#include "model/delivery/dedupe.h"

static struct soc_dedupe_words key_of(const char *sender, const char *words)
{
    return (struct soc_dedupe_words){
        .kind = SOC_DEDUPE_KEY,
        .sender = soc_slice_text(sender),
        .words = soc_slice_text(words),
    };
}

static uint64_t find(const struct soc_dedupe *dedupe, struct soc_dedupe_words words, int64_t now_ms)
{
    const struct soc_dedupe_entry *entry = soc_dedupe_find(dedupe, &words, now_ms, 100);
    return entry == NULL ? 0 : entry->key;
}

static void add(struct soc_dedupe *dedupe, struct soc_dedupe_words words, uint64_t key,
                int64_t now_ms)
{
    soc_dedupe_add(dedupe, &words, key, now_ms, now_ms);
}

static void a_key_belongs_to_its_sender(void)
{
    struct soc_dedupe dedupe = {0};
    add(&dedupe, key_of("ann", "k"), 1, 0);
    CHECK_INT(find(&dedupe, key_of("ann", "k"), 0), 1);
    CHECK_INT(find(&dedupe, key_of("bob", "k"), 0), 0);
    CHECK_INT(find(&dedupe, key_of("ann", "kk"), 0), 0);
    struct soc_dedupe_words external = key_of("ann", "k");
    external.kind = SOC_DEDUPE_EXTERNAL;
    CHECK_INT(find(&dedupe, external, 0), 0);
    struct soc_dedupe_words listed = key_of("ann", "k");
    listed.kind = SOC_DEDUPE_LIST;
    listed.receiver = SOC_SLICE("cid");
    CHECK_INT(find(&dedupe, listed, 0), 0);
    add(&dedupe, listed, 2, 0);
    listed.receiver = SOC_SLICE("dan");
    CHECK_INT(find(&dedupe, listed, 0), 0);
    soc_dedupe_fini(&dedupe);
}

static void a_key_is_known_until_its_window_ends(void)
{
    struct soc_dedupe dedupe = {0};
    add(&dedupe, key_of("ann", "a"), 1, 0);
    add(&dedupe, key_of("ann", "b"), 2, 50);
    CHECK_INT(find(&dedupe, key_of("ann", "a"), 99), 1);
    CHECK_INT(find(&dedupe, key_of("ann", "a"), 100), 0);
    CHECK_INT(soc_dedupe_forget(&dedupe, 99, 100), 0);
    CHECK_INT(soc_dedupe_forget(&dedupe, 100, 100), 1);
    CHECK_INT(dedupe.entries.count, 1);
    CHECK_INT(find(&dedupe, key_of("ann", "b"), 149), 2);
    CHECK_INT(soc_dedupe_forget(&dedupe, 150, 100), 1);
    CHECK(dedupe.first == NULL && dedupe.last == NULL);
    soc_dedupe_fini(&dedupe);
}

static void any_key_can_be_rolled_back(void)
{
    struct soc_dedupe dedupe = {0};
    struct soc_dedupe_words words[3] = {key_of("ann", "a"), key_of("ann", "b"), key_of("ann", "c")};
    struct soc_dedupe_entry *entries[3];
    static const int order[] = {1, 2, 0};
    for (int i = 0; i < 3; i++)
        entries[i] = soc_dedupe_add(&dedupe, &words[i], (uint64_t)i + 1, 0, 0);
    for (int i = 0; i < 3; i++) {
        soc_dedupe_remove(&dedupe, entries[order[i]]);
        CHECK_INT(find(&dedupe, words[order[i]], 0), 0);
        CHECK_INT(dedupe.entries.count, 2 - i);
    }
    soc_dedupe_fini(&dedupe);
}

static void a_newer_message_replaces_the_one_of_its_key(void)
{
    struct soc_dedupe dedupe = {0};
    add(&dedupe, key_of("ann", "a"), 1, 0);
    add(&dedupe, key_of("ann", "b"), 2, 10);
    add(&dedupe, key_of("ann", "a"), 3, 60);
    CHECK_INT(find(&dedupe, key_of("ann", "a"), 120), 3);
    CHECK_INT(soc_dedupe_forget(&dedupe, 110, 100), 1);
    CHECK_INT(dedupe.entries.count, 1);
    soc_dedupe_fini(&dedupe);
}

int main(void)
{
    RUN(a_key_belongs_to_its_sender);
    RUN(a_key_is_known_until_its_window_ends);
    RUN(any_key_can_be_rolled_back);
    RUN(a_newer_message_replaces_the_one_of_its_key);
    return check_done();
}

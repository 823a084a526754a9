#include <stdio.h>

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
    CHECK_INT(dedupe.count, 1);
    CHECK_INT(find(&dedupe, key_of("ann", "b"), 149), 2);
    CHECK_INT(soc_dedupe_forget(&dedupe, 150, 100), 1);
    CHECK_INT(dedupe.count, 0);
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
        CHECK_INT(dedupe.count, 2 - i);
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
    CHECK_INT(dedupe.count, 1);
    soc_dedupe_fini(&dedupe);
}

#define KEYS  500
#define STEPS 200000

/* Keys are added, added again, rolled back and forgotten in any order; `sent` is the model:
 * number of the message and when, 0: not known. */
static void many_keys_are_as_if_each_had_a_list_of_its_own(void)
{
    struct soc_dedupe dedupe = {0};
    static int64_t since[KEYS];
    static uint64_t known[KEYS];
    char words[16];
    uint64_t seed = 7;
    int64_t now_ms = 0;
    for (uint64_t step = 1; step <= STEPS; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t which = (size_t)(seed >> 33) % KEYS;
        snprintf(words, sizeof(words), "k%zu", which);
        now_ms += (seed >> 20) % 8 == 0;
        bool is_known = known[which] != 0 && now_ms - since[which] < 100;
        CHECK_INT(find(&dedupe, key_of("ann", words), now_ms), is_known ? known[which] : 0);
        struct soc_dedupe_words text = key_of("ann", words);
        struct soc_dedupe_entry *entry = soc_dedupe_add(&dedupe, &text, step, now_ms, now_ms);
        known[which] = step;
        since[which] = now_ms;
        if ((seed >> 24) % 4 == 0) {
            soc_dedupe_remove(&dedupe, entry);
            known[which] = 0;
        }
        if ((seed >> 27) % 64 == 0)
            soc_dedupe_forget(&dedupe, now_ms, 100);
    }
    CHECK(dedupe.next - dedupe.first < 10000); /* what is over is not kept */
    soc_dedupe_forget(&dedupe, now_ms + 100, 100);
    CHECK_INT(dedupe.count, 0);
    CHECK(dedupe.chunk_count <= 1);
    soc_dedupe_fini(&dedupe);
}

static void a_key_takes_less_than_sixty_bytes(void)
{
    struct soc_dedupe dedupe = {0};
    char words[32];
    for (uint64_t i = 1; i <= 100000; i++) {
        snprintf(words, sizeof(words), "%025llu", (unsigned long long)i);
        add(&dedupe, key_of("ann", words), i, 0);
    }
    size_t bytes = dedupe.chunk_count * 1024 * sizeof(struct soc_dedupe_entry) +
                   dedupe.chunk_capacity * sizeof(void *) + dedupe.slot_count * sizeof(uint32_t);
    CHECK(bytes < 60 * dedupe.count);
    soc_dedupe_forget(&dedupe, 100, 100);
    for (uint64_t i = 0; i < 20; i++)
        soc_dedupe_forget(&dedupe, 100, 100);
    CHECK(dedupe.chunk_count <= 1 && dedupe.slot_count <= 16);
    soc_dedupe_fini(&dedupe);
}

static void the_text_of_a_key_says_what_it_is_of(void)
{
    struct soc_dedupe_words words = {.kind = SOC_DEDUPE_LAPSED,
                                     .sender = SOC_SLICE("root@alpha"),
                                     .receiver = SOC_SLICE("b"),
                                     .words = SOC_SLICE("two\nlines")};
    struct soc_dedupe_words read;
    struct soc_buf text = {0};
    soc_dedupe_text(&text, &words);
    CHECK(soc_dedupe_words(&read, soc_buf_slice(&text)));
    CHECK(read.kind == SOC_DEDUPE_LAPSED && soc_slice_equal(read.sender, words.sender));
    CHECK(soc_slice_equal(read.receiver, words.receiver));
    CHECK(soc_slice_equal(read.words, words.words));
    CHECK(soc_dedupe_words(&read, SOC_SLICE("ea\nx")) && read.kind == SOC_DEDUPE_EXTERNAL);
    CHECK(read.receiver.data == NULL && soc_slice_equal(read.words, SOC_SLICE("x")));
    CHECK(!soc_dedupe_words(&read, SOC_SLICE("qa\nx"))); /* one id is missing */
    CHECK(!soc_dedupe_words(&read, SOC_SLICE("?a\nx")) && !soc_dedupe_words(&read, SOC_SLICE("")));
    soc_buf_fini(&text);
}

int main(void)
{
    RUN(a_key_belongs_to_its_sender);
    RUN(a_key_is_known_until_its_window_ends);
    RUN(any_key_can_be_rolled_back);
    RUN(a_newer_message_replaces_the_one_of_its_key);
    RUN(many_keys_are_as_if_each_had_a_list_of_its_own);
    RUN(a_key_takes_less_than_sixty_bytes);
    RUN(the_text_of_a_key_says_what_it_is_of);
    return check_done();
}

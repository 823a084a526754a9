#include "model/contacts.h"

#include "base/mem.h"
#include "check.h"
#include "env/rng.h"
#include "model/agent.h"

enum { PEOPLE = 300 };

static void make_people(struct soc_agent *people[], int count)
{
    for (int i = 0; i < count; i++)
        people[i] = soc_agent_new(SOC_SLICE("somebody"), NULL, NULL, 0);
}

static void free_people(struct soc_agent *people[], int count)
{
    for (int i = 0; i < count; i++)
        soc_agent_free(people[i]);
}

static struct soc_contact_extra *extra_of(const char *role)
{
    struct soc_contact_extra *extra = soc_alloc_zero(sizeof(*extra));
    soc_text_set(&extra->role, soc_slice_text(role));
    return extra;
}

static void a_new_list_is_empty(void)
{
    struct soc_agent *people[1];
    struct soc_contacts contacts = {0};
    make_people(people, 1);
    CHECK(soc_contacts_find(&contacts, people[0]) == NULL);
    CHECK(!soc_contacts_remove(&contacts, people[0]));
    CHECK_INT(contacts.count, 0);
    soc_contacts_fini(&contacts);
    free_people(people, 1);
}

static void an_entry_has_peer_source_and_time(void)
{
    struct soc_agent *people[2];
    struct soc_contacts contacts = {0};
    make_people(people, 2);
    struct soc_contact *contact =
        soc_contacts_put(&contacts, people[0], SOC_SOURCE_MANUAL, 123, extra_of("baker"));
    CHECK(contact == soc_contacts_find(&contacts, people[0]));
    CHECK(contact->peer == people[0]);
    CHECK_INT(contact->source, SOC_SOURCE_MANUAL);
    CHECK_INT(contact->added_ms, 123);
    CHECK_TEXT(contact->extra->role, "baker");
    CHECK_INT(contact->verdict_generation, 0);
    CHECK(soc_contacts_find(&contacts, people[1]) == NULL);
    soc_contacts_fini(&contacts);
    CHECK(contacts.items == NULL && contacts.slots == NULL && contacts.count == 0);
    free_people(people, 2);
}

static void replacing_an_entry_keeps_its_place_and_clears_the_verdict(void)
{
    struct soc_agent *people[3];
    struct soc_contacts contacts = {0};
    make_people(people, 3);
    for (int i = 0; i < 3; i++)
        soc_contacts_put(&contacts, people[i], SOC_SOURCE_CHILD, i, extra_of("old"));
    struct soc_contact *contact = soc_contacts_find(&contacts, people[1]);
    contact->verdict_generation = 9;
    contact->is_allowed = true;
    contact = soc_contacts_put(&contacts, people[1], SOC_SOURCE_PRESET, 77, extra_of("new"));
    CHECK(contact == &contacts.items[1]);
    CHECK_INT(contacts.count, 3);
    CHECK_INT(contact->source, SOC_SOURCE_PRESET);
    CHECK_INT(contact->added_ms, 77);
    CHECK_TEXT(contact->extra->role, "new");
    CHECK_INT(contact->verdict_generation, 0);
    struct soc_contact_extra *same = contact->extra;
    contact = soc_contacts_put(&contacts, people[1], SOC_SOURCE_PRESET, 78, same);
    CHECK(contact->extra == same);
    CHECK_TEXT(contact->extra->role, "new");
    soc_contacts_fini(&contacts);
    free_people(people, 3);
}

static void entries_are_found_with_and_without_a_hash(void)
{
    static struct soc_agent *people[PEOPLE];
    struct soc_contacts contacts = {0};
    make_people(people, PEOPLE);
    for (int i = 0; i < PEOPLE; i++) {
        soc_contacts_put(&contacts, people[i], SOC_SOURCE_CHILD, i, NULL);
        CHECK_INT(contacts.count, i + 1);
        for (int j = 0; j < PEOPLE; j++) {
            const struct soc_contact *contact = soc_contacts_find(&contacts, people[j]);
            CHECK(j <= i ? contact == &contacts.items[j] && contact->added_ms == j
                         : contact == NULL);
        }
    }
    CHECK(contacts.slots != NULL);
    soc_contacts_fini(&contacts);
    free_people(people, PEOPLE);
}

static void removal_keeps_the_order_of_the_others(void)
{
    struct soc_agent *people[20];
    struct soc_contacts contacts = {0};
    make_people(people, 20);
    for (int i = 0; i < 20; i++)
        soc_contacts_put(&contacts, people[i], SOC_SOURCE_CHILD, i, extra_of("x"));
    CHECK(soc_contacts_remove(&contacts, people[0]));
    CHECK(soc_contacts_remove(&contacts, people[10]));
    CHECK(soc_contacts_remove(&contacts, people[19]));
    CHECK(!soc_contacts_remove(&contacts, people[10]));
    CHECK_INT(contacts.count, 17);
    int64_t before_ms = -1;
    for (uint32_t i = 0; i < contacts.count; i++) {
        CHECK(contacts.items[i].added_ms > before_ms);
        before_ms = contacts.items[i].added_ms;
    }
    soc_contacts_put(&contacts, people[10], SOC_SOURCE_MANUAL, 99, NULL);
    CHECK(contacts.items[17].peer == people[10]);
    soc_contacts_fini(&contacts);
    free_people(people, 20);
}

/* The naive model: a list of pairs, searched from its beginning. */
struct model {
    struct soc_agent *peers[PEOPLE];
    int64_t added_ms[PEOPLE];
    size_t count;
};

static size_t model_find(const struct model *model, const struct soc_agent *peer)
{
    size_t at = 0;
    while (at < model->count && model->peers[at] != peer)
        at++;
    return at;
}

static void model_put(struct model *model, struct soc_agent *peer, int64_t added_ms)
{
    size_t at = model_find(model, peer);
    if (at == model->count)
        model->peers[model->count++] = peer;
    model->added_ms[at] = added_ms;
}

static void model_move(struct model *model, const struct soc_agent *peer, size_t number)
{
    size_t at = model_find(model, peer);
    while (at != number) {
        size_t next = at < number ? at + 1 : at - 1;
        struct soc_agent *other = model->peers[next];
        int64_t other_ms = model->added_ms[next];
        model->peers[next] = model->peers[at];
        model->added_ms[next] = model->added_ms[at];
        model->peers[at] = other;
        model->added_ms[at] = other_ms;
        at = next;
    }
}

static bool model_remove(struct model *model, const struct soc_agent *peer)
{
    size_t at = model_find(model, peer);
    if (at == model->count)
        return false;
    model->count--;
    memmove(model->peers + at, model->peers + at + 1, (model->count - at) * sizeof(*model->peers));
    memmove(model->added_ms + at, model->added_ms + at + 1,
            (model->count - at) * sizeof(*model->added_ms));
    return true;
}

static void compare(const struct soc_contacts *contacts, const struct model *model)
{
    CHECK_INT(contacts->count, model->count);
    for (size_t i = 0; i < model->count; i++) {
        CHECK(contacts->items[i].peer == model->peers[i]);
        CHECK_INT(contacts->items[i].added_ms, model->added_ms[i]);
        CHECK(soc_contacts_find(contacts, model->peers[i]) == &contacts->items[i]);
    }
}

/* Fuller and emptier by turns, so that the hash comes into being under load. */
static void contacts_agree_with_a_naive_model(void)
{
    static struct soc_agent *people[PEOPLE];
    static struct model model;
    struct soc_contacts contacts = {0};
    struct soc_rng rng;
    soc_rng_init(&rng, 3);
    make_people(people, PEOPLE);
    for (int step = 0; step < 20000; step++) {
        uint64_t adds_of_ten = step / 2000 % 2 == 0 ? 7 : 3;
        uint64_t among = step < 10000 ? 12 : PEOPLE;
        struct soc_agent *peer = people[soc_rng_below(&rng, among)];
        if (soc_rng_below(&rng, 10) < adds_of_ten) {
            struct soc_contact_extra *extra = step % 3 == 0 ? extra_of("x") : NULL;
            soc_contacts_put(&contacts, peer, SOC_SOURCE_MANUAL, step, extra);
            model_put(&model, peer, step);
            if (step % 4 == 0) {
                uint32_t number = (uint32_t)soc_rng_below(&rng, contacts.count);
                soc_contacts_move(&contacts, peer, number);
                model_move(&model, peer, number);
            }
        } else {
            CHECK_INT(soc_contacts_remove(&contacts, peer), model_remove(&model, peer));
        }
        const struct soc_agent *other = people[soc_rng_below(&rng, PEOPLE)];
        CHECK((soc_contacts_find(&contacts, other) != NULL) ==
              (model_find(&model, other) < model.count));
        if (step % 7 == 0)
            compare(&contacts, &model);
    }
    compare(&contacts, &model);
    soc_contacts_fini(&contacts);
    free_people(people, PEOPLE);
}

static void an_extra_is_copied_completely(void)
{
    CHECK(soc_contact_extra_copy(NULL) == NULL);
    struct soc_contact_extra *extra = extra_of("baker");
    soc_text_set(&extra->interface_spec, SOC_SLICE("{\"services\":\"bread\"}"));
    soc_text_set(&extra->introduced_by, SOC_SLICE("ann"));
    soc_text_set(&extra->via, SOC_SLICE("[\"ann\"]"));
    struct soc_contact_extra *copy = soc_contact_extra_copy(extra);
    soc_contact_extra_free(extra);
    CHECK_TEXT(copy->role, "baker");
    CHECK_TEXT(copy->interface_spec, "{\"services\":\"bread\"}");
    CHECK_TEXT(copy->introduced_by, "ann");
    CHECK_TEXT(copy->via, "[\"ann\"]");
    soc_contact_extra_free(copy);
    struct soc_contact_extra empty = {0};
    copy = soc_contact_extra_copy(&empty);
    CHECK(copy->role == NULL && copy->interface_spec == NULL);
    CHECK(copy->introduced_by == NULL && copy->via == NULL);
    soc_contact_extra_free(copy);
    soc_contact_extra_free(NULL);
}

/* They are stored: neither names nor numbers may change. */
static void source_names_never_change(void)
{
    static const char *const names[] = {"system",       "parent",        "child", "preset",
                                        "introduction", "first_message", "manual"};
    CHECK_INT(SOC_SOURCE_COUNT, sizeof(names) / sizeof(names[0]));
    for (int i = 0; i < SOC_SOURCE_COUNT; i++) {
        enum soc_source source = SOC_SOURCE_COUNT;
        CHECK_TEXT(soc_source_name((enum soc_source)i), names[i]);
        CHECK(soc_source_parse(soc_slice_text(names[i]), &source));
        CHECK_INT(source, i);
    }
    enum soc_source source = SOC_SOURCE_COUNT;
    CHECK(!soc_source_parse(SOC_SLICE("Parent"), &source));
    CHECK(!soc_source_parse(SOC_SLICE(""), &source));
    CHECK(!soc_source_parse(SOC_SLICE("parents"), &source));
    CHECK_INT(source, SOC_SOURCE_COUNT);
}

/* As in the roll-back of a spawn by the parent of very many. */
static void removing_the_last_entry_keeps_the_others(void)
{
    enum { MANY = 200000 };
    static struct soc_agent *people[MANY];
    struct soc_contacts contacts = {0};
    make_people(people, MANY);
    for (int i = 0; i < MANY; i++)
        soc_contacts_put(&contacts, people[i], SOC_SOURCE_CHILD, i, NULL);
    uint32_t *before = malloc(contacts.slot_count * sizeof(*before));
    memcpy(before, contacts.slots, contacts.slot_count * sizeof(*before));
    const uint32_t *slots = contacts.slots;
    CHECK(soc_contacts_remove(&contacts, people[MANY - 1]));
    CHECK(soc_contacts_find(&contacts, people[MANY - 1]) == NULL);
    CHECK(contacts.slots == slots); /* the index was not built again */
    uint32_t changed = 0;
    for (uint32_t i = 0; i < contacts.slot_count; i++)
        changed += contacts.slots[i] != before[i];
    CHECK(changed > 0 && changed < 100); /* its slot, and those that move up */
    free(before);
    soc_contacts_put(&contacts, people[MANY - 1], SOC_SOURCE_CHILD, 1, NULL);
    CHECK(soc_contacts_find(&contacts, people[MANY - 1]) == &contacts.items[MANY - 1]);
    soc_contacts_fini(&contacts);
    free_people(people, MANY);
}

int main(void)
{
    RUN(removing_the_last_entry_keeps_the_others);
    RUN(a_new_list_is_empty);
    RUN(an_entry_has_peer_source_and_time);
    RUN(replacing_an_entry_keeps_its_place_and_clears_the_verdict);
    RUN(entries_are_found_with_and_without_a_hash);
    RUN(removal_keeps_the_order_of_the_others);
    RUN(contacts_agree_with_a_naive_model);
    RUN(an_extra_is_copied_completely);
    RUN(source_names_never_change);
    return check_done();
}

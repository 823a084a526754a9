/* Items of the inbox: their order, their deadline, and that one decision counts. */
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "model/inbox.h"

static struct soc_item *put(struct soc_inbox *inbox, uint64_t key, enum soc_priority priority)
{
    struct soc_item *item = soc_item_new(key, 1000 + (int64_t)key, NULL);
    item->priority = priority;
    item->title = soc_copy_text("t", 1);
    soc_inbox_add(inbox, item);
    return item;
}

static void urgent_items_come_first_then_the_oldest(void)
{
    struct soc_inbox inbox = {0};
    put(&inbox, 1, SOC_PRIORITY_LOW);
    put(&inbox, 2, SOC_PRIORITY_NORMAL);
    put(&inbox, 3, SOC_PRIORITY_URGENT);
    put(&inbox, 4, SOC_PRIORITY_NORMAL);
    put(&inbox, 5, SOC_PRIORITY_HIGH);
    static const uint64_t order[] = {3, 5, 2, 4, 1};
    size_t count;
    struct soc_item **items = soc_inbox_sorted(&inbox, &count);
    CHECK_INT(count, 5);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(items[i]->key, order[i]);
    free(items);
    soc_inbox_fini(&inbox);
}

static void a_decision_closes_the_item_and_is_remembered(void)
{
    struct soc_inbox inbox = {0};
    struct soc_item *item = put(&inbox, 7, SOC_PRIORITY_NORMAL);
    CHECK_INT(soc_inbox_decision(&inbox, 7), SOC_DECISION_NONE);
    CHECK(soc_inbox_end(&inbox, 7, SOC_DECISION_REJECT) == item);
    CHECK_INT(soc_inbox_decision(&inbox, 7), SOC_DECISION_REJECT);
    CHECK(soc_inbox_find(&inbox, 7) == NULL);
    CHECK_INT(soc_inbox_decision(&inbox, 8), SOC_DECISION_NONE);
    soc_item_free(item);
    soc_inbox_fini(&inbox);
}

static void a_withdrawn_item_cannot_be_decided(void)
{
    struct soc_inbox inbox = {0};
    put(&inbox, 3, SOC_PRIORITY_NORMAL);
    soc_item_free(soc_inbox_end(&inbox, 3, SOC_DECISION_WITHDRAWN));
    CHECK(soc_inbox_find(&inbox, 3) == NULL);
    CHECK_INT(soc_inbox_decision(&inbox, 3), SOC_DECISION_WITHDRAWN);
    CHECK_TEXT(soc_decision_name(SOC_DECISION_WITHDRAWN), "withdrawn");
    CHECK_INT(soc_decision_parse(SOC_SLICE("withdrawn")), SOC_DECISION_NONE);
    soc_inbox_fini(&inbox);
}

static void a_rolled_back_decision_leaves_the_item_open(void)
{
    struct soc_inbox inbox = {0};
    put(&inbox, 1, SOC_PRIORITY_NORMAL);
    struct soc_item *item = soc_inbox_end(&inbox, 1, SOC_DECISION_APPROVE);
    soc_inbox_reopen(&inbox, item);
    CHECK_INT(soc_inbox_decision(&inbox, 1), SOC_DECISION_NONE);
    CHECK(soc_inbox_find(&inbox, 1) == item);
    soc_item_free(soc_inbox_end(&inbox, 1, SOC_DECISION_MODIFY));
    CHECK_INT(soc_inbox_decision(&inbox, 1), SOC_DECISION_MODIFY);
    soc_inbox_fini(&inbox);
}

static void a_decision_is_remembered_without_its_item(void)
{
    struct soc_inbox inbox = {0};
    CHECK(soc_inbox_end(&inbox, 9, SOC_DECISION_APPROVE) == NULL);
    CHECK_INT(soc_inbox_decision(&inbox, 9), SOC_DECISION_APPROVE);
    soc_inbox_fini(&inbox);
}

static void an_item_is_overdue_from_its_deadline(void)
{
    struct soc_inbox inbox = {0};
    struct soc_item *item = put(&inbox, 1, SOC_PRIORITY_NORMAL);
    CHECK(!soc_item_is_overdue(item, INT64_MAX));
    item->deadline_ms = 2000;
    CHECK(!soc_item_is_overdue(item, 1999));
    CHECK(soc_item_is_overdue(item, 2000));
    CHECK(soc_inbox_take(&inbox, 1) == item);
    CHECK(soc_inbox_take(&inbox, 1) == NULL);
    soc_item_free(item);
    soc_inbox_fini(&inbox);
}

static void there_are_three_decisions(void)
{
    CHECK_INT(soc_decision_parse(SOC_SLICE("approve")), SOC_DECISION_APPROVE);
    CHECK_INT(soc_decision_parse(SOC_SLICE("modify")), SOC_DECISION_MODIFY);
    CHECK_INT(soc_decision_parse(SOC_SLICE("reject")), SOC_DECISION_REJECT);
    CHECK_INT(soc_decision_parse(SOC_SLICE("none")), SOC_DECISION_NONE);
    CHECK_INT(soc_decision_parse(SOC_SLICE("Approve")), SOC_DECISION_NONE);
    CHECK_INT(soc_decision_parse((struct soc_slice){0}), SOC_DECISION_NONE);
    CHECK_TEXT(soc_decision_name(SOC_DECISION_MODIFY), "modify");
}

int main(void)
{
    RUN(urgent_items_come_first_then_the_oldest);
    RUN(a_decision_closes_the_item_and_is_remembered);
    RUN(a_withdrawn_item_cannot_be_decided);
    RUN(a_rolled_back_decision_leaves_the_item_open);
    RUN(a_decision_is_remembered_without_its_item);
    RUN(an_item_is_overdue_from_its_deadline);
    RUN(there_are_three_decisions);
    return check_done();
}

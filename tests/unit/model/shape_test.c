#include "model/shape.h"

#include "base/json.h"
#include "base/limits.h"
#include "check.h"

static bool is_id(struct soc_slice text)
{
    return text.length > 0 && text.length <= 4 && memchr(text.data, '/', text.length) == NULL;
}

static bool is_time(struct soc_slice text)
{
    return soc_slice_equal(text, SOC_SLICE("12:00"));
}

static const struct soc_shape_words words = {is_id, is_time};

static struct soc_shape *of(enum soc_shape_kind kind)
{
    return soc_shape_new(SOC_SHAPE_BIT(kind), &words);
}

static struct soc_shape *add(struct soc_shape *shape, const char *name, bool is_required,
                             uint32_t kinds)
{
    struct soc_shape *member = soc_shape_add_field(shape, soc_slice_text(name), is_required);
    CHECK(member != NULL);
    soc_shape_set_kinds(member, kinds);
    return member;
}

/* Whether the text fits, with and without a report, which must agree. */
static bool fits(const struct soc_shape *shape, const char *json, struct soc_shape_report *report)
{
    struct soc_shape_report own = {0};
    struct soc_shape_report *used = report == NULL ? &own : report;
    struct soc_slice value = soc_slice_text(json);
    CHECK_INT(soc_json_check(value, NULL), 0);
    bool is_right = soc_shape_fits(shape, value, NULL);
    soc_shape_report_fini(used);
    CHECK_INT(soc_shape_fits(shape, value, used), is_right);
    CHECK_INT(used->faults == 0, is_right);
    CHECK_INT(used->path.length, 0);
    soc_shape_report_fini(&own);
    return is_right;
}

static void check_report(const struct soc_shape *shape, const char *json, const char *missing,
                         const char *details)
{
    struct soc_shape_report report = {0};
    CHECK(!fits(shape, json, &report));
    CHECK_TEXT(soc_buf_text(&report.missing), missing);
    CHECK_TEXT(soc_buf_text(&report.details), details);
    soc_shape_report_fini(&report);
}

static void every_kind_accepts_exactly_its_values(void)
{
    static const char *const values[] = {"\"a\"", "1.5", "7", "true", "{}", "[]", "\"12:00\""};
    static const struct {
        const char *name;
        const char *taken; /* one letter for each of `values` */
    } cases[SOC_SHAPE_KIND_COUNT] = {
        {"string", "y-----y"},  {"number", "-yy----"}, {"integer", "--y----"},
        {"boolean", "---y---"}, {"object", "----y--"}, {"list", "-----y-"},
        {"id", "y------"},      {"time", "------y"},
    };
    for (int kind = 0; kind < SOC_SHAPE_KIND_COUNT; kind++) {
        CHECK_INT(soc_shape_kind_find(soc_slice_text(cases[kind].name)), kind);
        struct soc_shape *shape = of((enum soc_shape_kind)kind);
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            if (!CHECK_INT(fits(shape, values[i], NULL), cases[kind].taken[i] == 'y'))
                printf("# %s %s\n", cases[kind].name, values[i]);
        CHECK(!fits(shape, "null", NULL));
        soc_shape_free(shape);
    }
    CHECK_INT(soc_shape_kind_find(SOC_SLICE("table")), -1);
    struct soc_shape *any = soc_shape_new(0, &words);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        CHECK(fits(any, values[i], NULL));
    CHECK(fits(any, "null", NULL));
    soc_shape_free(any);
}

static void several_kinds_accept_the_values_of_each(void)
{
    struct soc_shape *shape =
        soc_shape_new(SOC_SHAPE_BIT(SOC_SHAPE_STRING) | SOC_SHAPE_BIT(SOC_SHAPE_OBJECT), &words);
    CHECK(fits(shape, "\"x\"", NULL) && fits(shape, "{}", NULL));
    check_report(shape, "[]", "", "\"the payload must be a string or an object\"");
    soc_shape_free(shape);
}

static void only_listed_texts_are_accepted_however_they_are_escaped(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_STRING);
    soc_shape_add_value(shape, SOC_SLICE("done"));
    soc_shape_add_value(shape, SOC_SLICE("failed"));
    CHECK(fits(shape, "\"done\"", NULL));
    CHECK(fits(shape, "\"d\\u006fne\"", NULL));
    CHECK(!fits(shape, "\"do\"", NULL));
    check_report(shape, "\"dones\"", "", "\"the payload must be one of done, failed\"");
    soc_shape_free(shape);
}

static void ids_and_times_are_unescaped(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_ID);
    CHECK(fits(shape, "\"\\u0061b\"", NULL));
    CHECK(!fits(shape, "\"a\\/b\"", NULL));
    CHECK(!fits(shape, "\"a/b\"", NULL));
    CHECK(!fits(shape, "\"\"", NULL));
    soc_shape_free(shape);
}

static void missing_members_are_reported_in_the_order_of_the_shape(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_OBJECT);
    add(shape, "query_id", true, SOC_SHAPE_BIT(SOC_SHAPE_STRING));
    add(shape, "note", false, SOC_SHAPE_BIT(SOC_SHAPE_STRING));
    add(shape, "answer", true, 0);
    CHECK(fits(shape, "{\"answer\":false,\"query_id\":\"q\",\"more\":[1]}", NULL));
    CHECK(fits(shape, " { \"answer\" : 0 , \"query_id\" : \"q\", \"note\": null } ", NULL));
    check_report(shape, "{}", "\"query_id\",\"answer\"",
                 "\"query_id is missing\",\"answer is missing\"");
    check_report(shape, "{\"answer\":null,\"query_id\":\"\"}", "\"query_id\",\"answer\"",
                 "\"query_id is missing\",\"answer is missing\"");
    check_report(shape, "{\"answer\":1,\"query_id\":2,\"note\":3}", "",
                 "\"query_id must be a string\",\"note must be a string\"");
    CHECK(soc_shape_needs(shape, SOC_SLICE("answer")));
    CHECK(!soc_shape_needs(shape, SOC_SLICE("note")));
    CHECK(!soc_shape_needs(shape, SOC_SLICE("other")));
    soc_shape_free(shape);
}

static void anything_but_an_object_lacks_all_required_members(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_OBJECT);
    add(shape, "task_id", true, SOC_SHAPE_BIT(SOC_SHAPE_ID));
    check_report(shape, "[1]", "\"task_id\"",
                 "\"the payload must be an object\",\"task_id is missing\"");
    soc_shape_free(shape);
}

static void names_are_unescaped(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_OBJECT);
    add(shape, "task_id", true, SOC_SHAPE_BIT(SOC_SHAPE_ID));
    CHECK(fits(shape, "{\"task\\u005fid\":\"T\"}", NULL));
    CHECK(!fits(shape, "{\"task\\\\u005fid\":\"T\"}", NULL));
    CHECK(!fits(shape, "{\"task_ids\":\"T\",\"task_i\":\"T\"}", NULL));
    soc_shape_free(shape);
}

static void nested_members_are_named_by_their_path(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_OBJECT);
    struct soc_shape *people = add(shape, "people", true, SOC_SHAPE_BIT(SOC_SHAPE_LIST));
    struct soc_shape *person = soc_shape_items(people);
    soc_shape_set_kinds(person, SOC_SHAPE_BIT(SOC_SHAPE_OBJECT));
    add(person, "id", true, SOC_SHAPE_BIT(SOC_SHAPE_ID));
    add(person, "age", false, SOC_SHAPE_BIT(SOC_SHAPE_INTEGER));
    CHECK(fits(shape, "{\"people\":[]}", NULL));
    CHECK(fits(shape, "{\"people\":[{\"id\":\"a\"},{\"id\":\"b\",\"age\":3}]}", NULL));
    check_report(shape, "{\"people\":[{\"id\":\"a\"},{\"age\":\"x\"},7]}",
                 "\"people[2].id\",\"people[3].id\"",
                 "\"people[2].age must be an integer\",\"people[2].id is missing\","
                 "\"people[3] must be an object\",\"people[3].id is missing\"");
    soc_shape_free(shape);
}

static void the_number_of_reported_faults_is_bounded(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_LIST);
    struct soc_buf json = {0};
    struct soc_shape_report report = {0};
    soc_shape_set_kinds(soc_shape_items(shape), SOC_SHAPE_BIT(SOC_SHAPE_STRING));
    soc_buf_put_text(&json, "[0");
    for (int i = 0; i < 100000; i++)
        soc_buf_put_text(&json, ",0");
    soc_buf_put_byte(&json, ']');
    CHECK(!fits(shape, soc_buf_text(&json), &report));
    CHECK_INT(report.faults, SOC_SHAPE_FAULTS_MAX);
    CHECK(report.details.length < 4096);
    soc_shape_report_fini(&report);
    soc_buf_fini(&json);
    soc_shape_free(shape);
}

static void a_shape_has_at_most_as_many_members_as_a_word_has_bits(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_OBJECT);
    char name[16];
    for (int i = 0; i < SOC_SHAPE_FIELDS_MAX; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        add(shape, name, i == SOC_SHAPE_FIELDS_MAX - 1, 0);
    }
    CHECK(soc_shape_add_field(shape, SOC_SLICE("one_more"), false) == NULL);
    check_report(shape, "{\"f62\":1}", "\"f63\"", "\"f63 is missing\"");
    CHECK(fits(shape, "{\"f63\":1}", NULL));
    soc_shape_free(shape);
    soc_shape_free(NULL);
}

static void a_long_text_with_escapes_is_not_an_id(void)
{
    struct soc_shape *shape = of(SOC_SHAPE_ID);
    struct soc_buf json = {0};
    soc_buf_put_byte(&json, '"');
    for (int i = 0; i < 1 << 20; i++)
        soc_buf_put_text(&json, "\\n");
    soc_buf_put_byte(&json, '"');
    CHECK(!fits(shape, soc_buf_text(&json), NULL));
    soc_buf_fini(&json);
    soc_shape_free(shape);
}

int main(void)
{
    RUN(every_kind_accepts_exactly_its_values);
    RUN(several_kinds_accept_the_values_of_each);
    RUN(only_listed_texts_are_accepted_however_they_are_escaped);
    RUN(ids_and_times_are_unescaped);
    RUN(missing_members_are_reported_in_the_order_of_the_shape);
    RUN(anything_but_an_object_lacks_all_required_members);
    RUN(names_are_unescaped);
    RUN(nested_members_are_named_by_their_path);
    RUN(the_number_of_reported_faults_is_bounded);
    RUN(a_shape_has_at_most_as_many_members_as_a_word_has_bits);
    RUN(a_long_text_with_escapes_is_not_an_id);
    return check_done();
}

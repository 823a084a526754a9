/* The text of a place in a trace, and which traces are taken. */
#include "parts/telemetry/traceparent.h"

#include <string.h>

#include "check.h"

#define GOOD "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static void a_text_is_read_and_written_as_it_was(void)
{
    struct soc_traceparent place;
    char text[SOC_TRACEPARENT_BYTES];
    CHECK(soc_traceparent_parse(SOC_SLICE(GOOD), &place));
    CHECK(place.trace_id[0] == 0x0af7651916cd43dd && place.trace_id[1] == 0x8448eb211c80319c);
    CHECK(place.span_id == 0xb7ad6b7169203331 && place.is_sampled);
    soc_traceparent_format(text, &place);
    CHECK(memcmp(text, GOOD, sizeof(text)) == 0);
    place.is_sampled = false;
    soc_traceparent_format(text, &place);
    CHECK(memcmp(text + 52, "-00", 3) == 0);
}

static void a_later_version_is_read_as_far_as_it_is_known(void)
{
    struct soc_traceparent place;
    CHECK(soc_traceparent_parse(
        SOC_SLICE("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-more"), &place));
    CHECK(place.is_sampled);
}

static void texts_that_are_not_valid_are_refused(void)
{
    static const char *const bad[] = {
        "",
        "t",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
        "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    struct soc_traceparent place;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!soc_traceparent_parse(soc_slice_text(bad[i]), &place));
    CHECK(!soc_traceparent_parse((struct soc_slice){0}, &place));
}

static bool takes(const char *name, const char *argument, uint64_t low,
                  const struct soc_traceparent *parent)
{
    struct soc_trace_sampler sampler;
    uint64_t trace_id[2] = {1, low};
    CHECK(soc_traceparent_read_sampler(soc_slice_text(name), soc_slice_text(argument), &sampler));
    return soc_traceparent_is_taken(&sampler, trace_id, parent);
}

static void samplers_decide_by_trace_and_parent(void)
{
    struct soc_traceparent yes = {.is_sampled = true};
    struct soc_traceparent no = {.is_sampled = false};
    CHECK(takes("always_on", NULL, 5, &no));
    CHECK(!takes("always_off", NULL, 5, &yes));
    CHECK(takes("parentbased_always_on", NULL, 5, NULL));
    CHECK(!takes("parentbased_always_on", NULL, 5, &no));
    CHECK(takes("parentbased_always_off", NULL, 5, &yes));
    CHECK(!takes("parentbased_always_off", NULL, 5, NULL));
    CHECK(takes("traceidratio", "0.5", UINT64_MAX / 4, NULL));
    CHECK(!takes("traceidratio", "0.5", UINT64_MAX / 4 * 3, NULL));
    CHECK(!takes("traceidratio", "0", 0, NULL));
    CHECK(takes("traceidratio", "1", UINT64_MAX, NULL));
    CHECK(takes("traceidratio", NULL, UINT64_MAX, NULL));
    CHECK(takes("parentbased_traceidratio", "0.25", UINT64_MAX, &yes));
}

static void unknown_samplers_and_shares_are_refused(void)
{
    struct soc_trace_sampler sampler;
    CHECK(!soc_traceparent_read_sampler(SOC_SLICE("jaeger_remote"), SOC_SLICE("1"), &sampler));
    CHECK(!soc_traceparent_read_sampler(SOC_SLICE("parentbased_"), SOC_SLICE("1"), &sampler));
    CHECK(!soc_traceparent_read_sampler(SOC_SLICE("traceidratio"), SOC_SLICE("1.5"), &sampler));
    CHECK(!soc_traceparent_read_sampler(SOC_SLICE("traceidratio"), SOC_SLICE("-1"), &sampler));
    CHECK(!soc_traceparent_read_sampler(SOC_SLICE("traceidratio"), SOC_SLICE("half"), &sampler));
}

int main(void)
{
    RUN(a_text_is_read_and_written_as_it_was);
    RUN(a_later_version_is_read_as_far_as_it_is_known);
    RUN(texts_that_are_not_valid_are_refused);
    RUN(samplers_decide_by_trace_and_parent);
    RUN(unknown_samplers_and_shares_are_refused);
    return check_done();
}

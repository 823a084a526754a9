/* The standard variables of OpenTelemetry. */
#include "bridge/otlp/otlp_settings.h"

#include <string.h>

#include "check.h"

/* The environment of a test: NAME, VALUE, … and a NULL. */
static const char *const *variables;

static const char *get(const char *name)
{
    for (size_t i = 0; variables[i] != NULL; i += 2)
        if (strcmp(variables[i], name) == 0)
            return variables[i + 1];
    return NULL;
}

static void read(struct soc_otlp_settings *settings, const char *const *list)
{
    variables = list;
    soc_otlp_settings_read(settings, get);
}

#define READ(settings, ...) read(settings, (const char *const[]){__VA_ARGS__, NULL})
#define ENDPOINT            "OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"

static void without_an_endpoint_telemetry_is_off(void)
{
    struct soc_otlp_settings settings;
    READ(&settings, "OTEL_SERVICE_NAME", "x", "OTEL_TRACES_SAMPLER", "nonsense");
    CHECK(settings.url == NULL && settings.faults.length == 0);
    READ(&settings, "OTEL_EXPORTER_OTLP_ENDPOINT", "");
    CHECK(settings.url == NULL && settings.faults.length == 0);
}

static void the_path_is_added_to_the_general_endpoint_only(void)
{
    struct soc_otlp_settings settings;
    READ(&settings, ENDPOINT);
    CHECK_TEXT(settings.url, "http://collector:4318/v1/traces");
    soc_otlp_settings_fini(&settings);
    READ(&settings, "OTEL_EXPORTER_OTLP_ENDPOINT", "https://c/base/");
    CHECK_TEXT(settings.url, "https://c/base/v1/traces");
    soc_otlp_settings_fini(&settings);
    READ(&settings, ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/here");
    CHECK_TEXT(settings.url, "http://t/here");
    soc_otlp_settings_fini(&settings);
}

static void it_can_be_switched_off(void)
{
    struct soc_otlp_settings settings;
    READ(&settings, ENDPOINT, "OTEL_SDK_DISABLED", "TRUE");
    CHECK(settings.url == NULL);
    READ(&settings, ENDPOINT, "OTEL_TRACES_EXPORTER", "none");
    CHECK(settings.url == NULL);
    READ(&settings, ENDPOINT, "OTEL_SDK_DISABLED", "no");
    CHECK(settings.url != NULL);
    soc_otlp_settings_fini(&settings);
}

static void headers_and_attributes_are_decoded(void)
{
    struct soc_otlp_settings settings;
    READ(&settings, ENDPOINT, "OTEL_EXPORTER_OTLP_HEADERS",
         "authorization=Bearer%20a%3Db , x-key = k,", "OTEL_RESOURCE_ATTRIBUTES",
         "service.name=old,deployment.environment=a%2Cb", "OTEL_SERVICE_NAME", "new name");
    CHECK_INT(settings.header_count, 2);
    CHECK_TEXT(settings.headers[0].name, "authorization");
    CHECK_TEXT(settings.headers[0].value, "Bearer a=b");
    CHECK_TEXT(settings.headers[1].value, "k");
    CHECK_INT(settings.attribute_count, 2);
    CHECK_TEXT(settings.attributes[0].value, "a,b");
    CHECK_TEXT(settings.attributes[1].name, "service.name");
    CHECK_TEXT(settings.attributes[1].value, "new name");
    CHECK_INT(settings.faults.length, 0);
    soc_otlp_settings_fini(&settings);
}

static void bad_values_are_reported_by_name_and_never_quoted(void)
{
    struct soc_otlp_settings settings;
    READ(&settings, ENDPOINT, "OTEL_EXPORTER_OTLP_HEADERS", "ok=1,canary-secret",
         "OTEL_RESOURCE_ATTRIBUTES", "canary-secret", "OTEL_BSP_SCHEDULE_DELAY", "canary-secret",
         "OTEL_TRACES_SAMPLER", "canary-secret", "OTEL_EXPORTER_OTLP_TIMEOUT", "0");
    CHECK(settings.url != NULL);
    CHECK_INT(settings.header_count, 0);
    CHECK_INT(settings.attribute_count, 0);
    CHECK_INT(settings.delay_ms, SOC_OTLP_DELAY_MS);
    CHECK_INT(settings.timeout_ms, SOC_OTLP_TIMEOUT_MS);
    int lines = 0;
    for (size_t at = 0; at < settings.faults.length; lines++) {
        CHECK(strstr(settings.faults.data + at, "canary") == NULL);
        CHECK(strncmp(settings.faults.data + at, "OTEL_", 5) == 0);
        at += strlen(settings.faults.data + at) + 1;
    }
    CHECK_INT(lines, 5);
    soc_otlp_settings_fini(&settings);
    READ(&settings, "OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318");
    CHECK(settings.url == NULL && settings.faults.length > 0);
    soc_otlp_settings_fini(&settings);
    READ(&settings, ENDPOINT, "OTEL_EXPORTER_OTLP_HEADERS", "x=a%0d%0ab");
    CHECK_INT(settings.header_count, 0);
    soc_otlp_settings_fini(&settings);
}

static void too_many_pairs_are_refused_as_a_whole(void)
{
    struct soc_otlp_settings settings;
    struct soc_buf list = {0};
    for (int i = 0; i <= SOC_OTLP_HEADERS_MAX; i++)
        soc_buf_printf(&list, "h%d=1,", i);
    READ(&settings, ENDPOINT, "OTEL_EXPORTER_OTLP_HEADERS", soc_buf_text(&list));
    CHECK_INT(settings.header_count, 0);
    CHECK(settings.faults.length > 0);
    soc_otlp_settings_fini(&settings);
    soc_buf_fini(&list);
}

static void sizes_and_content_are_read(void)
{
    struct soc_otlp_settings settings;
    READ(&settings, ENDPOINT, "OTEL_BSP_MAX_QUEUE_SIZE", "10", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
         "50", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true",
         "OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem");
    CHECK_INT(settings.close_ms, SOC_OTLP_CLOSE_MS);
    CHECK_INT(settings.spans_max, 10);
    CHECK_INT(settings.batch_spans, 10);
    CHECK(settings.has_content);
    CHECK_TEXT(settings.ca_file, "ca.pem");
    soc_otlp_settings_fini(&settings);
}

int main(void)
{
    RUN(without_an_endpoint_telemetry_is_off);
    RUN(the_path_is_added_to_the_general_endpoint_only);
    RUN(it_can_be_switched_off);
    RUN(headers_and_attributes_are_decoded);
    RUN(bad_values_are_reported_by_name_and_never_quoted);
    RUN(too_many_pairs_are_refused_as_a_whole);
    RUN(sizes_and_content_are_read);
    return check_done();
}

#include "bridge/otlp/otlp_settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/http.h"

static void report(struct soc_otlp_settings *settings, const char *name, const char *expected)
{
    soc_buf_printf(&settings->faults, "%s is ignored: %s", name, expected);
    soc_buf_put_byte(&settings->faults, '\0');
}

/* Lends the value; absent if it is unset or empty, which the standard treats alike. */
static struct soc_slice value_of(soc_otlp_getenv *get, const char *name)
{
    const char *text = get(name);
    return text == NULL || *text == '\0' ? (struct soc_slice){0} : soc_slice_text(text);
}

/* The variable for traces wins over the one for every signal. `*name` becomes its name. */
static struct soc_slice signal_value(soc_otlp_getenv *get, const char *own, const char *general,
                                     const char **name)
{
    struct soc_slice value = value_of(get, own);
    *name = value.data != NULL ? own : general;
    return value.data != NULL ? value : value_of(get, general);
}

static bool is_true(struct soc_slice value)
{
    return value.length == 4 && strncasecmp(value.data, "true", 4) == 0;
}

static bool is_url(struct soc_slice url)
{
    bool has_scheme = (url.length > 7 && strncasecmp(url.data, "http://", 7) == 0) ||
                      (url.length > 8 && strncasecmp(url.data, "https://", 8) == 0);
    return has_scheme && soc_http_is_line(url) && memchr(url.data, ' ', url.length) == NULL;
}

static void read_url(struct soc_otlp_settings *settings, soc_otlp_getenv *get)
{
    const char *own = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    const char *name;
    struct soc_slice value = signal_value(get, own, "OTEL_EXPORTER_OTLP_ENDPOINT", &name);
    struct soc_buf url = {0};
    if (value.data == NULL)
        return;
    if (!is_url(value)) {
        report(settings, name, "a URL that begins with http:// or https:// is expected");
        return;
    }
    soc_buf_put_slice(&url, value);
    if (strcmp(name, own) != 0)
        soc_buf_put_text(&url, value.data[value.length - 1] == '/' ? "v1/traces" : "/v1/traces");
    settings->url = soc_copy_text(url.data, url.length);
    soc_buf_fini(&url);
}

static struct soc_slice trim(struct soc_slice text)
{
    while (text.length > 0 && (*text.data == ' ' || *text.data == '\t'))
        text = soc_slice(text.data + 1, text.length - 1);
    while (text.length > 0 &&
           (text.data[text.length - 1] == ' ' || text.data[text.length - 1] == '\t'))
        text.length--;
    return text;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the text with %XX decoded; owned by the caller. */
static char *decode(struct soc_slice text)
{
    struct soc_buf out = {0};
    for (size_t i = 0; i < text.length; i++) {
        bool is_escape = text.data[i] == '%' && i + 2 < text.length &&
                         hex_digit(text.data[i + 1]) >= 0 && hex_digit(text.data[i + 2]) >= 0;
        if (!is_escape) {
            soc_buf_put_byte(&out, text.data[i]);
            continue;
        }
        soc_buf_put_byte(&out,
                         (char)(hex_digit(text.data[i + 1]) * 16 + hex_digit(text.data[i + 2])));
        i += 2;
    }
    soc_buf_text(&out);
    return out.data;
}

/* How the pairs of one list are checked. */
typedef bool is_pair_valid(const struct soc_otlp_pair *pair);

static bool is_header(const struct soc_otlp_pair *pair)
{
    return soc_http_is_token(soc_slice_text(pair->name)) &&
           soc_http_is_line(soc_slice_text(pair->value));
}

static bool is_attribute(const struct soc_otlp_pair *pair)
{
    return *pair->name != '\0' && soc_utf8_fault(soc_slice_text(pair->name)) < 0 &&
           soc_utf8_fault(soc_slice_text(pair->value)) < 0;
}

static void wipe(struct soc_otlp_pair *pair)
{
    volatile char *at = pair->value;
    while (at != NULL && *at != '\0')
        *at++ = '\0';
    free(pair->name);
    free(pair->value);
}

/* Reads NAME=VALUE,… with percent encoding. Returns how many pairs there are; -1 if the list
 * is not valid: then none. */
static int read_pairs(struct soc_slice list, struct soc_otlp_pair *pairs, int max,
                      is_pair_valid *is_valid)
{
    int count = 0;
    bool is_good = true;
    while (is_good && list.length > 0) {
        const char *comma = memchr(list.data, ',', list.length);
        size_t length = comma == NULL ? list.length : (size_t)(comma - list.data);
        struct soc_slice item = trim(soc_slice(list.data, length));
        list =
            comma == NULL ? (struct soc_slice){0} : soc_slice(comma + 1, list.length - length - 1);
        if (item.length == 0)
            continue;
        const char *equals = memchr(item.data, '=', item.length);
        is_good = equals != NULL && count < max;
        if (!is_good)
            break;
        size_t name_length = (size_t)(equals - item.data);
        pairs[count].name = decode(trim(soc_slice(item.data, name_length)));
        pairs[count].value = decode(trim(soc_slice(equals + 1, item.length - name_length - 1)));
        is_good = is_valid(&pairs[count]);
        count++;
    }
    if (is_good)
        return count;
    while (count > 0)
        wipe(&pairs[--count]);
    return -1;
}

static void read_headers(struct soc_otlp_settings *settings, soc_otlp_getenv *get)
{
    const char *name;
    struct soc_slice value =
        signal_value(get, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS", &name);
    int count = read_pairs(value, settings->headers, SOC_OTLP_HEADERS_MAX, is_header);
    settings->header_count = count < 0 ? 0 : count;
    if (count < 0)
        report(settings, name, "a list name=value,name=value of HTTP headers is expected");
}

static void read_attributes(struct soc_otlp_settings *settings, soc_otlp_getenv *get)
{
    const char *name = "OTEL_RESOURCE_ATTRIBUTES";
    /* One is left for the name of the service. */
    int count = read_pairs(value_of(get, name), settings->attributes, SOC_OTLP_ATTRIBUTES_MAX - 1,
                           is_attribute);
    settings->attribute_count = count < 0 ? 0 : count;
    if (count < 0)
        report(settings, name, "a list name=value,name=value is expected");
    struct soc_slice service = value_of(get, "OTEL_SERVICE_NAME");
    if (service.data == NULL)
        return;
    for (int i = 0; i < settings->attribute_count; i++) {
        if (strcmp(settings->attributes[i].name, "service.name") != 0)
            continue;
        wipe(&settings->attributes[i]);
        settings->attributes[i] = settings->attributes[--settings->attribute_count];
        break;
    }
    settings->attributes[settings->attribute_count++] = (struct soc_otlp_pair){
        .name = soc_copy_text("service.name", 12),
        .value = soc_copy_text(service.data, service.length),
    };
}

/* Reads an integer of ms or a count. */
static int64_t read_number(struct soc_otlp_settings *settings, const char *name,
                           struct soc_slice value, int64_t fallback)
{
    int64_t number = fallback;
    if (value.data != NULL &&
        (soc_json_check(value, NULL) < 0 || !soc_json_integer(value, &number) || number < 1 ||
         number > INT32_MAX)) {
        report(settings, name, "an integer of at least 1 is expected");
        number = fallback;
    }
    return number;
}

static void read_numbers(struct soc_otlp_settings *settings, soc_otlp_getenv *get)
{
    const char *name;
    struct soc_slice timeout =
        signal_value(get, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT", &name);
    settings->timeout_ms = read_number(settings, name, timeout, SOC_OTLP_TIMEOUT_MS);
    name = "OTEL_BSP_SCHEDULE_DELAY";
    settings->delay_ms = read_number(settings, name, value_of(get, name), SOC_OTLP_DELAY_MS);
    name = "OTEL_BSP_EXPORT_TIMEOUT";
    settings->close_ms = read_number(settings, name, value_of(get, name), SOC_OTLP_CLOSE_MS);
    name = "OTEL_BSP_MAX_QUEUE_SIZE";
    settings->spans_max = read_number(settings, name, value_of(get, name), SOC_OTLP_SPANS_MAX);
    name = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE";
    settings->batch_spans = read_number(settings, name, value_of(get, name), SOC_OTLP_BATCH_SPANS);
    if (settings->batch_spans > settings->spans_max)
        settings->batch_spans = settings->spans_max;
}

/* Tells whether the variables switch the export of traces off. */
static bool is_off(struct soc_otlp_settings *settings, soc_otlp_getenv *get)
{
    struct soc_slice exporter = value_of(get, "OTEL_TRACES_EXPORTER");
    const char *name;
    struct soc_slice protocol = signal_value(get, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
                                             "OTEL_EXPORTER_OTLP_PROTOCOL", &name);
    if (is_true(value_of(get, "OTEL_SDK_DISABLED")) || soc_slice_equal(exporter, SOC_SLICE("none")))
        return true;
    if (exporter.data != NULL && !soc_slice_equal(exporter, SOC_SLICE("otlp")))
        report(settings, "OTEL_TRACES_EXPORTER", "only otlp and none are known");
    if (soc_slice_equal(protocol, SOC_SLICE("grpc")))
        report(settings, name, "spans leave as http/json; the port of gRPC does not take them");
    return false;
}

void soc_otlp_settings_read(struct soc_otlp_settings *settings, soc_otlp_getenv *get)
{
    *settings = (struct soc_otlp_settings){0};
    if (value_of(get, "OTEL_EXPORTER_OTLP_ENDPOINT").data == NULL &&
        value_of(get, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").data == NULL)
        return;
    if (is_off(settings, get))
        return;
    read_url(settings, get);
    if (settings->url == NULL)
        return;
    read_headers(settings, get);
    read_attributes(settings, get);
    read_numbers(settings, get);
    struct soc_slice sampler = value_of(get, "OTEL_TRACES_SAMPLER");
    if (sampler.data != NULL &&
        !soc_traceparent_read_sampler(sampler, value_of(get, "OTEL_TRACES_SAMPLER_ARG"),
                                      &settings->sampler))
        report(settings, "OTEL_TRACES_SAMPLER",
               "always_on, always_off, traceidratio (OTEL_TRACES_SAMPLER_ARG from 0 to 1), or "
               "one of them after parentbased_ is expected");
    settings->has_content =
        is_true(value_of(get, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"));
    const char *name;
    struct soc_slice file = signal_value(get, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
                                         "OTEL_EXPORTER_OTLP_CERTIFICATE", &name);
    settings->ca_file = file.data == NULL ? NULL : soc_copy_text(file.data, file.length);
}

void soc_otlp_settings_fini(struct soc_otlp_settings *settings)
{
    for (int i = 0; i < settings->header_count; i++)
        wipe(&settings->headers[i]);
    for (int i = 0; i < settings->attribute_count; i++)
        wipe(&settings->attributes[i]);
    free(settings->url);
    free(settings->ca_file);
    soc_buf_fini(&settings->faults);
    *settings = (struct soc_otlp_settings){0};
}

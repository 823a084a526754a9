#include "parts/telemetry/traceparent.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* Reads `digits` lower-case hexadecimal digits; false if there are others. */
static bool read_hex(const char *text, int digits, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < digits; i++) {
        char c = text[i];
        bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && !(c >= 'a' && c <= 'f'))
            return false;
        *out = *out << 4 | (uint64_t)(is_digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

bool soc_traceparent_parse(struct soc_slice text, struct soc_traceparent *out)
{
    uint64_t version;
    uint64_t flags;
    if (text.length < SOC_TRACEPARENT_BYTES || !read_hex(text.data, 2, &version) || version == 0xff)
        return false;
    bool is_longer = text.length > SOC_TRACEPARENT_BYTES;
    if (is_longer && (version == 0 || text.data[SOC_TRACEPARENT_BYTES] != '-'))
        return false;
    if (text.data[2] != '-' || text.data[35] != '-' || text.data[52] != '-')
        return false;
    if (!read_hex(text.data + 3, 16, &out->trace_id[0]) ||
        !read_hex(text.data + 19, 16, &out->trace_id[1]) ||
        !read_hex(text.data + 36, 16, &out->span_id) || !read_hex(text.data + 53, 2, &flags))
        return false;
    out->is_sampled = (flags & 1) != 0;
    return (out->trace_id[0] | out->trace_id[1]) != 0 && out->span_id != 0;
}

void soc_traceparent_format(char out[SOC_TRACEPARENT_BYTES], const struct soc_traceparent *from)
{
    char text[SOC_TRACEPARENT_BYTES + 1];
    snprintf(text, sizeof(text), "00-%016llx%016llx-%016llx-%02x",
             (unsigned long long)from->trace_id[0], (unsigned long long)from->trace_id[1],
             (unsigned long long)from->span_id, from->is_sampled ? 1u : 0u);
    memcpy(out, text, SOC_TRACEPARENT_BYTES);
}

bool soc_traceparent_read_sampler(struct soc_slice name, struct soc_slice argument,
                                  struct soc_trace_sampler *out)
{
    const char *prefix = "parentbased_";
    size_t length = strlen(prefix);
    bool is_alone = name.length < length || memcmp(name.data, prefix, length) != 0;
    double share = 1;
    if (!is_alone)
        name = soc_slice(name.data + length, name.length - length);
    if (soc_slice_equal(name, SOC_SLICE("always_off")))
        share = 0;
    else if (soc_slice_equal(name, SOC_SLICE("traceidratio"))) {
        if (argument.data != NULL &&
            (soc_json_check(argument, NULL) < 0 || !soc_json_number(argument, &share)))
            return false;
    } else if (!soc_slice_equal(name, SOC_SLICE("always_on")))
        return false;
    if (!(share >= 0 && share <= 1))
        return false;
    *out = (struct soc_trace_sampler){.is_alone = is_alone, .left_out = 1 - share};
    return true;
}

/* The low half of a trace id decides, so that every process decides alike. */
bool soc_traceparent_is_taken(const struct soc_trace_sampler *sampler, const uint64_t trace_id[2],
                              const struct soc_traceparent *parent)
{
    if (parent != NULL && !sampler->is_alone)
        return parent->is_sampled;
    if (sampler->left_out <= 0)
        return true;
    return (double)(trace_id[1] >> 11) < (1 - sampler->left_out) * 9007199254740992.0;
}

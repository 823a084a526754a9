#include "model/message_fields.h"

#include <assert.h>

#include "base/limits.h"

static const struct soc_field_rule rules[SOC_MESSAGE_FIELD_COUNT] = {
#define F(tag, name, kind, by, shown, hashed)                                                      \
    {#name, SOC_KIND_##kind, SOC_BY_##by, SOC_SHOWN_##shown, SOC_HASHED_##hashed},
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
};

/* A name by which a field can be given. */
struct said_name {
    const char *text;
    uint8_t length;
    uint8_t field;
    uint8_t given_by;
};

/* The fields' own names in table order, then their aliases. */
static const struct said_name names[] = {
#define F(tag, name, kind, by, ...)                                                                \
    {#name, sizeof(#name) - 1, SOC_MESSAGE_FIELD_##tag, SOC_BY_##by},
#define A(name, tag, by) {#name, sizeof(#name) - 1, SOC_MESSAGE_FIELD_##tag, SOC_BY_##by},
    SOC_MESSAGE_FIELD_MAP(F) SOC_MESSAGE_ALIAS_MAP(A)
#undef F
#undef A
};

#define NAME_COUNT ((int)(sizeof(names) / sizeof(names[0])))

/* Members of payloads. */
static const struct said_name payload_members[] = {
#define P(name, tag) {#name, sizeof(#name) - 1, SOC_MESSAGE_FIELD_##tag, 0},
    SOC_MESSAGE_PAYLOAD_MAP(P)
#undef P
};

#define TEXT_OF(macro)     QUOTE_OF(macro)
#define QUOTE_OF(expanded) #expanded
#define KEY_MAX            TEXT_OF(SOC_KEY_BYTES_MAX)
#define KEY_EXPECTS        "a string of at most " KEY_MAX " bytes, UTF-8 without NUL"

static const struct {
    const char *name;
    const char *expects;
} kinds[] = {
    [SOC_KIND_ACK] = {"ack", "received or processed"},
    [SOC_KIND_ANSWERED] = {"answered", KEY_EXPECTS},
    [SOC_KIND_FLAG] = {"flag", "true or false"},
    [SOC_KIND_ID] = {"id", NULL},
    [SOC_KIND_KEY] = {"key", KEY_EXPECTS},
    [SOC_KIND_MARK] = {"mark", NULL},
    [SOC_KIND_NAME] = {"name", "a string"},
    [SOC_KIND_NUMBER] = {"number", NULL},
    [SOC_KIND_PAYLOAD] = {"payload", NULL},
    [SOC_KIND_PRIORITY] = {"priority", "urgent, high, normal, low or P0 to P3"},
    [SOC_KIND_RECEIVER] = {"receiver",
                           "an agent's id or a list of 1 to " TEXT_OF(SOC_RECEIVERS_MAX) " ids"},
    [SOC_KIND_ROW] = {"row", NULL},
    [SOC_KIND_SECONDS] = {"seconds", "a number above 0 and at most 10^11"},
    [SOC_KIND_SENDER] = {"sender", NULL},
    [SOC_KIND_SENT] = {"sent", NULL},
    [SOC_KIND_SPAN] = {"span", "a number from 0 to 10^14"},
    [SOC_KIND_TIME] = {"time", "an RFC 3339 time, or ms since 1970 from 0 to 10^14"},
    [SOC_KIND_TYPE] = {"type", "a string"},
};

const struct soc_field_rule *soc_message_fields_rule(enum soc_message_field field)
{
    assert(field < SOC_MESSAGE_FIELD_COUNT);
    return &rules[field];
}

static inline bool is_called(const struct said_name *said, struct soc_slice name, unsigned context)
{
    return said->length == name.length && said->given_by & context &&
           memcmp(said->text, name.data, name.length) == 0;
}

int soc_message_fields_find(struct soc_slice name, unsigned context)
{
    /* Every send has these two, and most have no others. */
    if (is_called(&names[SOC_MESSAGE_FIELD_TO], name, context))
        return SOC_MESSAGE_FIELD_TO;
    if (is_called(&names[SOC_MESSAGE_FIELD_PAYLOAD], name, context))
        return SOC_MESSAGE_FIELD_PAYLOAD;
    for (const struct said_name *said = names; said < names + NAME_COUNT; said++)
        if (is_called(said, name, context))
            return said->field;
    return -1;
}

const char *soc_message_fields_name(unsigned context, int index)
{
    for (int i = 0; i < NAME_COUNT; i++)
        if (names[i].given_by & context && index-- == 0)
            return names[i].text;
    return NULL;
}

int soc_message_fields_find_in_payload(struct soc_slice name)
{
    for (size_t i = 0; i < sizeof(payload_members) / sizeof(payload_members[0]); i++)
        if (payload_members[i].length == name.length &&
            memcmp(payload_members[i].text, name.data, name.length) == 0)
            return payload_members[i].field;
    return -1;
}

const char *const *soc_message_fields_payload_names(void)
{
    static const char *const list[] = {
#define P(name, tag) #name,
        SOC_MESSAGE_PAYLOAD_MAP(P)
#undef P
            NULL,
    };
    return list;
}

const char *soc_field_kind_expects(enum soc_field_kind kind)
{
    assert(kind < sizeof(kinds) / sizeof(kinds[0]));
    return kinds[kind].expects;
}

const char *soc_field_kind_name(enum soc_field_kind kind)
{
    assert(kind < sizeof(kinds) / sizeof(kinds[0]));
    return kinds[kind].name;
}

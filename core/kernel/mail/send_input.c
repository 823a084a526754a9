#include "kernel/mail/send_input.h"

#include <assert.h>
#include <math.h>

#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"

#define MS_MAX             1e14 /* in the year 5138 */
#define RECEIVER_BYTES_MAX SOC_ADDRESS_BYTES_MAX

static int refuse(enum soc_message_field field, struct soc_send_input_fault *fault)
{
    const struct soc_field_rule *rule = soc_message_fields_rule(field);
    fault->field = rule->name;
    return soc_fail(&fault->detail, SOC_EINVAL, "'%s' must be %s", rule->name,
                    soc_field_kind_expects(rule->kind));
}

static bool read_ms(const struct soc_value *value, int64_t *out)
{
    if (value->kind != SOC_VALUE_NUMBER || !(value->number >= 0 && value->number <= MS_MAX))
        return false;
    *out = llround(value->number);
    return true;
}

/* Rounds a span below a millisecond up to one. */
static bool read_seconds(const struct soc_value *value, int64_t *out)
{
    if (value->kind != SOC_VALUE_NUMBER || !(value->number > 0 && value->number * 1000 <= MS_MAX))
        return false;
    *out = llround(value->number * 1000);
    *out += *out == 0;
    return true;
}

static bool read_time(const struct soc_value *value, int64_t *out)
{
    if (value->kind != SOC_VALUE_TEXT)
        return read_ms(value, out);
    return value->text.length <= SOC_KEY_BYTES_MAX && soc_time_parse(value->text, out);
}

/* Keys appear in JSON and in C strings: valid UTF-8 without zero bytes. */
static bool read_key(const struct soc_value *value, struct soc_slice *out)
{
    struct soc_slice text = value->text;
    if (value->kind != SOC_VALUE_TEXT || text.length > SOC_KEY_BYTES_MAX ||
        soc_utf8_fault(text) >= 0 || memchr(text.data, '\0', text.length) != NULL)
        return false;
    *out = text;
    return true;
}

/* Any text: the router checks it later. */
static bool read_text(const struct soc_value *value, struct soc_slice *out)
{
    if (value->kind != SOC_VALUE_TEXT)
        return false;
    *out = value->text;
    return true;
}

static bool read_receiver(const struct soc_value *value, struct soc_slice *out)
{
    return value->text.length <= RECEIVER_BYTES_MAX && read_text(value, out);
}

static bool read_priority(const struct soc_value *value, struct soc_send *send)
{
    send->has_priority =
        value->kind == SOC_VALUE_TEXT && soc_priority_parse(value->text, &send->priority);
    return send->has_priority;
}

static bool read_flag(const struct soc_value *value, bool *out, bool *has)
{
    *has = value->kind == SOC_VALUE_FLAG;
    *out = *has && value->flag;
    return *has;
}

static bool read_ack(const struct soc_value *value, enum soc_ack *out)
{
    *out = value->kind == SOC_VALUE_TEXT ? soc_ack_parse(value->text) : SOC_ACK_NONE;
    return *out != SOC_ACK_NONE;
}

/* How each kind of field is read. */
#define TAKE_ACK(tag, name)      read_ack(value, &input->name)
#define TAKE_ANSWERED(tag, name) read_key(value, &input->name)
#define TAKE_FLAG(tag, name)     read_flag(value, &send->name, &send->has_##name)
#define TAKE_ID(tag, name)       refuse_kind()
#define TAKE_KEY(tag, name)      read_key(value, &send->texts[SOC_TEXT_##tag])
#define TAKE_MARK(tag, name)     refuse_kind()
#define TAKE_NAME(tag, name)     read_text(value, &send->texts[SOC_TEXT_##tag])
#define TAKE_NUMBER(tag, name)   refuse_kind()
#define TAKE_PAYLOAD(tag, name)  refuse_kind() /* the readers handle it */
#define TAKE_PRIORITY(tag, name) read_priority(value, send)
#define TAKE_RECEIVER(tag, name) read_receiver(value, &send->name)
#define TAKE_ROW(tag, name)      refuse_kind()
#define TAKE_SECONDS(tag, name)  read_seconds(value, &send->ttl_ms)
#define TAKE_SENDER(tag, name)   true /* ignored: the host knows who sends */
#define TAKE_SENT(tag, name)     refuse_kind()
#define TAKE_SPAN(tag, name)     read_ms(value, &input->name)
#define TAKE_TIME(tag, name)     read_time(value, &send->name##_ms)
#define TAKE_TYPE(tag, name)     read_text(value, &send->name)

/* For kinds that no sender may give: readers never find such a field. */
static bool refuse_kind(void)
{
    assert(false && "a field that no sender may give");
    return false;
}

static bool take(struct soc_send_input *input, enum soc_message_field field,
                 const struct soc_value *value)
{
    struct soc_send *send = &input->send;
    switch (field) {
#define F(tag, name, kind, ...)                                                                    \
    case SOC_MESSAGE_FIELD_##tag:                                                                  \
        return TAKE_##kind(tag, name);
        SOC_MESSAGE_FIELD_MAP(F)
#undef F
    default:
        return refuse_kind();
    }
}

int soc_send_input_set(struct soc_send_input *input, enum soc_message_field field,
                       const struct soc_value *value, struct soc_send_input_fault *fault)
{
    if (value->kind == SOC_VALUE_NULL)
        return SOC_OK;
    if (!take(input, field, value))
        return refuse(field, fault);
    input->fields |= 1u << field;
    return SOC_OK;
}

int soc_send_input_check_list(unsigned context, size_t count, struct soc_send_input_fault *fault)
{
    if (context & SOC_SEND_FROM_WAIT) {
        fault->field = "to";
        return soc_fail(&fault->detail, SOC_EINVAL,
                        "'to' must be one agent's id: a request has one receiver");
    }
    if (count == 0 || count > SOC_RECEIVERS_MAX)
        return refuse(SOC_MESSAGE_FIELD_TO, fault);
    return SOC_OK;
}

int soc_send_input_set_receiver(struct soc_slice *receiver, const struct soc_value *value,
                                struct soc_send_input_fault *fault)
{
    return read_receiver(value, receiver) ? SOC_OK : refuse(SOC_MESSAGE_FIELD_TO, fault);
}

int soc_send_input_refuse_twice(enum soc_message_field field, unsigned context,
                                struct soc_send_input_fault *fault)
{
    const char *name;
    int i = 0;
    fault->field = soc_message_fields_rule(field)->name;
    while ((name = soc_message_fields_name(context, i++)) != NULL)
        if (soc_message_fields_find(soc_slice_text(name), context) == (int)field &&
            strcmp(name, fault->field) != 0)
            break;
    assert(name != NULL);
    return soc_fail(&fault->detail, SOC_EINVAL, "give %s or %s, not both", fault->field, name);
}

/* An ack comes from one receiver. */
static int check_ack(const struct soc_send_input *input, struct soc_send_input_fault *fault)
{
    fault->field = "wait_ack";
    if (input->receivers != NULL || soc_slice_equal(input->send.to, SOC_SLICE("All")))
        return soc_fail(&fault->detail, SOC_EINVAL,
                        "'wait_ack' needs one receiver: send to one after another, or wait for "
                        "several with a checkpoint");
    if (input->send.has_requires_ack && !input->send.requires_ack)
        return soc_fail(&fault->detail, SOC_EINVAL,
                        "'wait_ack' asks for an ack; leave out requires_ack = false");
    return SOC_OK;
}

int soc_send_input_check(const struct soc_send_input *input, unsigned context,
                         struct soc_send_input_fault *fault)
{
    bool waits = soc_send_input_has(input, SOC_MESSAGE_FIELD_WAIT_ACK);
    if (waits && check_ack(input, fault) < 0)
        return SOC_EINVAL;
    if (!waits && context & SOC_SEND_FROM_ACKED &&
        soc_send_input_has(input, SOC_MESSAGE_FIELD_TIMEOUT_MS)) {
        fault->field = "timeout_ms";
        return soc_fail(&fault->detail, SOC_EINVAL,
                        "'timeout_ms' needs 'wait_ack'; to wait for a reply, use request");
    }
    if (!soc_send_input_has(input, SOC_MESSAGE_FIELD_DELAY_MS) ||
        !soc_send_input_has(input, SOC_MESSAGE_FIELD_DELIVER_AT))
        return SOC_OK;
    fault->field = "deliver_at";
    return soc_fail(&fault->detail, SOC_EINVAL, "give delay_ms or deliver_at, not both");
}

void soc_send_input_settle(struct soc_send_input *input, struct soc_clock *clock)
{
    struct soc_send *send = &input->send;
    send->is_dated = input->delay_ms == 0 && send->deliver_at_ms > 0;
    send->deliver_at_ms = send->is_dated        ? soc_clock_time_of(clock, send->deliver_at_ms)
                          : input->delay_ms > 0 ? soc_clock_now(clock) + input->delay_ms
                                                : 0;
}

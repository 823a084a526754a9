#include "kernel/mail/message_view.h"

#include <assert.h>

#include "env/clock.h"
#include "env/ids.h"
#include "store/values.h"

_Static_assert(SOC_MESSAGE_ID_BYTES >= SOC_TIME_BYTES, "`room` must hold a time");

static void show_text(struct soc_viewed *value, struct soc_slice text)
{
    value->kind = text.data == NULL ? SOC_VIEWED_NOTHING : SOC_VIEWED_TEXT;
    value->text = text;
}

static void show_own_text(struct soc_viewed *value, const struct soc_message_view *view,
                          enum soc_message_text which)
{
    show_text(value, soc_message_text_at(view->message, view->texts, which));
}

static void show_json(struct soc_viewed *value, struct soc_slice json)
{
    value->kind = SOC_VIEWED_JSON;
    value->text = json;
}

static void show_integer(struct soc_viewed *value, int64_t integer)
{
    value->kind = SOC_VIEWED_INTEGER;
    value->integer = integer;
}

static void show_flag(struct soc_viewed *value, bool flag)
{
    value->kind = SOC_VIEWED_FLAG;
    value->flag = flag;
}

static void show_mark(struct soc_viewed *value, bool flag)
{
    if (flag)
        show_flag(value, true);
}

static void show_date(struct soc_viewed *value, int64_t date_ms)
{
    if (date_ms == 0)
        return;
    soc_time_format(value->room, date_ms);
    show_text(value, soc_slice(value->room, SOC_TIME_BYTES));
}

static void show_id(struct soc_viewed *value, int64_t time_ms, uint64_t key)
{
    if (key == 0)
        return;
    soc_message_id_format(value->room, time_ms, key);
    show_text(value, soc_slice(value->room, SOC_MESSAGE_ID_BYTES));
}

/* An id that came from another host, or one of this host. */
static void show_id_of(struct soc_viewed *value, const struct soc_message_view *view,
                       enum soc_message_text foreign, int64_t time_ms, uint64_t key)
{
    struct soc_slice text = soc_message_text_at(view->message, view->texts, foreign);
    if (text.data != NULL)
        show_text(value, text);
    else
        show_id(value, time_ms, key);
}

/* Whole seconds are shown as an integer. */
static void show_ttl(struct soc_viewed *value, const struct soc_message *message)
{
    int64_t ms = message->expires_ms - message->time_ms;
    if (message->expires_ms == 0)
        return;
    if (ms % 1000 == 0) {
        show_integer(value, ms / 1000);
        return;
    }
    value->kind = SOC_VIEWED_NUMBER;
    value->number = (double)ms / 1000;
}

#define DATE_OF_DEADLINE   deadline_ms
#define DATE_OF_DELIVER_AT deliver_date_ms

/* How each kind of field is shown. */
#define SHOW_ACK(tag, name) (void)m
#define SHOW_ANSWERED(tag, name)                                                                   \
    show_id_of(value, view, SOC_TEXT_FOREIGN_REPLY, m->reply_to_ms, m->reply_to)
#define SHOW_FLAG(tag, name)     show_flag(value, m->flags &SOC_MESSAGE_##tag)
#define SHOW_ID(tag, name)       show_id_of(value, view, SOC_TEXT_FOREIGN_ID, m->time_ms, m->key)
#define SHOW_KEY(tag, name)      show_own_text(value, view, SOC_TEXT_##tag)
#define SHOW_MARK(tag, name)     show_mark(value, m->flags &SOC_MESSAGE_##tag)
#define SHOW_NAME(tag, name)     SHOW_KEY(tag, name)
#define SHOW_NUMBER(tag, name)   show_integer(value, m->name)
#define SHOW_PAYLOAD(tag, name)  show_json(value, view->payload)
#define SHOW_PRIORITY(tag, name) show_text(value, soc_slice_text(soc_priority_name(m->priority)))
#define SHOW_RECEIVER(tag, name) show_text(value, view->to)
#define SHOW_ROW(tag, name)      (void)m
#define SHOW_SECONDS(tag, name)  show_ttl(value, m)
#define SHOW_SENDER(tag, name)   show_text(value, view->from)
#define SHOW_SENT(tag, name)     show_date(value, m->sent_date_ms)
#define SHOW_SPAN(tag, name)     (void)m
#define SHOW_TIME(tag, name)     show_date(value, m->DATE_OF_##tag)
#define SHOW_TYPE(tag, name)     show_text(value, view->type)

void soc_message_view_get(const struct soc_message_view *view, enum soc_message_field field,
                          struct soc_viewed *value)
{
    const struct soc_message *m = view->message;
    value->kind = SOC_VIEWED_NOTHING;
    switch (field) {
#define F(tag, name, kind, ...)                                                                    \
    case SOC_MESSAGE_FIELD_##tag:                                                                  \
        SHOW_##kind(tag, name);                                                                    \
        break;
        SOC_MESSAGE_FIELD_MAP(F)
#undef F
    default:
        assert(false && "no such field");
    }
}

#include "env/ids.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "env/clock.h"

#define PREFIX     "msg_"
#define KEY_DIGITS 10 /* hex digits of the counter */
#define KEY_BITS   (4 * KEY_DIGITS)
#define KEY_OFFSET (SOC_MESSAGE_ID_BYTES - KEY_DIGITS)

/* In pairs, for the reason that soc_time_format gives. */
static void copy_pairs(char *out, const char *digits, int count)
{
    for (int i = 0; i < count; i += 2)
        memcpy(out + i, digits + i, 2);
}

void soc_message_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t key)
{
    static const char hex[] = "0123456789abcdef";
    char digits[SOC_TIME_DIGITS];
    unsigned number = (unsigned)(key >> KEY_BITS);
    assert(number < SOC_HOSTS_MAX);
    soc_time_digits(digits, time_ms);
    memcpy(out, PREFIX, 4);
    copy_pairs(out + 4, digits, 8);
    out[12] = '_';
    copy_pairs(out + 13, digits + 8, 6);
    out[19] = '_';
    out[20] = digits[14];
    copy_pairs(out + 21, digits + 15, 2);
    out[23] = (char)('0' + number / 10);
    out[24] = (char)('0' + number % 10);
    for (int i = 0; i < KEY_DIGITS; i++)
        out[KEY_OFFSET + i] = hex[key >> (4 * (KEY_DIGITS - 1 - i)) & 15];
}

static bool are_digits(const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

bool soc_message_id_parse(struct soc_slice text, uint64_t *key)
{
    if (text.length != SOC_MESSAGE_ID_BYTES || memcmp(text.data, PREFIX, 4) != 0)
        return false;
    if (!are_digits(text.data + 4, 8) || text.data[12] != '_')
        return false;
    if (!are_digits(text.data + 13, 6) || text.data[19] != '_')
        return false;
    if (!are_digits(text.data + 20, 5))
        return false;
    uint64_t number = 0;
    for (size_t i = KEY_OFFSET; i < SOC_MESSAGE_ID_BYTES; i++) {
        char c = text.data[i];
        if (c >= '0' && c <= '9')
            number = number * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number * 16 + (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    uint64_t host = (uint64_t)(text.data[23] - '0') * 10 + (uint64_t)(text.data[24] - '0');
    *key = host << KEY_BITS | number;
    return true;
}

int64_t soc_message_id_time(struct soc_slice text)
{
    uint64_t key;
    int64_t date_ms;
    char date[SOC_TIME_BYTES];
    if (!soc_message_id_parse(text, &key))
        return 0;
    const char *id = text.data;
    snprintf(date, sizeof(date), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s.%.3s", id + 4, id + 8, id + 10,
             id + 13, id + 15, id + 17, id + 20);
    date[SOC_TIME_BYTES - 1] = 'Z';
    return soc_time_parse(soc_slice(date, SOC_TIME_BYTES), &date_ms) ? date_ms : 0;
}

uint64_t soc_message_id_key_of(uint64_t key, int number)
{
    assert(number >= 0 && number < SOC_HOSTS_MAX);
    uint64_t counter = key & (((uint64_t)1 << KEY_BITS) - 1);
    return (uint64_t)number << KEY_BITS | counter;
}

int soc_message_id_host(uint64_t key)
{
    return (int)(key >> KEY_BITS);
}

bool soc_message_id_is(struct soc_slice text, int64_t time_ms, uint64_t key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(id, time_ms, key);
    return soc_slice_equal(text, soc_slice(id, sizeof(id)));
}

/* The id of an item is a message id with another prefix. */
#define ITEM_PREFIX "item_"

void soc_item_id_format(char out[SOC_ITEM_ID_BYTES], int64_t time_ms, uint64_t key)
{
    soc_message_id_format(out + 1, time_ms, key);
    memcpy(out, ITEM_PREFIX, 5);
}

bool soc_item_id_parse(struct soc_slice text, uint64_t *key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    if (text.length != SOC_ITEM_ID_BYTES || memcmp(text.data, ITEM_PREFIX, 5) != 0)
        return false;
    memcpy(id, PREFIX, 4);
    memcpy(id + 4, text.data + 5, SOC_MESSAGE_ID_BYTES - 4);
    return soc_message_id_parse(soc_slice(id, sizeof(id)), key);
}

bool soc_item_id_is(struct soc_slice text, int64_t time_ms, uint64_t key)
{
    char id[SOC_ITEM_ID_BYTES];
    soc_item_id_format(id, time_ms, key);
    return soc_slice_equal(text, soc_slice(id, sizeof(id)));
}

void soc_ack_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t number)
{
    soc_message_id_format(out, time_ms, number);
    memcpy(out, "ack_", 4);
}

#define CHECKPOINT_PREFIX "chk_"

void soc_checkpoint_id_format(char out[SOC_MESSAGE_ID_BYTES], int64_t time_ms, uint64_t key)
{
    soc_message_id_format(out, time_ms, key);
    memcpy(out, CHECKPOINT_PREFIX, 4);
}

bool soc_checkpoint_id_parse(struct soc_slice text, uint64_t *key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    if (text.length != sizeof(id) || memcmp(text.data, CHECKPOINT_PREFIX, 4) != 0)
        return false;
    memcpy(id, text.data, sizeof(id));
    memcpy(id, PREFIX, 4);
    return soc_message_id_parse(soc_slice(id, sizeof(id)), key);
}

bool soc_checkpoint_id_is(struct soc_slice text, int64_t time_ms, uint64_t key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_checkpoint_id_format(id, time_ms, key);
    return soc_slice_equal(text, soc_slice(id, sizeof(id)));
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool soc_id_is_valid(struct soc_slice text)
{
    if (text.length == 0 || text.length > SOC_ID_BYTES_MAX || !is_letter_or_digit(text.data[0]))
        return false;
    for (size_t i = 1; i < text.length; i++) {
        char c = text.data[i];
        if (!is_letter_or_digit(c) && c != '_' && c != '.' && c != '-')
            return false;
    }
    return true;
}

bool soc_id_is_host(struct soc_slice text)
{
    return text.length <= SOC_HOST_NAME_BYTES_MAX && soc_id_is_valid(text);
}

bool soc_id_divide(struct soc_slice text, struct soc_slice *agent, struct soc_slice *host)
{
    const char *at = text.length == 0 ? NULL : memchr(text.data, '@', text.length);
    if (at == NULL)
        return false;
    size_t length = (size_t)(at - text.data);
    *agent = soc_slice(text.data, length);
    *host = soc_slice(at + 1, text.length - length - 1);
    return soc_id_is_valid(*agent) && soc_id_is_host(*host);
}

bool soc_id_is_for_outside(struct soc_slice text)
{
    static const char odd[] = ".out";
    size_t length = sizeof(odd) - 1;
    return soc_id_is_valid(text) &&
           (text.length < length || memcmp(text.data + text.length - length, odd, length) != 0);
}

#include "env/clock.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define MS_PER_DAY  86400000
#define TIME_MS_MAX 253402300799999 /* 9999-12-31T23:59:59.999Z */
#define STEP_MS_MIN 1001            /* less is corrected by any time server and is no step */

static int64_t read_clock_us(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);
    assert(rc == 0);
    (void)rc;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t read_wall_ms(const struct soc_clock *clock)
{
    return clock->is_virtual ? clock->wall_now_ms : read_clock_us(CLOCK_REALTIME) / 1000;
}

static int64_t read_monotonic_ms(const struct soc_clock *clock)
{
    return clock->is_virtual ? clock->monotonic_now_ms : read_clock_us(CLOCK_MONOTONIC) / 1000;
}

void soc_clock_init(struct soc_clock *clock, bool is_virtual)
{
    *clock = (struct soc_clock){
        .is_virtual = is_virtual, .is_set = !is_virtual, .wall_now_ms = SOC_CLOCK_VIRTUAL_START_MS};
    clock->base_ms = read_wall_ms(clock);
    clock->monotonic_ms = read_monotonic_ms(clock);
}

int64_t soc_clock_now(struct soc_clock *clock)
{
    int64_t now_ms = clock->base_ms + read_monotonic_ms(clock) - clock->monotonic_ms;
    if (now_ms < clock->floor_ms)
        now_ms = clock->floor_ms;
    clock->floor_ms = now_ms;
    return now_ms;
}

int64_t soc_clock_date(struct soc_clock *clock)
{
    return soc_clock_now(clock) - soc_calendar_behind(&clock->calendar);
}

int64_t soc_clock_date_of(const struct soc_clock *clock, int64_t time_ms)
{
    return soc_calendar_date(&clock->calendar, time_ms);
}

int64_t soc_clock_time_of(const struct soc_clock *clock, int64_t date_ms)
{
    return date_ms == 0 ? 0 : date_ms + soc_calendar_behind(&clock->calendar);
}

/* The base moves as well, so that time continues from there at once; the alternative is a
 * clock that stands still for that long. A step begins one ms after what was reached, so
 * that every time has one date. */
bool soc_clock_resume(struct soc_clock *clock, int64_t reached_ms)
{
    const struct soc_calendar *calendar = &clock->calendar;
    int64_t behind_ms = soc_calendar_behind(calendar);
    int64_t wall_ms = soc_clock_now(clock);
    if (calendar->count > 0 && reached_ms < calendar->steps[calendar->count - 1].from_ms)
        reached_ms = calendar->steps[calendar->count - 1].from_ms;
    int64_t now_ms = wall_ms + behind_ms;
    bool is_over = behind_ms > 0 && wall_ms > reached_ms;
    bool is_back = clock->is_set && reached_ms - now_ms >= STEP_MS_MIN;
    if (is_over || !clock->is_set)
        now_ms = wall_ms;
    if (now_ms < reached_ms)
        now_ms = reached_ms + is_back;
    clock->base_ms += now_ms - wall_ms;
    clock->floor_ms = now_ms;
    if (!clock->is_set || !(is_over || is_back))
        return false;
    soc_calendar_add(&clock->calendar, now_ms, now_ms - wall_ms);
    return true;
}

void soc_clock_set(struct soc_clock *clock, int64_t wall_ms)
{
    assert(clock->is_virtual);
    clock->is_set = true;
    clock->wall_now_ms = clock->base_ms = clock->floor_ms = wall_ms;
}

void soc_clock_move(struct soc_clock *clock, int64_t now_ms)
{
    assert(clock->is_virtual);
    int64_t passed_ms = now_ms - soc_clock_now(clock);
    if (passed_ms <= 0)
        return;
    clock->monotonic_now_ms += passed_ms;
    clock->wall_now_ms += passed_ms;
}

void soc_clock_step(struct soc_clock *clock, int64_t step_ms)
{
    assert(clock->is_virtual);
    clock->wall_now_ms += step_ms;
}

int64_t soc_clock_monotonic_us(void)
{
    return read_clock_us(CLOCK_MONOTONIC);
}

int64_t soc_clock_thread_us(void)
{
    return read_clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static void put_two_digits(char *out, unsigned number)
{
    static const char digits[] = "00010203040506070809"
                                 "10111213141516171819"
                                 "20212223242526272829"
                                 "30313233343536373839"
                                 "40414243444546474849"
                                 "50515253545556575859"
                                 "60616263646566676869"
                                 "70717273747576777879"
                                 "80818283848586878889"
                                 "90919293949596979899";
    memcpy(out, digits + number * 2, 2);
}

void soc_time_digits(char out[SOC_TIME_DIGITS], int64_t time_ms)
{
    if (time_ms < 0)
        time_ms = 0;
    if (time_ms > TIME_MS_MAX)
        time_ms = TIME_MS_MAX;
    /* Years start in March, so that the leap day is the last of its year, and are counted
     * in cycles of 400: Howard Hinnant's civil_from_days. */
    unsigned days = (unsigned)(time_ms / MS_PER_DAY) + 719468;
    unsigned cycle = days / 146097;
    unsigned day_of_cycle = days % 146097;
    unsigned year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 - day_of_cycle / 146096) / 365;
    unsigned day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    unsigned month_from_march = (5 * day_of_year + 2) / 153;
    unsigned month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    unsigned year = cycle * 400 + year_of_cycle + (month <= 2);

    unsigned ms = (unsigned)(time_ms % MS_PER_DAY);
    unsigned seconds = ms / 1000;
    unsigned thousandths = ms % 1000;
    put_two_digits(out, year / 100);
    put_two_digits(out + 2, year % 100);
    put_two_digits(out + 4, month);
    put_two_digits(out + 6, day_of_year - (153 * month_from_march + 2) / 5 + 1);
    put_two_digits(out + 8, seconds / 3600);
    put_two_digits(out + 10, seconds / 60 % 60);
    put_two_digits(out + 12, seconds % 60);
    out[14] = (char)('0' + thousandths / 100);
    put_two_digits(out + 15, thousandths % 100);
}

/* Digits are copied in the pairs they were written in: a wider read would have to wait
 * for the narrow writes to reach the cache, which costs a third. */
void soc_time_format(char out[SOC_TIME_BYTES], int64_t time_ms)
{
    char digits[SOC_TIME_DIGITS];
    soc_time_digits(digits, time_ms);
    memcpy(out, digits, 2);
    memcpy(out + 2, digits + 2, 2);
    out[4] = '-';
    memcpy(out + 5, digits + 4, 2);
    out[7] = '-';
    memcpy(out + 8, digits + 6, 2);
    out[10] = 'T';
    memcpy(out + 11, digits + 8, 2);
    out[13] = ':';
    memcpy(out + 14, digits + 10, 2);
    out[16] = ':';
    memcpy(out + 17, digits + 12, 2);
    out[19] = '.';
    out[20] = digits[14];
    memcpy(out + 21, digits + 15, 2);
    out[23] = 'Z';
}

/* Consumes `count` digits from the front of `*rest`; -1 if they are not there. */
static int take_digits(struct soc_slice *rest, size_t count)
{
    if (rest->length < count)
        return -1;
    int number = 0;
    for (size_t i = 0; i < count; i++) {
        char c = rest->data[i];
        if (c < '0' || c > '9')
            return -1;
        number = number * 10 + (c - '0');
    }
    rest->data += count;
    rest->length -= count;
    return number;
}

/* Consumes the first byte if it is one of `any`. Returns it, or 0. */
static char take_byte(struct soc_slice *rest, const char *any)
{
    if (rest->length == 0 || rest->data[0] == '\0' || strchr(any, rest->data[0]) == NULL)
        return 0;
    rest->length--;
    return *rest->data++;
}

/* Days since 1970-01-01; Howard Hinnant's days_from_civil for years from 0 on. */
static int64_t count_days(int year, int month, int day)
{
    int from_march = month > 2 ? year : year - 1;
    int cycle = (from_march >= 0 ? from_march : from_march - 399) / 400;
    int year_of_cycle = from_march - cycle * 400;
    int day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    return (int64_t)cycle * 146097 + day_of_cycle - 719468;
}

static bool take_date(struct soc_slice *rest, int64_t *days)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = take_digits(rest, 4);
    if (year < 0 || take_byte(rest, "-") == 0)
        return false;
    int month = take_digits(rest, 2);
    if (month < 1 || month > 12 || take_byte(rest, "-") == 0)
        return false;
    int day = take_digits(rest, 2);
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day < 1 || day > month_days[month - 1] + (month == 2 && is_leap))
        return false;
    *days = count_days(year, month, day);
    return true;
}

/* Reads "HH:MM" as minutes; -1 if it is something else. */
static int take_minutes(struct soc_slice *rest)
{
    int hours = take_digits(rest, 2);
    if (hours < 0 || hours > 23 || take_byte(rest, ":") == 0)
        return -1;
    int minutes = take_digits(rest, 2);
    return minutes < 0 || minutes > 59 ? -1 : hours * 60 + minutes;
}

/* Reads an optional ".digits" as ms; -1 if a digit is missing. */
static int take_fraction(struct soc_slice *rest)
{
    if (take_byte(rest, ".") == 0)
        return 0;
    int ms = 0;
    int count = 0;
    for (int digit; (digit = take_digits(rest, 1)) >= 0; count++)
        if (count < 3)
            ms = ms * 10 + digit;
    for (int i = count; i < 3; i++)
        ms *= 10;
    return count == 0 ? -1 : ms;
}

bool soc_time_parse(struct soc_slice text, int64_t *time_ms)
{
    int64_t days;
    if (!take_date(&text, &days) || take_byte(&text, "Tt ") == 0)
        return false;
    int minutes = take_minutes(&text);
    if (minutes < 0 || take_byte(&text, ":") == 0)
        return false;
    int seconds = take_digits(&text, 2);
    int ms = take_fraction(&text);
    if (seconds < 0 || seconds > 60 || ms < 0)
        return false;
    char zone = take_byte(&text, "Zz+-");
    int offset = zone == '+' || zone == '-' ? take_minutes(&text) : 0;
    if (zone == 0 || offset < 0 || text.length > 0)
        return false;
    int64_t total = days * 1440 + minutes + (zone == '-' ? offset : -offset);
    /* A leap second can only end a day in UTC; it counts as the next second. */
    if (seconds == 60 && (total + 1) % 1440 != 0)
        return false;
    *time_ms = total * 60000 + seconds * 1000 + ms;
    return true;
}

void soc_time_put_json(struct soc_buf *out, int64_t time_ms)
{
    char *at = soc_buf_reserve(out, SOC_TIME_BYTES + 2);
    at[0] = '"';
    soc_time_format(at + 1, time_ms);
    at[SOC_TIME_BYTES + 1] = '"';
    out->length += SOC_TIME_BYTES + 2;
}

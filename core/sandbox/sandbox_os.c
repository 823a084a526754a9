/* Sandbox os: time as numbers and text, always in UTC.
 *
 * The current time comes from the gate. The rest is arithmetic on the proleptic
 * Gregorian calendar, with English names, without time zones and locales.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#define DAY_SECONDS 86400
/* Conversions between two reports to the budget, and the bytes that each makes at most. */
#define CONVERSIONS_PER_LOOK 64
#define BYTES_PER_CONVERSION 32
/* Beyond this a year does not fit an int. */
#define TIME_MAX (INT64_C(67000000000000000))

struct date {
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
    int hour;
    int minute;
    int second;
    int week_day; /* 0 to 6 from Sunday */
    int year_day; /* 0 to 365 */
};

static const char *const day_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};

static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient * b > a ? quotient - 1 : quotient;
}

/* Days from 1970-01-01 to the first of a month. Years begin in March, so that the leap
 * day comes last, in eras of 400 years. */
static int64_t days_to_month(int64_t year, int month)
{
    assert(month >= 1 && month <= 12);
    if (month <= 2)
        year--;
    int64_t era = floor_divide(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static struct date date_of_time(int64_t time)
{
    struct date date;
    int64_t days = floor_divide(time, DAY_SECONDS);
    int second_of_day = (int)(time - days * DAY_SECONDS);
    date.hour = second_of_day / 3600;
    date.minute = second_of_day / 60 % 60;
    date.second = second_of_day % 60;
    date.week_day = (int)(days + 4 - floor_divide(days + 4, 7) * 7);

    int64_t shifted = days + 719468;
    int64_t era = floor_divide(shifted, 146097);
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    date.day = (int)(day_of_year - (153 * month_from_march + 2) / 5) + 1;
    date.month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    date.year = year_of_era + era * 400 + (date.month <= 2);
    date.year_day = (int)(days - days_to_month(date.year, 1));
    return date;
}

/* Sets the fields of the table on top of the stack. */
static void set_date_fields(lua_State *L, const struct date *date)
{
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {
        {"year", date->year},         {"month", date->month},       {"day", date->day},
        {"hour", date->hour},         {"min", date->minute},        {"sec", date->second},
        {"yday", date->year_day + 1}, {"wday", date->week_day + 1},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        lua_pushinteger(L, fields[i].value);
        lua_setfield(L, -2, fields[i].name);
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "isdst");
}

/* Reads a field of the table at 1; one without a default (-1) is required. */
static int64_t read_date_field(lua_State *L, const char *name, int64_t otherwise)
{
    int type = lua_getfield(L, 1, name);
    int is_integer;
    int64_t value = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer) {
        if (type != LUA_TNIL)
            luaL_error(L, "field '%s' is not an integer", name);
        if (otherwise < 0)
            luaL_error(L, "field '%s' missing in date table", name);
        value = otherwise;
    }
    if (value < INT_MIN || value > INT_MAX)
        luaL_error(L, "field '%s' is out-of-bound", name);
    lua_pop(L, 1);
    return value;
}

/* os.time([table]) -> seconds. Upvalue 1 is the gate's, upvalue 2 its time. */
static int sandbox_time(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        return lua_tocfunction(L, lua_upvalueindex(2))(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    soc_sandbox_charge(
        L, CONVERSIONS_PER_LOOK); /* it may be a metamethod, which a loop without a hook calls */
    int64_t year = read_date_field(L, "year", -1);
    int64_t month = read_date_field(L, "month", -1) - 1;
    int64_t day = read_date_field(L, "day", -1);
    int64_t hour = read_date_field(L, "hour", 12);
    int64_t minute = read_date_field(L, "min", 0);
    int64_t second = read_date_field(L, "sec", 0);
    year += floor_divide(month, 12);
    month -= floor_divide(month, 12) * 12;
    int64_t days = days_to_month(year, (int)month + 1) + day - 1;
    int64_t time = days * DAY_SECONDS + hour * 3600 + minute * 60 + second;

    struct date date = date_of_time(time);
    set_date_fields(L, &date);
    lua_pushinteger(L, time);
    return 1;
}

/* Returns the week of the year if weeks begin on `first_day`. */
static int week_of_year(const struct date *date, int first_day)
{
    return (date->year_day + 7 - (date->week_day - first_day + 7) % 7) / 7;
}

/* Returns the ISO 8601 week and its year: the year that has the week's Thursday. */
static int find_iso_week(const struct date *date, int64_t *year)
{
    int64_t days = days_to_month(date->year, 1) + date->year_day;
    int64_t thursday = days + 3 - (date->week_day + 6) % 7;
    struct date of_thursday = date_of_time(thursday * DAY_SECONDS);
    *year = of_thursday.year;
    return of_thursday.year_day / 7 + 1;
}

/* Returns the format of a composed conversion, or NULL. */
static const char *find_composed(char conversion)
{
    switch (conversion) {
    case 'c':
        return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x':
        return "%m/%d/%y";
    case 'F':
        return "%Y-%m-%d";
    case 'r':
        return "%I:%M:%S %p";
    case 'R':
        return "%H:%M";
    case 'T':
    case 'X':
        return "%H:%M:%S";
    default:
        return NULL;
    }
}

/* Returns the text of a conversion that is a name or fixed, or NULL. */
static const char *find_name(const struct date *date, char conversion)
{
    switch (conversion) {
    case 'A':
        return day_names[date->week_day];
    case 'B':
        return month_names[date->month - 1];
    case 'p':
        return date->hour < 12 ? "AM" : "PM";
    case 'n':
        return "\n";
    case 't':
        return "\t";
    case 'z':
        return "+0000";
    case 'Z':
        return "UTC";
    case '%':
        return "%";
    default:
        return NULL;
    }
}

/* A numeric conversion: its value, width and padding. */
struct number {
    int64_t value;
    int width;
    bool has_spaces;
};

/* Returns false if `conversion` is not numeric. */
static bool find_number(const struct date *date, char conversion, struct number *number)
{
    static const char order[] = "CdegGHIjmMSuUVwWyY";
    int64_t iso_year;
    int iso_week = find_iso_week(date, &iso_year);
    int64_t century = floor_divide(date->year, 100);
    const struct number numbers[] = {
        {century, 2, false},
        {date->day, 2, false},
        {date->day, 2, true},
        {iso_year - floor_divide(iso_year, 100) * 100, 2, false},
        {iso_year, 1, false},
        {date->hour, 2, false},
        {(date->hour + 11) % 12 + 1, 2, false},
        {date->year_day + 1, 3, false},
        {date->month, 2, false},
        {date->minute, 2, false},
        {date->second, 2, false},
        {(date->week_day + 6) % 7 + 1, 1, false},
        {week_of_year(date, 0), 2, false},
        {iso_week, 2, false},
        {date->week_day, 1, false},
        {week_of_year(date, 1), 2, false},
        {date->year - century * 100, 2, false},
        {date->year, 1, false},
    };
    const char *found = conversion == '\0' ? NULL : strchr(order, conversion);
    if (found == NULL)
        return false;
    *number = numbers[found - order];
    return true;
}

/* Appends one conversion that is not composed; raises if it is unknown. */
static void add_conversion(luaL_Buffer *out, const struct date *date, char conversion)
{
    const char *name = find_name(date, conversion);
    struct number number;
    if (name != NULL) {
        luaL_addstring(out, name);
    } else if (conversion == 'a') {
        luaL_addlstring(out, day_names[date->week_day], 3);
    } else if (conversion == 'b' || conversion == 'h') {
        luaL_addlstring(out, month_names[date->month - 1], 3);
    } else if (find_number(date, conversion, &number)) {
        char text[24];
        snprintf(text, sizeof(text), number.has_spaces ? "%*lld" : "%0*lld", number.width,
                 (long long)number.value);
        luaL_addstring(out, text);
    } else {
        luaL_error(out->L, "os.date: '%%%c' is not a conversion", conversion);
    }
}

/* Appends a formatted date. */
static void add_format(luaL_Buffer *out, const struct date *date, const char *format)
{
    const char *outer = NULL; /* where to continue after a composed conversion */
    uint32_t count = 0;
    while (*format != '\0' || outer != NULL) {
        if (*format == '\0') {
            format = outer;
            outer = NULL;
        } else if (*format != '%') {
            luaL_addchar(out, *format++);
        } else {
            format++;
            if (++count % CONVERSIONS_PER_LOOK == 0)
                soc_sandbox_charge(out->L, CONVERSIONS_PER_LOOK);
            if ((*format == 'E' || *format == 'O') && format[1] != '\0')
                format++;
            const char *composed = find_composed(*format);
            if (composed != NULL) {
                outer = format + 1;
                format = composed;
            } else {
                add_conversion(out, date, *format);
                format++;
            }
        }
    }
}

static size_t count_conversions(const char *format)
{
    size_t count = 0;
    while ((format = strchr(format, '%')) != NULL && *++format != '\0') {
        count++;
        format++;
    }
    return count;
}

/* os.date([format [, time]]) -> text, or a table for "*t". Upvalues as time. */
static int sandbox_date(lua_State *L)
{
    size_t length;
    const char *format = luaL_optlstring(L, 1, "%c", &length);
    luaL_argcheck(L, strlen(format) == length, 1, "the format contains NUL");
    soc_sandbox_check_bytes(L, length + count_conversions(format) * BYTES_PER_CONVERSION);
    if (lua_isnoneornil(L, 2)) {
        lua_pushvalue(L, lua_upvalueindex(1));
        lua_pushcclosure(L, lua_tocfunction(L, lua_upvalueindex(2)), 1);
        lua_call(L, 0, 1);
    } else {
        lua_pushvalue(L, 2);
    }
    int64_t time = luaL_checkinteger(L, -1);
    luaL_argcheck(L, time >= -TIME_MAX && time <= TIME_MAX, 2, "time out-of-bounds");
    struct date date = date_of_time(time);
    if (*format == '!')
        format++;
    if (strcmp(format, "*t") == 0) {
        lua_createtable(L, 0, 9);
        set_date_fields(L, &date);
        return 1;
    }
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    add_format(&out, &date, format);
    luaL_pushresult(&out);
    return 1;
}

void soc_sandbox_open_os(lua_State *L, const struct soc_sandbox_gate *gate)
{
    static const luaL_Reg functions[] = {
        {"time", sandbox_time},
        {"date", sandbox_date},
        {NULL, NULL},
    };
    lua_pushlightuserdata(L, gate->upvalue);
    lua_pushcfunction(L, gate->time);
    luaL_setfuncs(L, functions, 2);
    lua_pushlightuserdata(L, gate->upvalue);
    lua_pushcclosure(L, gate->clock, 1);
    lua_setfield(L, -2, "clock");
}

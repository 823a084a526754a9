#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

const char *soc_error_name(int code)
{
    switch (code) {
#define X(name, value, wire, text)                                                                 \
    case value:                                                                                    \
        return wire;
        SOC_ERROR_MAP(X)
#undef X
    default:
        return "unknown_error";
    }
}

const char *soc_error_text(int code)
{
    switch (code) {
#define X(name, value, wire, text)                                                                 \
    case value:                                                                                    \
        return text;
        SOC_ERROR_MAP(X)
#undef X
    default:
        return "unknown error";
    }
}

int soc_fail(struct soc_detail *detail, int code, const char *format, ...)
{
    if (detail != NULL) {
        va_list args;
        va_start(args, format);
        vsnprintf(detail->text, sizeof(detail->text), format, args);
        va_end(args);
    }
    return code;
}

int soc_fail_unknown(struct soc_detail *detail, const char *what, const char *name,
                     const char *known)
{
    return soc_fail(detail, SOC_EINVAL, "unknown %s '%s'; there are %s", what, name, known);
}

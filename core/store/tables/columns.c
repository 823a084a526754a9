#include "store/tables/columns.h"

#include <assert.h>
#include <string.h>

#include "store/fields.h"

/* Fields whose names are keywords of SQL have differently named columns. */
static const char *column_of(const char *field)
{
    static const char *const others[][2] = {
        {"from", "sender"}, {"to", "receiver"}, {"index", "idx"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(field, others[i][0]) == 0)
            return others[i][1];
    return field;
}

static const struct soc_fields *find_fields(struct soc_slice name)
{
    static const unsigned types[] = {
#define R(tag, name, value) SOC_RECORD_##tag,
        SOC_RECORD_MAP(R)
#undef R
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (soc_slice_equal(name, soc_slice_text(soc_fields_of(types[i])->name)))
            return soc_fields_of(types[i]);
    return NULL;
}

void soc_columns_expand(struct soc_buf *out, const char *sql)
{
    for (const char *open; (open = strchr(sql, '{')) != NULL;) {
        const char *close = strchr(open, '}');
        bool is_parameters = open[1] == '?';
        const char *name = open + (is_parameters ? 2 : 1);
        assert(close != NULL);
        const struct soc_fields *fields = find_fields(soc_slice(name, (size_t)(close - name)));
        assert(fields != NULL);
        soc_buf_put(out, sql, (size_t)(open - sql));
        for (size_t i = 0; i < fields->count; i++) {
            soc_buf_put_text(out, i == 0 ? "" : ", ");
            if (is_parameters)
                soc_buf_printf(out, "?%zu", i + 1);
            else
                soc_buf_put_text(out, column_of(fields->items[i].name));
        }
        sql = close + 1;
    }
    soc_buf_put_text(out, sql);
}

#include "base/intern.h"

#include "base/buf.h"
#include "check.h"

static void the_same_text_is_the_same_symbol(void)
{
    struct soc_intern table = {0};
    char text[] = "general";
    const struct soc_symbol *first = soc_intern(&table, soc_slice_text(text));
    text[0] = 'X';
    CHECK(soc_intern(&table, SOC_SLICE("general")) == first);
    CHECK(soc_intern(&table, SOC_SLICE("Xeneral")) != first);
    CHECK_TEXT(first->text, "general");
    CHECK_INT(first->length, 7);
    soc_intern_fini(&table);
}

static void looking_a_text_up_does_not_intern_it(void)
{
    struct soc_intern table = {0};
    CHECK(soc_intern_find(&table, SOC_SLICE("general")) == NULL);
    const struct soc_symbol *made = soc_intern(&table, SOC_SLICE("general"));
    CHECK(soc_intern_find(&table, SOC_SLICE("general")) == made);
    CHECK(soc_intern_find(&table, SOC_SLICE("genera")) == NULL);
    CHECK(soc_intern_find(&table, SOC_SLICE("")) == NULL);
    soc_intern_fini(&table);
}

static void a_symbol_lends_its_text_and_null_lends_nothing(void)
{
    struct soc_intern table = {0};
    struct soc_slice text = soc_symbol_slice(soc_intern(&table, SOC_SLICE("a\0b")));
    CHECK(text.length == 3 && memcmp(text.data, "a\0b", 3) == 0);
    CHECK(soc_symbol_slice(NULL).data == NULL);
    struct soc_slice empty = soc_symbol_slice(soc_intern(&table, SOC_SLICE("")));
    CHECK(empty.data != NULL && empty.length == 0);
    soc_intern_fini(&table);
}

static void symbols_keep_their_address_while_many_are_added(void)
{
    enum { COUNT = 5000 };
    static const struct soc_symbol *symbols[COUNT];
    struct soc_intern table = {0};
    struct soc_buf text = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            text.length = 0;
            soc_buf_printf(&text, "type_%d", i);
            const struct soc_symbol *symbol = soc_intern(&table, soc_buf_slice(&text));
            if (round == 0)
                symbols[i] = symbol;
            CHECK(symbols[i] == symbol);
            CHECK_TEXT(symbol->text, soc_buf_text(&text));
        }
    }
    CHECK_INT(table.symbols.count, COUNT);
    soc_buf_fini(&text);
    soc_intern_fini(&table);
}

static void an_empty_table_can_be_freed(void)
{
    struct soc_intern table = {0};
    soc_intern_fini(&table);
    CHECK(soc_intern_find(&table, SOC_SLICE("x")) == NULL);
}

int main(void)
{
    RUN(the_same_text_is_the_same_symbol);
    RUN(looking_a_text_up_does_not_intern_it);
    RUN(a_symbol_lends_its_text_and_null_lends_nothing);
    RUN(symbols_keep_their_address_while_many_are_added);
    RUN(an_empty_table_can_be_freed);
    return check_done();
}

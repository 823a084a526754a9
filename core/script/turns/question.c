#include "script/turns/question.h"

#include "base/json.h"

bool soc_question_read(struct soc_slice asked, struct soc_question *question)
{
    static const char *const names[SOC_WANT_COUNT] = {
        "agent",  "society", "print", "time",      "clock", "random", "text",
        "status", "require", "done",  "unhandled", "error", "over"};
    struct soc_json_walk walk;
    *question = (struct soc_question){.want = SOC_WANT_COUNT};
    soc_json_walk(&walk, asked);
    if (asked.data[0] != '[' || !soc_json_next(&walk))
        return false;
    struct soc_slice kind = soc_json_plain_string(walk.value);
    for (int i = 0; kind.data != NULL && i < SOC_WANT_COUNT; i++)
        if (soc_slice_equal(kind, soc_slice_text(names[i])))
            question->want = (enum soc_want)i;
    if (soc_json_next(&walk))
        question->first = walk.value;
    if (question->first.data != NULL && soc_json_next(&walk))
        question->second = walk.value;
    return question->want != SOC_WANT_COUNT;
}

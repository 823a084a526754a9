#include "check.h"

#include "parts/outside/files_settings.h"

static int read_into(struct soc_files_settings *settings, const char *json,
                     struct soc_detail *detail)
{
    *detail = (struct soc_detail){{0}};
    return soc_files_settings_read(settings, soc_slice_text(json), detail);
}

static void the_defaults_are_those_of_the_protocol(void)
{
    struct soc_files_settings settings;
    struct soc_detail detail;
    CHECK_INT(read_into(&settings, "{}", &detail), SOC_OK);
    CHECK_TEXT(settings.base_dir, ".claude/workflow");
    CHECK(settings.dir == NULL && settings.workflow_id == NULL);
    CHECK_INT(settings.poll_ms, 500);
    CHECK_INT(settings.poll_max_ms, 3000);
    CHECK_INT(settings.wait_ms, 5000);
    CHECK(settings.poll_backoff == 1.5);
    CHECK(!settings.polls);
    CHECK_INT(settings.heartbeat_ms, 10000);
    CHECK_INT(settings.silence_ms, 30000);
    CHECK_INT(settings.ack_ms, 5000);
    CHECK_INT(settings.retry_ms, 2000);
    CHECK_INT(settings.retries_max, 3);
    CHECK(settings.rotates && settings.archives);
    CHECK_INT(settings.messages_max, 1000);
    CHECK_INT(settings.keep_ms, 60000);
    CHECK_INT(settings.lines_max, 100);
    CHECK_INT(settings.ack_cache_s, 60);
    CHECK(settings.caches_heartbeat);
    CHECK_INT(settings.folder_mode, 0700);
    CHECK_INT(settings.file_mode, 0600);
    soc_files_settings_fini(&settings);
}

static void every_group_can_be_set(void)
{
    struct soc_files_settings settings;
    struct soc_detail detail;
    CHECK_INT(read_into(&settings,
                        "{\"dir\":\"w\",\"directory_mode\":\"0750\",\"file_mode\":\"660\","
                        "\"polling\":{\"interval_ms\":10,\"force\":true,"
                        "\"backoff_multiplier\":2},\"heartbeat\":{\"timeout_ms\":900},"
                        "\"ack\":{\"max_retries\":5,\"required_types\":[\"abort\"]},"
                        "\"cleanup\":{\"enabled\":false},\"buffers\":[]}",
                        &detail),
              SOC_OK);
    CHECK_TEXT(detail.text, "");
    CHECK_TEXT(settings.dir, "w");
    CHECK_INT(settings.folder_mode, 0750);
    CHECK_INT(settings.file_mode, 0660);
    CHECK_INT(settings.poll_ms, 10);
    CHECK(settings.polls && settings.poll_backoff == 2);
    CHECK(settings.has_silence && settings.has_ladder);
    CHECK_INT(settings.retries_max, 5);
    CHECK_TEXT(settings.ack_types, "[\"abort\"]");
    CHECK(!settings.rotates);
    soc_files_settings_fini(&settings);
}

static void errors_name_the_setting(void)
{
    static const struct {
        const char *json;
        const char *text;
    } cases[] = {
        {"true", "'files': a table expected"},
        {"{\"dri\":\"x\"}", "unknown setting 'files.dri'; there are dir, base_dir, workflow_id, "
                            "perspectives, directory_mode, file_mode, polling, heartbeat, ack, "
                            "cleanup, buffers"},
        {"{\"polling\":{\"intervall\":1}}",
         "unknown setting 'files.polling.intervall'; there are interval_ms, max_interval_ms, "
         "max_wait_ms, backoff_multiplier, force"},
        {"{\"polling\":7}", "'files.polling': a table expected"},
        {"{\"polling\":{\"interval_ms\":0}}",
         "'files.polling.interval_ms': an integer from 1 to 86400000 expected"},
        {"{\"polling\":{\"interval_ms\":\"5\"}}",
         "'files.polling.interval_ms': an integer from 1 to 86400000 expected"},
        {"{\"polling\":{\"interval_ms\":4000}}",
         "'files.polling.max_interval_ms': at least interval_ms expected"},
        {"{\"polling\":{\"backoff_multiplier\":0.5}}",
         "'files.polling.backoff_multiplier': a number from 1 to 100 expected"},
        {"{\"dir\":\"\"}", "'files.dir': a path expected"},
        {"{\"dir\":7}", "'files.dir': a path expected"},
        {"{\"workflow_id\":\"../x\"}", "'files.workflow_id': an id expected"},
        {"{\"file_mode\":\"0400\"}", "'files.file_mode': an octal mode as for chmod, at "
                                     "least \"0600\", expected"},
        {"{\"directory_mode\":\"0778\"}", "'files.directory_mode': an octal mode as for "
                                          "chmod, at least \"0700\", expected"},
        {"{\"cleanup\":{\"enabled\":1}}", "'files.cleanup.enabled': true or false expected"},
        {"{\"ack\":{\"required_types\":[1]}}",
         "'files.ack.required_types': a list of message types expected"},
        {"{\"perspectives\":[\"x\"]}",
         "'files.perspectives': a table of texts by agent id expected"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct soc_files_settings settings;
        struct soc_detail detail;
        CHECK_INT(read_into(&settings, cases[i].json, &detail), SOC_EINVAL);
        CHECK_TEXT(detail.text, cases[i].text);
        soc_files_settings_fini(&settings);
    }
}

int main(void)
{
    RUN(the_defaults_are_those_of_the_protocol);
    RUN(every_group_can_be_set);
    RUN(errors_name_the_setting);
    return check_done();
}

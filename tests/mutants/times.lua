-- Planted faults of delays, times to live and waits that end; see list.lua.

local LAWS = { "run:laws" }
local SET_BACK = { "run:set_back" }

return {
  {
    name = "a time to live is a millisecond longer", file = "core/kernel/mail/router.c", by = LAWS,
    from = ".expires_ms = send->ttl_ms == 0 ? 0 : now_ms + send->ttl_ms,",
    to = ".expires_ms = send->ttl_ms == 0 ? 0 : now_ms + send->ttl_ms + 1,",
    law = "times", says = "after its time to live",
  },
  {
    name = "a time to live is a millisecond shorter", file = "core/kernel/mail/router.c", by = LAWS,
    from = ".expires_ms = send->ttl_ms == 0 ? 0 : now_ms + send->ttl_ms,",
    to = ".expires_ms = send->ttl_ms == 0 ? 0 : now_ms + send->ttl_ms - 1,",
    law = "times", says = "before its time to live was over",
  },
  {
    name = "queued mail expires a millisecond late", file = "core/kernel/mail/mail.c", by = LAWS,
    from = "    soc_heap_add(&host->timers, &message->timer, message->expires_ms);",
    to = "    soc_heap_add(&host->timers, &message->timer, message->expires_ms + 1);",
    law = "times", says = "after its time to live",
  },
  {
    name = "queued mail expires a millisecond early", file = "core/kernel/mail/mail.c", by = LAWS,
    from = "    soc_heap_add(&host->timers, &message->timer, message->expires_ms);",
    to = "    soc_heap_add(&host->timers, &message->timer, message->expires_ms - 1);",
    law = "times", says = "before its time to live was over",
  },
  {
    name = "queued mail never expires", file = "core/kernel/mail/mail.c", by = LAWS,
    from = "    if (message->expires_ms == 0)\n        return;",
    to = "    if (message->expires_ms >= 0)\n        return;",
    law = "times", says = "after its time to live",
  },
  {
    name = "mail that was put back never expires", file = "core/kernel/mail/mail.c",
    by = { "run:folds_wild" },
    from = "    soc_mail_watch(host, message);\n}",
    to = "    if (!is_back)\n        soc_mail_watch(host, message);\n}",
    law = "times", says = "after its time to live",
  },
  {
    name = "a restart forgets times to live", file = "core/kernel/recover.c", by = LAWS,
    from = "        .expires_ms = (int64_t)r->expires_ms,", to = "        .expires_ms = 0,",
    law = "times", says = "after its time to live",
  },
  {
    name = "a restart forgets delays", file = "core/kernel/recover.c", by = LAWS,
    from = "        .deliver_at_ms = (int64_t)r->deliver_at_ms,",
    to = "        .deliver_at_ms = 0,",
    law = "times", says = "before its time",
  },
  {
    name = "a restart delivers what is not due yet", file = "core/kernel/recover.c", by = LAWS,
    from = "reclaimed == SOC_RECLAIM_TRANSIT || message->deliver_at_ms > soc_host_now(host) ||",
    to = "reclaimed == SOC_RECLAIM_TRANSIT ||",
    law = "times", says = "before its time",
  },
  {
    name = "a delay ends a millisecond early", file = "core/kernel/mail/transit.c", by = LAWS,
    from = "is_lost(message) ? message->expires_ms : soc_message_due_ms(message));",
    to = "is_lost(message) ? message->expires_ms : soc_message_due_ms(message) - 1);",
    law = "times", says = "before its time",
  },
  {
    name = "delayed mail is due at once", file = "core/kernel/mail/router.c", by = LAWS,
    from = "    if (message->deliver_at_ms <= soc_host_now(host))\n        soc_router_deliver",
    to = "    if (message->deliver_at_ms != 1)\n        soc_router_deliver",
    law = "times", says = "before its time",
  },
  {
    name = "mail that is late by a restart is delivered", file = "core/kernel/mail/router.c",
    by = LAWS,
    from = "    if (message->expires_ms != 0 && message->expires_ms <= soc_host_now(host)) {",
    to = "    if (message->expires_ms != 0 && message->expires_ms < soc_host_now(host)) {",
    law = "times", says = "after its time to live",
  },
  {
    name = "a deadline is forgotten by a restart", file = "core/kernel/turns/wait.c",
    by = { "run:exact" },
    from = "        wait->deadline_ms = number;", to = "        wait->deadline_ms = 0;",
    law = "waits end",
  },
  {
    name = "a sleep ends early", file = "core/script/bindings/bind_agent.c", by = LAWS,
    from = "soc_clock_now(soc_host_clock(script->host)) + (ms > 0 ? ms : 1);",
    to = "soc_clock_now(soc_host_clock(script->host)) + 1;",
    law = "waits end",
  },
  {
    name = "a copy of a broadcast has no time to live", file = "core/model/group/broadcast.c",
    by = { "run:folds_wild" },
    from = "        .expires_ms = message->expires_ms,", to = "        .expires_ms = 0,",
    law = "times", says = "after its time to live",
  },
  {
    name = "an outside agent gets what has expired", file = "core/parts/outside/outside_mail.c",
    by = { "run:wild_all" },
    from = "           (expires_ms == 0 || letter->is_received || expires_ms > " ..
      "soc_host_now(host));",
    to = "           (expires_ms == 0 || letter->is_received || expires_ms > 0);",
    law = "times", says = "after its time to live",
  },
  {
    name = "a letter outside never expires", file = "core/parts/outside/outside_mail.c",
    by = LAWS,
    from = "        soc_outside_queue(letter);\n        soc_mail_watch(host, message);",
    to = "        soc_outside_queue(letter);",
  },
  {
    name = "a restart does not follow a clock that was set back", file = "core/env/clock.c",
    by = SET_BACK,
    from = "    bool is_back = clock->is_set && reached_ms - now_ms >= STEP_MS_MIN;",
    to = "    bool is_back = clock->is_set && reached_ms < 0;",
    law = "times", says = "did not follow the clock",
  },
  {
    name = "time goes back with the clock", file = "core/env/clock.c", by = SET_BACK,
    from = "        now_ms = reached_ms + is_back;", to = "        now_ms -= is_back;",
    law = "times",
  },
  {
    name = "a step of the clock changes the date of what was before", file = "core/env/clock.c",
    by = SET_BACK,
    from = "        now_ms = reached_ms + is_back;", to = "        now_ms = reached_ms;",
    law = "times", says = "set back from a time that had passed",
  },
  {
    name = "a restart forgets that the clock was set back", file = "core/kernel/recover.c",
    by = SET_BACK,
    from = "        soc_calendar_read(&host->clock.calendar, r->value);",
    to = "        soc_calendar_read(&host->clock.calendar, SOC_SLICE(\"[]\"));",
    law = "times", says = "step of the clock was forgotten",
  },
  {
    name = "a date moves when the clock is set back", file = "core/kernel/recover.c",
    by = SET_BACK,
    from = "    if (message->flags & SOC_MESSAGE_IS_DATED)\n        message->deliver_at_ms",
    to = "    if (message->flags == 0)\n        message->deliver_at_ms",
    law = "times", says = "before its time",
  },
  {
    name = "a date of delivery is taken for a time", file = "core/kernel/mail/send_input.c",
    by = SET_BACK,
    from = "soc_clock_time_of(clock, send->deliver_at_ms)", to = "send->deliver_at_ms",
    law = "times", says = "before its time",
  },
}

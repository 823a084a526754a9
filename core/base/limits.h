/* Limits: every bound of the host in one place, with the unit in its name.
 *
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_LIMITS_H
#define SOC_BASE_LIMITS_H

#define SOC_ID_BYTES_MAX            64 /* agent, role and task ids */
#define SOC_HOST_NAME_BYTES_MAX     32
#define SOC_ADDRESS_BYTES_MAX       97   /* agent@host */
#define SOC_HOSTS_MAX               100  /* joined in one society */
#define SOC_TYPE_BYTES_MAX          64   /* a message's type */
#define SOC_KEY_BYTES_MAX           256  /* correlation ids, external ids, dedupe keys */
#define SOC_REASON_BYTES_MAX        1024 /* why an agent ends */
#define SOC_PATH_BYTES_MAX          4096
#define SOC_MESSAGE_ID_BYTES        35 /* msg_YYYYMMDD_HHMMSS_ + ms, host, counter */
#define SOC_ITEM_ID_BYTES           36 /* item_, then as a message id */
#define SOC_CALL_ID_BYTES           48 /* call_, as a message id, _, random digits; a NUL */
#define SOC_TIME_BYTES              24 /* 2026-01-05T12:00:00.000Z */
#define SOC_CALENDAR_STEPS_MAX      64
#define SOC_PAYLOAD_BYTES_MAX       (16u << 20)
#define SOC_STATE_BYTES_MAX         (1u << 20)
#define SOC_BRIEF_BYTES_MAX         (1u << 20)
#define SOC_MEMORY_BYTES_MAX        (8u << 20)  /* of a stored conversation */
#define SOC_MEMORY_BYTES_OPEN_MAX   (64u << 20) /* the same while a message is handled */
#define SOC_JSON_DEPTH_MAX          64          /* of a value from outside */
#define SOC_JSON_WRAP_MAX           16          /* added by the host in its own answers */
#define SOC_JSON_BYTES_MAX          (64u << 20)
#define SOC_RECEIVERS_MAX           1000  /* in one send with a list */
#define SOC_EFFECTS_MAX             10000 /* of one activation (default) */
#define SOC_REQUEST_TIMEOUT_MS      30000
#define SOC_TASKS_NAMED_MAX         10     /* at the end of a run */
#define SOC_THINK_TIMEOUT_MS        600000 /* the same to agents that think */
#define SOC_INTRODUCTION_ASK_MS     10000  /* to ask for consent (default) */
#define SOC_CONTACTS_SHOWN_MAX      1000   /* that a policy is shown */
#define SOC_TURNS_PER_TICK_MAX      4096
#define SOC_TICK_MS_MAX             20 /* then timers and doors are served; no turn is cut */
#define SOC_BATCH_BYTES_MAX         (1u << 20)  /* a batch this large is sealed at once */
#define SOC_JOURNAL_BYTES_MAX       (64u << 20) /* not durable yet; beyond it turns wait */
#define SOC_RETENTION_DAYS_MAX      36500       /* of what is over */
#define SOC_RETENTION_MB_MAX        (1u << 20)
#define SOC_ARCHIVE_REMOVALS_MAX    256          /* files of an archive, at a time */
#define SOC_ARCHIVE_LOOK_MS         60000        /* between two looks at an archive */
#define SOC_FOLD_BACKLOG_BYTES      (512u << 20) /* beyond it folding comes before commits */
#define SOC_PAGE_ROWS               100          /* of a list, unless the caller says how many */
#define SOC_PAGE_ROWS_MAX           1000
#define SOC_PAGE_BYTES_MAX          (4u << 20)   /* a page ends when it has so many */
#define SOC_SNAPSHOT_LINES          10000        /* of the log between two snapshots at least … */
#define SOC_SNAPSHOT_LINE_BYTES     16           /* … and more if one has more bytes for each */
#define SOC_PAST_OVER_MAX           1000         /* ended tasks and items that `at` shows */
#define SOC_PAGE_US_MAX             50000        /* time for a page */
#define SOC_LOOK_BYTES_MAX          (32u << 20)  /* of a list that is asked for as a whole */
#define SOC_TAP_BYTES_MAX           (64u << 10)  /* handed to a listener at once */
#define SOC_FOLD_DELAY_MS           200          /* idle time before the journal is folded */
#define SOC_FULL_RETRY_MS           200          /* between retries on a full disk */
#define SOC_SCRIPT_STEPS_MAX        100000000    /* VM instructions of one simulated turn */
#define SOC_SCRIPT_CPU_MS_MAX       200          /* CPU time of one turn */
#define SOC_SCRIPT_GROWTH_BYTES_MAX (64u << 20)  /* Lua memory that one turn may add */
#define SOC_ERROR_BYTES_MAX         (256u << 10) /* shown of an error that a script raises */
#define SOC_SCRIPT_JUMP_BYTES_MAX   (512u << 20) /* that one operation in Lua may add to that */
#define SOC_SCRIPT_TEXT_BYTES_MAX   (32u << 20)  /* of one text made by a library function */
#define SOC_SCRIPT_BYTES_MAX        (8ull << 30) /* Lua memory of one society */
#define SOC_RUN_LUA_BYTES_MAX       (1u << 20)   /* of a script, its values, its result */
#define SOC_RUN_LUA_PRINT_BYTES_MAX (64u << 10)  /* of what it prints */
#define SOC_RUN_LUA_CPU_MS_MAX      60000        /* CPU time that a caller may allow it */
#define SOC_WORKER_FRAME_BYTES_MAX  (5u << 19)   /* of what a worker says at once */
#define SOC_WORKER_VALUES_MAX       20000        /* of the same, with names of members */
#define SOC_WORKER_TOLD_BYTES_MAX   (24u << 20)  /* of what it is told */
#define SOC_WORKER_ANSWER_BYTES_MAX (8u << 20)   /* of an answer to a question of its */
#define SOC_WORKER_CPU_S_MAX        600          /* CPU time of a process, over its life */
#define SOC_HOST_SHARE_MS           12           /* of the host, to do a worker's turn again */
#define SOC_WORKERS_MAX             64           /* worker processes at once (default) */
#define SOC_STALL_MS                10           /* before a stalled turn is looked at again */
#define SOC_PRINT_BYTES_MAX         (1u << 20)   /* of one line that an agent prints */
#define SOC_POLICY_STEPS_MAX        1000000      /* VM instructions of one answer of a policy */
#define SOC_TEXT_BYTES_MAX          (256u << 10) /* of a file that a policy refers to */
#define SOC_VOCABULARIES_MAX        32           /* in force at once */
#define SOC_TYPES_MAX               256          /* message types of one vocabulary */
#define SOC_SHAPE_FIELDS_MAX        64           /* members in the shape of an object */
#define SOC_SHAPE_DEPTH_MAX         8            /* shapes inside shapes */
#define SOC_SHAPE_FAULTS_MAX        32           /* reported for one message */
#define SOC_RETRIES_MAX             3            /* of a turn that raised */
#define SOC_RETRY_FIRST_MS          100
#define SOC_FAILURES_MAX            5 /* of turns of one agent in SOC_FAILURES_MS */
#define SOC_FAILURES_MS             60000
#define SOC_FAILURES_KEPT           64  /* that a policy is shown */
#define SOC_DEPTH_MAX               100 /* of the tree; this and the next five are defaults */
#define SOC_CHILDREN_MAX            100000
#define SOC_AGENTS_MAX              1000000
#define SOC_HOPS_MAX                100000
#define SOC_INTRODUCTION_HOPS_MAX   16 /* agents that pass an introduction request on (default) */
#define SOC_MAILBOX_MAX             100000
#define SOC_NO_PROGRESS_MAX         10000
#define SOC_TASK_LIMIT_MS           1800000 /* for a task (default) */
#define SOC_TASKS_DONE_MAX          16      /* ended tasks remembered per agent */
#define SOC_LOAD_WINDOW_MS          600000  /* over which the load of an agent is averaged */
#define SOC_TRIAL_MS_MAX            5000    /* how long waiting activations are tried (default) */
#define SOC_HISTORY_DAYS            30      /* for which runs are kept for replay (default) */
#define SOC_HISTORY_DAYS_MAX        36500
#define SOC_HTTP_CONNECT_MS         10000 /* default, like the next three */
#define SOC_HTTP_FIRST_BYTE_MS      60000
#define SOC_HTTP_IDLE_MS            60000
#define SOC_HTTP_TOTAL_MS           600000
#define SOC_HTTP_BODY_BYTES_MAX     (16u << 20) /* of a response */
#define SOC_HTTP_CONCURRENCY        64          /* concurrent requests of agents (default) */
#define SOC_HTTP_ANSWER_BYTES_MAX   (24u << 20) /* of a response as JSON */
#define SOC_HTTP_STEP_US            5000 /* of handing out bodies, before the loop has its turn */
#define SOC_HTTP_HEAD_BYTES_MAX     (256u << 10)
#define SOC_HTTP_HEADERS_MAX        256
#define SOC_HTTP_CONNECTIONS_MAX    64  /* idle */
#define SOC_SERVER_CONNECTIONS      256 /* of the HTTP door (default), like the next five */
#define SOC_SERVER_STREAMS          64
#define SOC_SERVER_BODY_BYTES       (1u << 20)
#define SOC_SERVER_HEAD_MS          10000
#define SOC_SERVER_BODY_MS          30000
#define SOC_SERVER_IDLE_MS          60000
#define SOC_SERVER_LINE_BYTES_MAX   (8u << 10)  /* of a request line */
#define SOC_SERVER_HEAD_BYTES_MAX   (16u << 10) /* of all headers */
#define SOC_SERVER_HEADERS_MAX      100
#define SOC_WEB_WRONG_TOKENS        10         /* a minute and address (default) */
#define SOC_WEB_FILE_BYTES_MAX      (4u << 20) /* of the page */
#define SOC_WEB_CODE_MS             60000      /* how long a login code is valid */
#define SOC_WEB_COOKIE_MS           43200000   /* the same for a cookie */
#define SOC_WEB_TOKENS_MAX          1000
#define SOC_STREAM_BYTES_MAX        (64u << 10) /* held for a listener before it waits */
#define SOC_LOG_PAYLOAD_BYTES_MAX   200         /* of a payload in a log line */
#define SOC_LOG_DETAIL_BYTES_MAX    8192        /* of a log line, before it is truncated */
#define SOC_LOG_MEMBER_BYTES_MAX    2048        /* of each member of a truncated object */

/* Delivery. */
#define SOC_LADDER_STEPS_MAX    64    /* of an unacked message */
#define SOC_HEARTBEAT_MS        30000 /* silence of an outside agent (default) */
#define SOC_DOORS_MAX           4
#define SOC_PARTS_MAX           24  /* parts of a society: kernel/part.h */
#define SOC_LETTERS_ENDED_MAX   256 /* last ended messages remembered per outside agent */
#define SOC_POSITION_BYTES_MAX  1024
#define SOC_DEDUPE_WINDOW_MS    604800000    /* for which a key is remembered (default) */
#define SOC_CALL_KEYS_BYTES_MAX (128u << 20) /* of idempotency keys with their answers */
#define SOC_QUERY_WINDOW_MS     604800000    /* for which a query can be answered */

/* Telemetry: defaults. */
#define SOC_SPAN_TEXT_BYTES_MAX     (64u << 10) /* of one attribute */
#define SOC_OTLP_SPANS_MAX          2048        /* that wait to be exported */
#define SOC_OTLP_BYTES_MAX          (16u << 20) /* the same */
#define SOC_OTLP_BATCH_SPANS        512
#define SOC_OTLP_BATCH_BYTES        (4u << 20) /* a batch closes beyond it */
#define SOC_OTLP_DELAY_MS           5000       /* before a batch that is not full leaves */
#define SOC_OTLP_TIMEOUT_MS         10000      /* of one request */
#define SOC_OTLP_RETRY_MS           1000       /* first pause; it doubles */
#define SOC_OTLP_RETRY_MS_MAX       32000
#define SOC_OTLP_RETRY_AFTER_MS_MAX 300000 /* the longest pause that a collector may ask for */
#define SOC_OTLP_TRIES_MAX          8
#define SOC_OTLP_CLOSE_MS           2000 /* for what is left when the society ends */
#define SOC_OTLP_ANSWER_BYTES_MAX   (64u << 10)
#define SOC_OTLP_HEADERS_MAX        32
#define SOC_OTLP_ATTRIBUTES_MAX     64 /* of the resource */

#define SOC_SECRET_BYTES_MIN 8 /* of a secret that is removed from responses */

/* Models: defaults; costs in millionths of a dollar. */
#define SOC_CHAT_BYTES_MAX          (1u << 20) /* of an answer that can be remembered */
#define SOC_CHAT_TIMEOUT_MS         600000     /* for an answer, including retries and pauses */
#define SOC_AGENT_TOKENS_MAX        2000000
#define SOC_TASK_TOKENS_MAX         5000000
#define SOC_SOCIETY_TOKENS_MAX      20000000
#define SOC_AGENT_COST_MICROS_MAX   5000000
#define SOC_TASK_COST_MICROS_MAX    10000000
#define SOC_SOCIETY_COST_MICROS_MAX 50000000

#endif

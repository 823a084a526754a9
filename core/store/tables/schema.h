/* Schema: the tables of society.db, and SQL expressions that several queries need.
 *
 * The journal is authoritative; every other table is filled from it (fold.h) for recovery
 * and for people. Tables named `_entries` are stored in the most compact form; the view
 * without the suffix shows the same for reading, with ids and times spelled out. The views
 * use plain SQL, so that any SQLite tool can read them.
 *
 * There is no index on finished messages: it would cost more than all the rest of
 * folding. Keys rise with time, so a range of time is a range of keys.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_TABLES_SCHEMA_H
#define SOC_STORE_TABLES_SCHEMA_H

/* Rises with every change of the tables, views or records in the journal. A program opens
 * what it knows and refuses what is newer. An upgrade ends with a checkpoint, because the
 * version is read from the file header before SQLite touches anything. */
#define SOC_SCHEMA_VERSION 11
#define SOC_SCHEMA_LINES   6 /* the first version that has the table `lines` */

/* "SOCY", in the file header. */
#define SOC_SCHEMA_APPLICATION 0x534f4359

#define SOC_SCHEMA_PAGE_BYTES 8192

/* Expressions over a row `m` of message_entries. */
#define SOC_SQL_PRIORITY                                                                           \
    "CASE m.priority WHEN 0 THEN 'urgent' WHEN 1 THEN 'high' WHEN 2 THEN 'normal' ELSE 'low' END"
#define SOC_SQL_STATUS                                                                             \
    "CASE m.status WHEN 0 THEN 'pending' WHEN 1 THEN 'processed' WHEN 2 THEN 'expired'"            \
    " WHEN 3 THEN 'dead' WHEN 4 THEN 'dropped' WHEN 6 THEN 'handed_over' ELSE 'cancelled' END"

/* The bits of `flags` that are fields, or say what a field is: enum soc_message_flag. */
#define SOC_SQL_FLAG_requires_ack "1"
#define SOC_SQL_FLAG_dated        "32"

/* Over a row with a column `source`. */
#define SOC_SQL_SOURCE                                                                             \
    "CASE source WHEN 0 THEN 'system' WHEN 1 THEN 'parent' WHEN 2 THEN 'child'"                    \
    " WHEN 3 THEN 'preset' WHEN 4 THEN 'introduction' WHEN 5 THEN 'first_message'"                 \
    " ELSE 'manual' END"

/* Over a row of inbox_entries. */
#define SOC_SQL_DECISION                                                                           \
    "CASE decision WHEN 1 THEN 'approve' WHEN 2 THEN 'modify' WHEN 3 THEN 'reject'"                \
    " WHEN 4 THEN 'withdrawn' END"

/* Expressions over a row `t` of task_entries. */
#define SOC_SQL_TASK_STATE                                                                         \
    "CASE t.state WHEN 0 THEN 'pending' WHEN 1 THEN 'processing' WHEN 2 THEN 'completed'"          \
    " WHEN 3 THEN 'failed' ELSE 'cancelled' END"
#define SOC_SQL_TASK_STYLE                                                                         \
    "CASE t.style WHEN 0 THEN 'task' WHEN 1 THEN 'task_assign' ELSE 'task_assignment' END"

/* Lends the statements that create the tables of a new database, and its views. */
const char *soc_schema_tables_sql(void);
const char *soc_schema_views_sql(void);

/* Lends the statements that add the tables of snapshots where they are missing. No version
 * tells of these tables: programs that do not know them open the database as before. */
const char *soc_schema_snapshots_sql(void);

/* Lends the statements that drop the views of any version, and those that upgrade the
 * tables of `version` to the next. */
const char *soc_schema_drop_sql(void);
const char *soc_schema_upgrade_sql(int version);

#endif

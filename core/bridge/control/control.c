#include "bridge/control/control.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uv.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/control/address.h"

#define BACKLOG           128
#define READ_BYTES        65536
#define LINE_BYTES_MAX    (2u << 20) /* a longer one would take long to read, in one step */
#define CALL_ID_BYTES_MAX SOC_KEY_BYTES_MAX
#define CALLS_MAX         4096        /* unanswered, per client; further lines wait */
#define UNREAD_BYTES_MAX  (64u << 20) /* of answers; a client beyond it is disconnected */

/* One client. Freed when its handle is closed and it has no calls. */
struct connection {
    uv_pipe_t pipe;
    struct connection *previous;
    struct connection *next;
    struct soc_control *control;
    struct soc_buf in;   /* lines not processed yet */
    size_t taken;        /* bytes of `in` already processed */
    unsigned call_count; /* unanswered */
    bool is_ended;       /* the client sends no more */
    bool is_taking;      /* inside take_lines, which must not recurse */
    bool is_closing;
    bool is_closed;
};

/* A request of a client. */
struct call {
    struct soc_call base; /* first: answer_call casts back */
    struct call *previous;
    struct call *next;
    struct connection *connection;
    size_t id_length;
    char id[]; /* chosen by the client, JSON */
};

struct soc_control {
    struct soc_control_options options;
    uv_pipe_t listener;
    char *path;
    struct stat file; /* the socket's; zeroed: unknown */
    struct connection *connections;
    struct call *calls;
    struct soc_buf out; /* one answer at a time */
    /* answer_call. Answering resumes waiting lines, which make new calls with this callback;
     * the pointer breaks that cycle between functions. */
    void (*answer)(struct soc_call *call, bool is_error, struct soc_slice answer);
    bool is_stopped;
};

/* The part of an answer that could not be written at once. */
struct rest {
    uv_write_t request;
    char data[];
};

static void free_if_unused(struct connection *connection)
{
    if (!connection->is_closed || connection->call_count > 0)
        return;
    soc_buf_fini(&connection->in);
    free(connection);
}

static void finish_close(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    assert(connection->is_closing && !connection->is_closed);
    connection->is_closed = true;
    free_if_unused(connection);
}

static void close_connection(struct connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    struct call *call = connection->call_count > 0 ? connection->control->calls : NULL;
    for (; call != NULL; call = call->next)
        if (call->connection == connection)
            soc_call_drop(&call->base);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        connection->control->connections = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    uv_close((uv_handle_t *)&connection->pipe, finish_close);
}

/* Closes the connection of a client that sends no more, once it has all answers. */
static void close_if_done(struct connection *connection)
{
    uv_stream_t *stream = (uv_stream_t *)&connection->pipe;
    if (connection->is_ended && connection->call_count == 0 &&
        uv_stream_get_write_queue_size(stream) == 0)
        close_connection(connection);
}

static void finish_write(uv_write_t *request, int status)
{
    struct connection *connection = request->data;
    free(request);
    if (status < 0 && status != UV_ECANCELED)
        close_connection(connection);
    else if (!connection->is_closing)
        close_if_done(connection);
}

static struct soc_watchdog *dog_of(const struct connection *connection)
{
    return soc_loop_watchdog(connection->control->options.loop);
}

static void write_bytes(struct connection *connection, struct soc_slice bytes)
{
    uv_stream_t *stream = (uv_stream_t *)&connection->pipe;
    assert(!connection->is_closing && bytes.length > 0);
    size_t done = 0;
    if (uv_stream_get_write_queue_size(stream) == 0) {
        uv_buf_t buf = uv_buf_init((char *)bytes.data, (unsigned)bytes.length);
        int rc = uv_try_write(stream, &buf, 1);
        if (rc < 0 && rc != UV_EAGAIN) {
            close_connection(connection);
            return;
        }
        done = rc < 0 ? 0 : (size_t)rc;
    }
    if (done == bytes.length)
        return;
    if (uv_stream_get_write_queue_size(stream) > UNREAD_BYTES_MAX) {
        close_connection(connection);
        return;
    }
    struct rest *rest = soc_alloc(sizeof(*rest) + bytes.length - done);
    memcpy(rest->data, bytes.data + done, bytes.length - done);
    rest->request.data = connection;
    uv_buf_t buf = uv_buf_init(rest->data, (unsigned)(bytes.length - done));
    if (uv_write(&rest->request, stream, &buf, 1, finish_write) < 0) {
        free(rest);
        close_connection(connection);
    }
}

static void unlink_call(struct soc_control *control, struct call *call)
{
    if (call->previous != NULL)
        call->previous->next = call->next;
    else
        control->calls = call->next;
    if (call->next != NULL)
        call->next->previous = call->previous;
}

static void free_call(struct soc_control *control, struct call *call)
{
    struct connection *connection = call->connection;
    unlink_call(control, call);
    soc_call_fini(&call->base);
    free(call);
    assert(connection->call_count > 0);
    connection->call_count--;
}

static struct call *new_call(struct connection *connection, struct soc_slice line)
{
    struct soc_control *control = connection->control;
    struct soc_slice id = soc_json_member(line, "id");
    bool is_plain = id.data != NULL && id.length <= CALL_ID_BYTES_MAX &&
                    (soc_json_kind(id) == SOC_JSON_NUMBER || soc_json_kind(id) == SOC_JSON_STRING);
    if (!is_plain)
        id = SOC_SLICE("null");
    struct call *call = soc_alloc_zero(sizeof(*call) + id.length);
    call->base.answer = control->answer;
    memcpy(call->id, id.data, id.length);
    call->id_length = id.length;
    call->connection = connection;
    call->next = control->calls;
    if (call->next != NULL)
        call->next->previous = call;
    control->calls = call;
    connection->call_count++;
    return call;
}

/* Processes the next `length` bytes as a line, which may be answered at once. */
static void take_line(struct connection *connection, size_t length)
{
    struct soc_slice line = soc_slice(connection->in.data + connection->taken, length);
    struct soc_json_fault fault = {0};
    char sentence[160];
    bool is_json = soc_json_check(line, &fault) == SOC_OK;
    bool is_object = is_json && soc_json_kind(line) == SOC_JSON_OBJECT;
    struct call *call = new_call(connection, is_object ? line : SOC_SLICE("{}"));
    if (is_object) {
        soc_operations_do(&connection->control->options.society, &call->base, line);
        return;
    }
    snprintf(sentence, sizeof(sentence), "%s at byte %zu of the line",
             fault.reason == NULL ? "expected an object" : fault.reason, fault.position + 1);
    soc_call_fail(&call->base, SOC_EJSON, sentence);
}

static void forget_taken(struct connection *connection)
{
    struct soc_buf *in = &connection->in;
    assert(connection->taken <= in->length);
    memmove(in->data, in->data + connection->taken, in->length - connection->taken);
    in->length -= connection->taken;
    connection->taken = 0;
    if (in->length == 0 && in->capacity > 4 * READ_BYTES)
        soc_buf_fini(in);
}

static void refuse_line(struct connection *connection)
{
    struct call *call = new_call(connection, SOC_SLICE("{}"));
    soc_call_fail(&call->base, SOC_ETOOLARGE, "the line exceeds the limit of 2 MB");
    close_connection(connection);
}

static bool may_take(const struct connection *connection)
{
    return !connection->is_closing && !connection->control->is_stopped &&
           connection->call_count < CALLS_MAX;
}

/* Processes the complete lines received. The first `scanned` bytes of `in` are known to
 * contain no line end. */
static void take_lines(struct connection *connection, size_t scanned)
{
    const char *end;
    if (connection->is_taking)
        return;
    connection->is_taking = true;
    while (may_take(connection) && scanned < connection->in.length &&
           (end = memchr(connection->in.data + scanned, '\n', connection->in.length - scanned)) !=
               NULL) {
        size_t at = (size_t)(end - connection->in.data);
        if (at > connection->taken)
            take_line(connection, at - connection->taken);
        connection->taken = at + 1;
        scanned = at + 1;
    }
    if (connection->taken > 0)
        forget_taken(connection);
    connection->is_taking = false;
    if (may_take(connection) && connection->in.length > LINE_BYTES_MAX)
        refuse_line(connection);
}

static void lend_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct connection *connection = handle->data;
    *buf = uv_buf_init(soc_buf_reserve(&connection->in, READ_BYTES), READ_BYTES);
}

static void take_count(struct connection *connection, ssize_t count)
{
    uv_stream_t *stream = (uv_stream_t *)&connection->pipe;
    if (count == 0)
        return;
    if (count == UV_EOF) {
        connection->is_ended = true;
        uv_read_stop(stream);
        soc_buf_put_byte(&connection->in, '\n'); /* the last line may lack a line end */
        take_lines(connection, 0);
        if (!connection->is_closing)
            close_if_done(connection);
        return;
    }
    if (count < 0) {
        close_connection(connection);
        return;
    }
    size_t before = connection->in.length;
    connection->in.length += (size_t)count;
    take_lines(connection, before);
    if (!connection->is_closing && connection->call_count >= CALLS_MAX)
        uv_read_stop(stream);
}

static void take_bytes(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    (void)buf;
    struct connection *connection = stream->data;
    struct soc_watchdog *dog = dog_of(connection);
    soc_watchdog_begin(dog, "control");
    take_count(connection, count);
    soc_watchdog_end(dog);
}

/* Resumes a client whose lines had to wait. */
static void resume(struct connection *connection)
{
    if (connection->is_taking || connection->call_count != CALLS_MAX / 2)
        return;
    take_lines(connection, 0);
    if (may_take(connection) && !connection->is_ended)
        uv_read_start((uv_stream_t *)&connection->pipe, lend_room, take_bytes);
}

/* Sends the contents of `out` and ends the call. */
static void end_call(struct soc_control *control, struct call *call)
{
    struct connection *connection = call->connection;
    soc_buf_put_text(&control->out, "}\n");
    if (!connection->is_closing)
        write_bytes(connection, soc_buf_slice(&control->out));
    if (control->out.capacity > 4 * READ_BYTES)
        soc_buf_fini(&control->out);
    free_call(control, call);
    if (connection->is_closing) {
        free_if_unused(connection);
        return;
    }
    resume(connection);
    if (!connection->is_closing)
        close_if_done(connection);
}

static void put_cursor(struct soc_buf *out, const char *name, uint64_t line)
{
    if (line == 0)
        return;
    soc_json_put_name(out, name);
    soc_json_put_integer(out, (int64_t)line);
}

static void answer_call(struct soc_call *base, bool is_error, struct soc_slice answer)
{
    struct call *call = (struct call *)base;
    struct soc_control *control = call->connection->control;
    control->out.length = 0;
    if (answer.data == NULL) { /* dropped: the client has gone */
        assert(call->connection->is_closing);
        end_call(control, call);
        return;
    }
    assert(answer.length >= 2 && answer.data[0] == (is_error ? '{' : '['));
    soc_buf_put_text(&control->out, "{\"id\":");
    soc_buf_put(&control->out, call->id, call->id_length);
    soc_buf_put_byte(&control->out, ',');
    if (is_error) {
        soc_buf_put(&control->out, answer.data + 1, answer.length - 2); /* its members */
    } else {
        soc_buf_put_text(&control->out, "\"ok\":");
        soc_buf_put_slice(&control->out, answer);
        put_cursor(&control->out, "next", base->next);
        put_cursor(&control->out, "previous", base->previous);
        put_cursor(&control->out, "as_of", base->as_of);
    }
    end_call(control, call);
}

/* The mode of the socket lets nobody else in; this holds also where a mode is ignored. */
static bool is_trusted(uv_stream_t *stream)
{
    uv_os_fd_t number;
    uid_t user;
    return uv_fileno((const uv_handle_t *)stream, &number) == 0 &&
           soc_address_peer(number, &user) && (user == geteuid() || user == 0);
}

static void accept_client(uv_stream_t *listener, int status)
{
    struct soc_control *control = listener->data;
    if (status < 0 || control->is_stopped)
        return;
    struct connection *connection = soc_alloc_zero(sizeof(*connection));
    connection->control = control;
    uv_pipe_init(listener->loop, &connection->pipe, 0);
    connection->pipe.data = connection;
    connection->next = control->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    control->connections = connection;
    uv_stream_t *stream = (uv_stream_t *)&connection->pipe;
    if (uv_accept(listener, stream) < 0 || !is_trusted(stream) ||
        uv_read_start(stream, lend_room, take_bytes) < 0)
        close_connection(connection);
}

/* File name of a socket that does not listen yet. */
#define UNREADY_NAME "socket.new"

/* Returns the bound socket, or -1 with errno. The directory is locked, so a socket that
 * exists there is a leftover. */
static int bind_socket(const char *directory, const char *path)
{
    struct soc_address address;
    if (!soc_address_init(&address, directory, UNREADY_NAME))
        return -1;
    int number = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    unlink(path);
    /* The file gets the mode of the socket, so others can at no time open it. */
    if (number >= 0 &&
        (fchmod(number, 0600) < 0 ||
         bind(number, (const struct sockaddr *)&address.socket, sizeof(address.socket)) < 0)) {
        int error = errno;
        close(number);
        errno = error;
        number = -1;
    }
    soc_address_fini(&address);
    return number;
}

/* Listens, then gives the socket its final name: a client that finds it can connect. */
static int publish(struct soc_control *control, int number, const char *unready)
{
    int rc = uv_pipe_open(&control->listener, number);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&control->listener, BACKLOG, accept_client);
    if (rc == 0 && (lstat(unready, &control->file) < 0 || rename(unready, control->path) < 0))
        rc = uv_translate_sys_error(errno);
    return rc;
}

static void free_control(uv_handle_t *listener)
{
    struct soc_control *control = listener->data;
    soc_buf_fini(&control->out);
    free(control->path);
    free(control);
}

int soc_control_open(struct soc_control **out, const struct soc_control_options *options,
                     struct soc_detail *detail)
{
    assert(options->society.host != NULL && options->loop != NULL && options->directory != NULL);
    struct soc_buf unready = {0};
    soc_address_path(&unready, options->directory, UNREADY_NAME);
    int number = bind_socket(options->directory, unready.data);
    if (number < 0) {
        int code = errno == EACCES || errno == EPERM || errno == EROFS ? SOC_EACCESS : SOC_EIO;
        soc_fail(detail, code, "%s: %s", unready.data, strerror(errno));
        soc_buf_fini(&unready);
        return code;
    }
    struct soc_control *control = soc_alloc_zero(sizeof(*control));
    struct soc_buf path = {0};
    soc_address_path(&path, options->directory, SOC_SOCKET_NAME);
    control->options = *options;
    control->options.directory = NULL;
    control->answer = answer_call;
    control->path = path.data;
    uv_pipe_init(soc_loop_uv(options->loop), &control->listener, 0);
    control->listener.data = control;
    int rc = publish(control, number, unready.data);
    if (rc < 0) {
        soc_fail(detail, SOC_EIO, "%s: %s", unready.data, uv_strerror(rc));
        unlink(unready.data);
        uv_close((uv_handle_t *)&control->listener, free_control);
    }
    soc_buf_fini(&unready);
    if (rc < 0)
        return SOC_EIO;
    *out = control;
    return SOC_OK;
}

/* Removes the socket, unless its name belongs to another one by now: the state directory
 * may have been replaced. */
static void remove_socket(const struct soc_control *control)
{
    struct stat found;
    if (lstat(control->path, &found) == 0 && found.st_dev == control->file.st_dev &&
        found.st_ino == control->file.st_ino)
        unlink(control->path);
}

void soc_control_stop(struct soc_control *control)
{
    if (control == NULL || control->is_stopped)
        return;
    control->is_stopped = true;
    remove_socket(control);
    for (struct connection *each = control->connections; each != NULL; each = each->next)
        uv_read_stop((uv_stream_t *)&each->pipe);
}

void soc_control_close(struct soc_control *control)
{
    if (control == NULL)
        return;
    soc_control_stop(control);
    while (control->calls != NULL) {
        struct connection *connection = control->calls->connection;
        free_call(control, control->calls);
        if (connection->is_closing)
            free_if_unused(connection);
    }
    while (control->connections != NULL)
        close_connection(control->connections);
    uv_close((uv_handle_t *)&control->listener, free_control);
}

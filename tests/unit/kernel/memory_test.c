/* What is over takes no memory: bytes of the heap, compared with messages that leave nothing
 * behind. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_parts.h"
#include "host_world.h"

#define MESSAGES   20000
#define IN_A_BATCH 100

/* What the messages leave behind. */
enum kind { NOTHING, LETTERS, KEYS };

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static enum soc_turn_end idle(struct world *world, struct soc_activation *activation,
                              struct soc_buf *error)
{
    (void)world;
    (void)activation;
    (void)error;
    return SOC_TURN_DONE;
}

static void send(struct world *world, enum kind kind, int number)
{
    char key[32];
    struct soc_buf answer = {0};
    struct soc_send send = {.to = SOC_SLICE("root"), .payload = SOC_SLICE("{\"text\":\"hello\"}")};
    snprintf(key, sizeof(key), "order-48151623-%08d", number);
    if (kind == LETTERS) { /* it expires on its way */
        send.deliver_at_ms = soc_clock_now(soc_host_clock(world->host)) + 2;
        send.ttl_ms = 1;
    }
    if (kind == KEYS)
        send.texts[SOC_TEXT_DEDUPE_KEY] = soc_slice_text(key);
    CHECK_INT(soc_gate_send_as(world->host, soc_registry_user(world->host), &send, &answer),
              SOC_OK);
    soc_buf_fini(&answer);
}

/* Bytes of the heap that so many messages have cost. A store on disk: what it caches is
 * alike for all of them. */
static double cost(enum kind kind)
{
    struct world world = {.main = idle, .worker = idle};
    char directory[] = "/tmp/soc_memory_XXXXXX";
    char command[64];
    CHECK(mkdtemp(directory) != NULL);
    world_open(&world, directory);
    world_finish(&world);
    size_t before = heap_bytes();
    for (int i = 0; i < MESSAGES; i++) {
        send(&world, kind, i);
        if (i % IN_A_BATCH == IN_A_BATCH - 1) {
            world_finish(&world);
            soc_batch_seal(world.host);
        }
    }
    double bytes = (double)heap_bytes() - (double)before;
    world_close(&world);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    CHECK_INT(system(command), 0);
    return bytes;
}

static void a_dead_letter_takes_no_memory(void)
{
    double each = (cost(LETTERS) - cost(NOTHING)) / MESSAGES;
    if (!CHECK(each < 16))
        printf("# %.1f bytes each\n", each);
}

static void a_dedupe_key_takes_little_memory(void)
{
    double each = (cost(KEYS) - cost(NOTHING)) / MESSAGES;
    if (!CHECK(each < 150)) /* what the store caches of it is some of that */
        printf("# %.1f bytes each\n", each);
}

int main(void)
{
    RUN(a_dedupe_key_takes_little_memory);
    RUN(a_dead_letter_takes_no_memory);
    return check_done();
}

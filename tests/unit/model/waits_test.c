/* Cycles of waiting agents, compared with an exhaustive search. */
#include "base/buf.h"
#include "check.h"
#include "model/agent.h"
#include "model/waits.h"

#define AGENTS_MAX 9
#define GRAPHS     10000

/* Who waits for whom: up to AGENTS_MAX agents, each with a list of targets. */
struct graph {
    struct soc_agent *agents[AGENTS_MAX];
    int count;
    int targets[AGENTS_MAX][AGENTS_MAX];
    int target_count[AGENTS_MAX];
};

static int number_of(const struct soc_agent *agent)
{
    return agent->id[0] - 'a';
}

static struct soc_agent *target_of(void *user, const struct soc_agent *agent, size_t index)
{
    const struct graph *graph = user;
    int number = number_of(agent);
    if (index >= (size_t)graph->target_count[number])
        return NULL;
    return graph->agents[graph->targets[number][index]];
}

static void open_graph(struct graph *graph, struct soc_role *role)
{
    for (int i = 0; i < AGENTS_MAX; i++) {
        char id = (char)('a' + i);
        graph->agents[i] = soc_agent_new(soc_slice(&id, 1), role, NULL, 0);
    }
}

static void close_graph(struct graph *graph)
{
    for (int i = 0; i < AGENTS_MAX; i++)
        soc_agent_free(graph->agents[i]);
}

/* Sets the edges from a text like "ab bc ca". */
static void draw(struct graph *graph, const char *edges)
{
    graph->count = AGENTS_MAX;
    memset(graph->target_count, 0, sizeof(graph->target_count));
    for (; *edges != '\0'; edges += edges[2] == ' ' ? 3 : 2) {
        int from = edges[0] - 'a';
        graph->targets[from][graph->target_count[from]++] = edges[1] - 'a';
    }
}

/* The cycle through agent number `start` as letters, "" if there is none. */
static const char *ring_of(struct graph *graph, int start)
{
    static char text[AGENTS_MAX + 1];
    struct soc_agent **ring = NULL;
    size_t count = soc_waits_find_cycle(graph->agents[start], &ring, target_of, graph);
    for (size_t i = 0; i < count && i < AGENTS_MAX; i++)
        text[i] = ring[i]->id[0];
    text[count < AGENTS_MAX ? count : AGENTS_MAX] = '\0';
    free(ring);
    return text;
}

static void check_ring(const char *edges, const char *expected)
{
    struct graph graph;
    struct soc_role *role = soc_role_new(SOC_SLICE("r"), SOC_SLICE("r"));
    open_graph(&graph, role);
    draw(&graph, edges);
    CHECK_TEXT(ring_of(&graph, 0), expected);
    close_graph(&graph);
    soc_role_free(role);
}

static void a_cycle_is_reported_in_order_from_where_it_closed(void)
{
    check_ring("ab bc ca", "abc");
    check_ring("ab ba", "ab");
    check_ring("aa", "a");
}

static void a_diamond_is_not_a_cycle(void)
{
    check_ring("ab ac bd cd", "");
    check_ring("ab ac bd cd de", "");
}

static void a_chain_to_a_busy_agent_is_not_a_cycle(void)
{
    check_ring("ab bc cd", "");
    check_ring("", "");
}

static void a_cycle_of_others_does_not_include_the_asker(void)
{
    check_ring("ab bc cb", "");
    check_ring("ab bb", "");
}

static void of_several_cycles_a_shortest_is_found(void)
{
    check_ring("ab bc cd da ae ea", "ae");
    check_ring("ab ac bd cd da", "abd");
}

/* Tells whether `to` can be reached from `from` in at most `steps` steps, by trying
 * every way. */
static bool can_reach(const struct graph *graph, int from, int to, int steps)
{
    for (int i = 0; i < graph->target_count[from]; i++) {
        int next = graph->targets[from][i];
        if (next == to || (steps > 1 && can_reach(graph, next, to, steps - 1)))
            return true;
    }
    return false;
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static void draw_randomly(struct graph *graph, unsigned *seed, int targets_max)
{
    graph->count = 1 + (int)(next_random(seed) % (targets_max == 1 ? AGENTS_MAX : 6));
    for (int i = 0; i < graph->count; i++) {
        graph->target_count[i] = (int)(next_random(seed) % (unsigned)(targets_max + 1));
        for (int t = 0; t < graph->target_count[i]; t++)
            graph->targets[i][t] = (int)(next_random(seed) % (unsigned)graph->count);
    }
}

/* The cycle must be valid: each waits for the next, and nobody is in it twice. */
static bool is_ring(const struct graph *graph, const char *ring, int start)
{
    size_t length = strlen(ring);
    if (ring[0] != 'a' + start)
        return false;
    for (size_t i = 0; i < length; i++) {
        int from = ring[i] - 'a';
        int to = ring[(i + 1) % length] - 'a';
        bool waits = false;
        for (int t = 0; t < graph->target_count[from]; t++)
            waits = waits || graph->targets[from][t] == to;
        if (!waits || strchr(ring + i + 1, ring[i]) != NULL)
            return false;
    }
    return true;
}

static int shortest(const struct graph *graph, int start)
{
    for (int steps = 1; steps <= graph->count; steps++)
        if (can_reach(graph, start, start, steps))
            return steps;
    return 0;
}

/* Compares every agent of every graph; counts cycles, so that the test proves something. */
static void try_graphs(int targets_max, unsigned seed)
{
    struct graph graph;
    int rings = 0, missed = 0, false_alarms = 0, wrong = 0;
    struct soc_role *role = soc_role_new(SOC_SLICE("r"), SOC_SLICE("r"));
    open_graph(&graph, role);
    for (int g = 0; g < GRAPHS; g++) {
        draw_randomly(&graph, &seed, targets_max);
        for (int start = 0; start < graph.count; start++) {
            int expected = shortest(&graph, start);
            const char *ring = ring_of(&graph, start);
            rings += expected > 0;
            missed += expected > 0 && ring[0] == '\0';
            false_alarms += expected == 0 && ring[0] != '\0';
            wrong += expected > 0 && ring[0] != '\0' &&
                     (!is_ring(&graph, ring, start) || strlen(ring) != (size_t)expected);
        }
    }
    CHECK_INT(missed, 0);
    CHECK_INT(false_alarms, 0);
    CHECK_INT(wrong, 0);
    CHECK(rings > GRAPHS / 4);
    close_graph(&graph);
    soc_role_free(role);
}

static void ten_thousand_graphs_with_one_target_agree_with_an_exhaustive_search(void)
{
    try_graphs(1, 1);
}

static void ten_thousand_graphs_with_several_targets_agree_with_an_exhaustive_search(void)
{
    try_graphs(3, 2);
}

static struct soc_agent *next_of_many(void *user, const struct soc_agent *agent, size_t index)
{
    struct soc_agent **agents = user;
    size_t number = strtoul(agent->id, NULL, 10);
    return index == 0 ? agents[number + 1] : NULL;
}

/* A hundred thousand in a row: no stack may be needed. */
static void a_long_cycle_is_found(void)
{
    enum { COUNT = 100000 };
    static struct soc_agent *agents[COUNT + 1];
    struct soc_role *role = soc_role_new(SOC_SLICE("r"), SOC_SLICE("r"));
    for (int i = 0; i < COUNT; i++) {
        char id[16];
        int length = snprintf(id, sizeof(id), "%d", i);
        agents[i] = soc_agent_new(soc_slice(id, (size_t)length), role, NULL, 0);
    }
    struct soc_agent **ring = NULL;
    CHECK_INT(soc_waits_find_cycle(agents[0], &ring, next_of_many, agents), 0);
    agents[COUNT] = agents[0];
    CHECK_INT(soc_waits_find_cycle(agents[0], &ring, next_of_many, agents), COUNT);
    CHECK(ring != NULL && ring[COUNT - 1] == agents[COUNT - 1]);
    free(ring);
    for (int i = 0; i < COUNT; i++)
        soc_agent_free(agents[i]);
    soc_role_free(role);
}

int main(void)
{
    RUN(a_cycle_is_reported_in_order_from_where_it_closed);
    RUN(a_diamond_is_not_a_cycle);
    RUN(a_chain_to_a_busy_agent_is_not_a_cycle);
    RUN(a_cycle_of_others_does_not_include_the_asker);
    RUN(of_several_cycles_a_shortest_is_found);
    RUN(ten_thousand_graphs_with_one_target_agree_with_an_exhaustive_search);
    RUN(ten_thousand_graphs_with_several_targets_agree_with_an_exhaustive_search);
    RUN(a_long_cycle_is_found);
    return check_done();
}

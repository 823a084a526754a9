/* Barriers: who has a seat, what fills it, and when the barrier is over. */
#include "check.h"
#include "model/agent.h"
#include "model/group/barrier.h"

struct world {
    struct soc_role *role;
    struct soc_agent *people[3];
};

static void open_world(struct world *w)
{
    static const char *const ids[] = {"ann", "bob", "cid"};
    w->role = soc_role_new(SOC_SLICE("r"), SOC_SLICE("r"));
    for (int i = 0; i < 3; i++)
        w->people[i] = soc_agent_new(soc_slice_text(ids[i]), w->role, NULL, 0);
}

static void close_world(struct world *w)
{
    for (int i = 0; i < 3; i++)
        soc_agent_free(w->people[i]);
    soc_role_free(w->role);
}

/* Ann asks bob and cid at 1000 until 2000. */
static struct soc_barrier *barrier_of_two(const struct world *w)
{
    struct soc_barrier *barrier = soc_barrier_new(7, 1000, 2000, w->people[0]);
    soc_barrier_add(barrier, w->people[1])->question = 8;
    soc_barrier_add(barrier, w->people[2])->question = 9;
    return barrier;
}

static void one_answer_of_each_agent_counts(void)
{
    struct world w;
    open_world(&w);
    struct soc_barrier *barrier = barrier_of_two(&w);
    struct soc_seat *bob = soc_barrier_find(barrier, w.people[1]);
    CHECK(barrier->open == 2 && bob->question == 8);
    CHECK(soc_barrier_answer(barrier, bob, SOC_SLICE("1")));
    CHECK(!soc_barrier_answer(barrier, bob, SOC_SLICE("2")));
    CHECK(!soc_barrier_miss(barrier, bob));
    CHECK_TEXT(bob->payload, "1");
    CHECK(barrier->open == 1);
    CHECK(soc_barrier_find(barrier, w.people[0]) == NULL);
    soc_barrier_free(barrier);
    close_world(&w);
}

static void it_is_over_when_no_seat_is_open_or_it_times_out(void)
{
    struct world w;
    open_world(&w);
    struct soc_barrier *barrier = barrier_of_two(&w);
    CHECK(!soc_barrier_is_over(barrier, 1999));
    CHECK(soc_barrier_is_over(barrier, 2000));
    CHECK(soc_barrier_answer(barrier, soc_barrier_find(barrier, w.people[1]), SOC_SLICE("1")));
    CHECK(!soc_barrier_is_over(barrier, 1000));
    CHECK(soc_barrier_miss(barrier, soc_barrier_find(barrier, w.people[2])));
    CHECK(soc_barrier_is_over(barrier, 1000));
    soc_barrier_free(barrier);
    close_world(&w);
}

static void an_agent_asked_twice_has_one_seat(void)
{
    struct world w;
    open_world(&w);
    struct soc_barrier *barrier = barrier_of_two(&w);
    CHECK(soc_barrier_add(barrier, w.people[1])->question == 8);
    CHECK(barrier->count == 2 && barrier->open == 2);
    soc_barrier_free(barrier);
    close_world(&w);
}

static void open_seats_are_those_without_an_answer(void)
{
    struct world w;
    open_world(&w);
    struct soc_barrier *barrier = barrier_of_two(&w);
    CHECK(soc_barrier_open_seat(barrier, 0)->agent == w.people[1]);
    CHECK(soc_barrier_open_seat(barrier, 1)->agent == w.people[2]);
    CHECK(soc_barrier_open_seat(barrier, 2) == NULL);
    soc_barrier_miss(barrier, soc_barrier_find(barrier, w.people[1]));
    CHECK(soc_barrier_open_seat(barrier, 0)->agent == w.people[2]);
    CHECK(soc_barrier_open_seat(barrier, 1) == NULL);
    soc_barrier_free(barrier);
    close_world(&w);
}

static void the_result_lists_answers_and_missing_agents(void)
{
    struct world w;
    open_world(&w);
    struct soc_buf out = {0};
    struct soc_barrier *barrier = barrier_of_two(&w);
    soc_barrier_put_json(&out, barrier, SOC_SLICE("chk"));
    CHECK_TEXT(soc_buf_text(&out),
               "{\"checkpoint_id\":\"chk\",\"missing\":[\"bob\",\"cid\"],\"responses\":{}}");
    out.length = 0;
    soc_barrier_answer(barrier, soc_barrier_find(barrier, w.people[2]), SOC_SLICE("{\"a\":1}"));
    soc_barrier_put_json(&out, barrier, SOC_SLICE("chk"));
    CHECK_TEXT(soc_buf_text(&out), "{\"checkpoint_id\":\"chk\",\"missing\":[\"bob\"],"
                                   "\"responses\":{\"cid\":{\"a\":1}}}");
    soc_buf_fini(&out);
    soc_barrier_free(barrier);
    close_world(&w);
}

int main(void)
{
    RUN(one_answer_of_each_agent_counts);
    RUN(it_is_over_when_no_seat_is_open_or_it_times_out);
    RUN(an_agent_asked_twice_has_one_seat);
    RUN(open_seats_are_those_without_an_answer);
    RUN(the_result_lists_answers_and_missing_agents);
    return check_done();
}
